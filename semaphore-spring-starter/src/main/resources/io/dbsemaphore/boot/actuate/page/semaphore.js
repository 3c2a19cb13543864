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
    this.headline = new Headline("Waiting now", "Longest wait", "Full for", "Oldest holder", "Granted per minute");
    this.pause = h("button", {type: "button", onclick: () => this.pauseOrResume()});
    this.actions = h("div", {class: "actions", hidden: true},
      h("button", {type: "button", onclick: () => this.ask(askForCapacity)}, "Change capacity"), this.pause);
    this.hint = h("p", {class: "hint"}, missingButtons());
    this.hint.hidden = this.hint.textContent === "";
    this.holders = new Holders(this);
    this.waiting = new Waiting();
    this.chart = new Chart(() => this.reload());
    this.timeline = new Timeline(() => this.redraw());
    this.past = new Refreshed(period => Promise.all([
      get("/history", {name, period}), get("/requests", {name, period, limit: REQUESTS})]));
    this.history = new History();
    this.element = h("div", {},
      h("h1", {}, h("bdi", {}, name)),
      h("div", {class: "head"}, this.bar, this.words, this.state),
      this.headline.element, this.actions, this.chart.element,
      this.holders.element, this.waiting.element, this.timeline.element, this.history.element, this.hint);
  }

  async load() {
    const [data, past] = await Promise.all([
      get("", {name: this.name, ...this.holders.query()}), this.past.get(this.chart.period.value)]);
    return {...data, past, now: Date.parse(data.asOf)};
  }

  show({semaphore: status, holders, waiting, callers = [], shares = [], capacityHistory: changes, reclaims, past: [history, requests], now}) {
    const semaphore = judged({...status, waitingSince: waiting[0]?.since,
      heldSince: this.holders.isFirst() ? holders[0]?.acquiredAt : undefined,
      pausedCapacity: changes.find(({from, to}) => to === 0 && from > 0)?.from}, now);
    this.semaphore = semaphore;
    setPermitBar(this.bar, semaphore);
    setText(this.words, heldInWords(semaphore));
    setState(this.state, semaphore);
    this.showHeadline(semaphore, history, now);
    this.actions.hidden = !may.setCapacity;
    setText(this.pause, semaphore.capacity === 0 ? "Resume" : "Pause");
    const events = eventsOf(changes, reclaims);
    this.holders.show(holders, semaphore, now);
    this.waiting.show(waiting, callers, shares, semaphore.capacity === 0 ? 0 : history.granted, now);
    this.timeline.show(requests, `in the last ${PERIODS[this.chart.period.value]}`,
      this.chart.show(history, semaphore, events));
    this.history.show(events, now);
    this.confirmation?.say();
  }

  showHeadline({waiting, waits, kind, capacity, available, heldSince}, {from, fullSince, granted}, now) {
    const full = capacity > 0 && available === 0 && fullSince !== undefined;
    this.headline.show(
      {number: numbers.format(waiting), kind: waiting > 0 ? "waiting" : undefined},
      {number: waits === undefined ? undefined : duration(waits), kind: waits === undefined ? undefined : kind},
      {number: full ? duration(now - Date.parse(fullSince)) : undefined, remark: full && fullSince === from ? "or longer" : "",
        kind: full && waiting > 0 ? "waiting" : undefined},
      {number: heldSince === undefined ? undefined : duration(now - Date.parse(heldSince))},
      {number: numbers.format(granted), remark: granted >= MOST ? "or more" : ""});
  }

  ask(dialog, ...more) {
    this.confirmation = dialog(() => this.semaphore, ...more, message => {
      say(message);
      this.past.forget();
      this.reload();
    }).open();
    return this.confirmation;
  }

  pauseOrResume() {
    if (this.semaphore.capacity > 0) {
      this.ask(askToPause);
    } else {
      this.ask(askToResume, this.semaphore.pausedCapacity ?? 1);
    }
  }
}

/** How many waiting callers are listed. */
const SHOWN = 50;

/** From how many grants per minute a wait is estimated. */
const ENOUGH = 3;

/** Who waits for permits, and who is next. */
class Waiting {

  constructor() {
    this.none = h("p", {class: "empty"});
    this.table = new Table("Waiting", ["Instance", "Callers", "First waits for"]);
    this.callers = new Table("Callers in their order", ["Turn", "Instance", "Waits for", "Permits", "Head start", "Share", "Expected wait"]);
    this.shares = new Table("Shares", ["Share", "Permits", "Waiting", "Weight"]);
    this.rest = h("p", {class: "rest"});
    this.element = h("section", {"aria-labelledby": "waiting-title"},
      h("h2", {id: "waiting-title"}, "Who waits"), this.none, this.table.element, this.callers.element, this.rest, this.shares.element);
  }

  show(waiting, callers, shares, grantedPerMinute, now) {
    this.shares.show(shares.slice(0, SHOWN), ({share}) => share,
      () => [h("bdi", {class: "strong"}), h("span"), h("span"), h("span")],
      ([name, permits, callersOf, weight], {share, held, waiting: waits, isLowerBound, tenantWeight, weight: ofKey}) => {
        setText(name, share);
        setText(permits, numbers.format(held));
        setText(callersOf, `${isLowerBound ? "at least " : ""}${numbers.format(waits)}`);
        setText(weight, share.includes("/") ? `${numbers.format(ofKey)}, tenant ${numbers.format(tenantWeight)}` : numbers.format(tenantWeight));
      });
    this.callers.show(callers.slice(0, SHOWN), ({ahead}) => String(ahead),
      () => [h("span", {class: "number"}), h("bdi"), h("time"), h("span"), h("span"), h("bdi"), h("span")],
      ([place, instance, since, permits, headStart, share, expected], caller) => {
        setText(place, `${caller.isLowerBound ? "at least " : ""}${numbers.format(caller.ahead + 1)}`);
        setText(instance, caller.name);
        setAge(since, caller.since, now);
        setText(permits, (caller.exclusive ? "all" : numbers.format(caller.permits)) + (caller.several ? ", and others" : ""));
        setText(headStart, caller.headStart === undefined ? "" : duration(caller.headStart));
        setText(share, caller.share ?? "");
        setText(expected, grantedPerMinute < ENOUGH || grantedPerMinute >= MOST ? "" : `about ${duration((caller.ahead + 1) / grantedPerMinute * 60_000)}`);
      });
    const known = Math.min(callers.length, SHOWN);
    const all = waiting.reduce((sum, each) => sum + each.callers, 0);
    setText(this.rest, all > known && known > 0 ? `and ${count(all - known, "caller", "callers")} more` : "");
    setText(this.none, waiting.length === 0 ? "Nobody." : "");
    this.table.show(waiting, ({id}) => id, () => [h("bdi", {class: "strong"}), h("span"), h("time")],
      ([instance, callers, since], waiter) => {
        setText(instance, waiter.name);
        setText(callers, count(waiter.callers, "caller", "callers"));
        setAge(since, waiter.since, now);
      });
  }
}
