// One semaphore, and what can be done to it.

class SemaphoreView {

  /** The dialog that was opened last. */
  confirmation = null;

  constructor(page, name) {
    this.name = name;
    this.title = name;
    this.redraw = page.redraw;
    this.reload = page.update;
    this.bar = permitBar();
    this.words = h("span", {class: "held-words"});
    this.state = h("span", {class: "state"});
    this.pause = h("button", {type: "button", onclick: () => this.pauseOrResume()});
    this.actions = h("div", {class: "actions", hidden: true},
      h("button", {type: "button", onclick: () => this.ask(askForCapacity)}, "Change capacity"), this.pause);
    this.hint = h("p", {class: "hint"}, missingButtons());
    this.hint.hidden = this.hint.textContent === "";
    this.holders = new Holders(this);
    this.waiting = new Waiting();
    this.timeline = new Timeline(this);
    this.history = new History();
    this.element = h("div", {},
      h("h1", {}, h("bdi", {}, name)),
      h("div", {class: "head"}, this.bar, this.words, this.state),
      this.actions,
      this.holders.element, this.waiting.element, this.timeline.element, this.history.element, this.hint);
  }

  async load() {
    const [data, requests] = await Promise.all([
      get("", {name: this.name, ...this.holders.query()}), this.timeline.load(this.name)]);
    return {...data, requests, now: Date.parse(data.asOf)};
  }

  show({semaphore, holders, waiting, capacityHistory, reclaims, requests, now}) {
    this.semaphore = semaphore;
    this.changes = capacityHistory;
    setPermitBar(this.bar, semaphore);
    setText(this.words, heldInWords(semaphore));
    setState(this.state, semaphore);
    this.actions.hidden = !may.setCapacity;
    setText(this.pause, semaphore.capacity === 0 ? "Resume" : "Pause");
    this.holders.show(holders, semaphore, now);
    this.waiting.show(waiting, now);
    this.timeline.show(requests, semaphore, capacityHistory, reclaims);
    this.history.show(capacityHistory, reclaims, now);
    this.confirmation?.say();
  }

  ask(dialog, ...more) {
    this.confirmation = dialog(() => this.semaphore, ...more, message => {
      say(message);
      this.timeline.readAt = -Infinity;
      this.reload();
    }).open();
    return this.confirmation;
  }

  pauseOrResume() {
    if (this.semaphore.capacity > 0) {
      this.ask(askToPause);
    } else {
      this.ask(askToResume, this.changes.find(({from, to}) => to === 0 && from > 0)?.from ?? 1);
    }
  }
}

/** Who waits for permits. */
class Waiting {

  constructor() {
    this.none = h("p", {class: "empty"});
    this.table = new Table("Waiting", ["Instance", "Callers", "Waits for"]);
    this.element = h("section", {"aria-labelledby": "waiting-title"},
      h("h2", {id: "waiting-title"}, "Who waits"), this.none, this.table.element);
  }

  show(waiting, now) {
    setText(this.none, waiting.length === 0 ? "Nobody." : "");
    this.table.show(waiting, ({id}) => id, () => [h("bdi", {class: "strong"}), h("span"), h("time")],
      ([instance, callers, since], waiter) => {
        setText(instance, waiter.name);
        setText(callers, numbers.format(waiter.callers));
        setAge(since, waiter.since, now);
      });
  }
}
