// What an operator can do, each with a reason and a confirmation that says what will happen.

function capacityInWords({name, capacity, held}, next) {
  if (next === capacity) {
    return capacity === 0 ? "It stays paused. Nothing will change." : "This is the capacity now. Nothing will change.";
  }
  if (capacity === 0) {
    return `Permits of ${name} are granted again, at most ${numbers.format(next)} at once, on all instances, from now on. ${stays(held)}`;
  }
  if (next === 0) {
    return `No instance will get a permit of ${name} until it is resumed. ${stays(held)}`;
  }
  if (next < held) {
    return `${count(held, "permit is", "permits are")} held, more than the new capacity. None is taken away: new permits are granted again once fewer than ${numbers.format(next)} are held.`;
  }
  return `At most ${count(next, "permit", "permits")} of ${name} can be held at once instead of ${numbers.format(capacity)}, on all instances, from now on. ${stays(held)}`;
}

function stays(held) {
  return held === 0 ? "" : `${count(held, "permit that is held stays", "permits that are held stay")} held.`;
}

/** Asks for a reason, says what will happen, and does it. */
class Confirmation {

  constructor({title, button, fields, consequence, run, done, closed, danger}) {
    this.run = run;
    this.done = done;
    this.consequence = consequence;
    this.fields = fields ?? [];
    this.said = h("p", {class: "consequence", id: "consequence", role: "status"});
    this.failure = h("p", {class: "failure", role: "alert"});
    this.reason = h("input", {id: "reason", required: true, maxlength: 1000, autocomplete: "off"});
    this.confirm = h("button", {type: "submit", class: danger ? "danger" : "primary"}, button);
    this.dialog = h("dialog", {"aria-labelledby": "dialog-title", "aria-describedby": "consequence",
        onclose: () => {
          this.dialog.remove();
          closed?.();
        }},
      h("form", {method: "dialog", onsubmit: event => this.submit(event), oninput: () => this.say()},
        h("h2", {id: "dialog-title"}, title),
        ...this.fields,
        this.said,
        h("label", {for: "reason"}, "Reason, for the history"), this.reason,
        this.failure,
        h("div", {class: "buttons"},
          h("button", {type: "button", onclick: () => this.dialog.close()}, "Cancel"), this.confirm)));
  }

  open() {
    this.say();
    document.body.append(this.dialog);
    this.dialog.showModal();
    this.dialog.querySelector("input").select();
    return this;
  }

  /** Says what will happen, also when something has changed meanwhile. */
  say() {
    setText(this.said, this.consequence());
  }

  async submit(event) {
    event.preventDefault();
    if (this.reason.value.trim() === "") {
      this.failed("Give a reason: it is kept in the history.");
      return;
    }
    this.confirm.disabled = true;
    try {
      const message = await this.run(this.reason.value.trim());
      this.dialog.close();
      this.done(message);
    } catch (failure) {
      this.failed(failure.message);
    } finally {
      this.confirm.disabled = false;
    }
  }

  failed(message) {
    setText(this.failure, message);
  }
}

/** Changes the capacity to one that the operator enters. The semaphore is what the page shows at the time. */
function askForCapacity(semaphore, done) {
  const {name, capacity} = semaphore();
  return askFor(semaphore, {title: `Change the capacity of ${name}`, button: "Change capacity",
    label: "New capacity", proposed: capacity}, done);
}

function askFor(semaphore, {title, button, label, proposed}, done) {
  const input = h("input", {id: "capacity", type: "number", min: 0, max: 2147483647, step: 1, required: true,
    value: proposed});
  const entered = () => input.value === "" ? NaN : Number(input.value);
  return new Confirmation({
    title,
    button,
    fields: [h("label", {for: "capacity"}, label), input],
    consequence: () => Number.isInteger(entered()) && entered() >= 0
      ? capacityInWords(semaphore(), entered())
      : "Enter a whole number. 0 pauses the semaphore.",
    run: async reason => changed(await setCapacity(semaphore().name, entered(), reason)),
    done
  });
}

function askToPause(semaphore, done) {
  const {name} = semaphore();
  return new Confirmation({
    title: `Pause ${name}`,
    button: "Pause",
    danger: true,
    consequence: () => capacityInWords(semaphore(), 0),
    run: async reason => changed(await setCapacity(name, 0, reason)),
    done
  });
}

/** Proposes the capacity that it had before the pause. */
function askToResume(semaphore, capacityBefore, done) {
  return askFor(semaphore, {title: `Resume ${semaphore().name}`, button: "Resume", label: "Capacity", proposed: capacityBefore}, done);
}

function changed({name, capacity}) {
  return capacity === 0 ? `${name} is paused.` : `The capacity of ${name} is ${numbers.format(capacity)} now.`;
}

/** Says which of the holders it is: several may have the same owner. */
function askForRelease(semaphore, holder, now, closed, done) {
  const {name} = semaphore();
  return new Confirmation({
    title: "Release by force",
    button: "Release by force",
    danger: true,
    fields: [h("dl", {class: "facts"}, ...[
      ...(holder.label === undefined ? [] : [["What", h("bdi", {}, holder.label)]]),
      ["Owner", h("bdi", {}, holder.owner)],
      ["External id", h("bdi", {class: "code"}, holder.externalId)],
      ["Fencing token", h("span", {class: "code"}, String(holder.fencingToken))],
      ["Held for", `${duration(now - Date.parse(holder.acquiredAt))}, since ${time(Date.parse(holder.acquiredAt), now)}`]
    ].flatMap(([term, fact]) => [h("dt", {}, term), h("dd", {}, fact)]))],
    consequence: () => `${titleOf(holder)} loses ${count(holder.count, "permit", "permits")} of ${name}, and whatever else this request holds; others can get them at once. Its work is not stopped: two may then be at it. Make sure that it has ended, or does no harm.`,
    run: async reason => {
      const {outcome} = await forceRelease(name, holder.externalId, reason);
      return outcome === "RELEASED"
        ? `The permits of ${titleOf(holder)} were released by force.`
        : `${titleOf(holder)} had released its permits already.`;
    },
    done,
    closed
  });
}
