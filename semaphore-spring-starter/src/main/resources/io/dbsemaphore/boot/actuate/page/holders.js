// Who holds permits of a semaphore, by page; and what happened to its capacity.

class Holders {

  /** The fencing token before each page. */
  before = [0];
  timer = 0;

  constructor(view) {
    this.view = view;
    this.search = h("input", {type: "search", id: "holder-search", autocomplete: "off", oninput: () => this.narrow()});
    this.none = h("p", {class: "empty"});
    this.table = new Table("Holders", ["Owner and external id", "Permits", "Held for", "Until", "Instance", "Token",
      ...(may.forceRelease ? ["Action"] : [])]);
    this.pager = new Pager("holders", page => this.turn(page));
    this.element = h("section", {"aria-labelledby": "holders-title"},
      h("h2", {id: "holders-title"}, "Who holds permits"),
      h("div", {class: "tools"}, h("label", {for: "holder-search"}, "Search owner or id"), this.search),
      this.none, this.table.element, this.pager.element);
  }

  query() {
    return {containing: this.search.value, after: this.before[this.before.length - 1], limit: PAGE};
  }

  narrow() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.turn(0), 250);
  }

  turn(page) {
    if (page < this.before.length) {
      this.before.length = page + 1;
    } else {
      this.before.push(this.last);
    }
    this.view.reload();
  }

  show(holders, semaphore, now) {
    const page = this.before.length - 1;
    const searched = this.search.value !== "";
    this.last = holders.at(-1)?.fencingToken;
    setText(this.none, holders.length > 0 ? "" : searched ? "No holder matches the search."
      : page > 0 ? "There are no further holders." : "Nobody.");
    this.table.show(holders, ({externalId}) => externalId, () => this.cells(),
      (cells, holder) => this.update(cells, holder, now));
    this.pager.show(page, holders.length, searched ? undefined : semaphore.requests);
  }

  cells() {
    return [h("div", {}, h("bdi", {class: "strong"}), h("bdi", {class: "code"})), h("span"), h("time"),
      h("span", {class: "whole"}), h("bdi"), h("span", {class: "code"}),
      ...(may.forceRelease ? [h("button", {type: "button", class: "danger"}, "Release")] : [])];
  }

  update([who, permits, since, until, instance, token, release], holder, now) {
    setText(who.firstChild, holder.owner);
    setText(who.lastChild, holder.externalId);
    setText(permits, numbers.format(holder.count));
    setAge(since, holder.acquiredAt, now);
    setText(until, untilInWords(holder, now));
    setText(instance, instanceInWords(holder.instance));
    setText(token, String(holder.fencingToken));
    if (release !== undefined) {
      setAttribute(release, "aria-label", `Release the permits of ${holder.owner} by force`);
      release.onclick = () => this.view.ask(askForRelease, holder);
    }
  }
}

function untilInWords({instance, expiresAt}, now) {
  if (instance?.alive) {
    return "kept alive";
  }
  if (expiresAt === undefined || expiresAt === null) {
    return "released";
  }
  const left = Date.parse(expiresAt) - now;
  return left > 0 ? `expires in ${duration(left)}` : `expired ${duration(-left)} ago`;
}

function instanceInWords(instance) {
  if (instance === undefined || instance === null) {
    return "–";
  }
  return `${instance.name ?? "deregistered"}${instance.alive ? "" : " (no heartbeat)"}`;
}

/** The changes of the capacity and the forced releases. */
class History {

  constructor() {
    this.none = h("p", {class: "empty"});
    this.table = new Table("History", ["When", "What", "By", "Reason"]);
    this.element = h("section", {"aria-labelledby": "history-title"},
      h("h2", {id: "history-title"}, "History"), this.none, this.table.element);
  }

  show(entries, now) {
    setText(this.none, entries.length === 0 ? "The capacity was never changed, and nothing was released by force." : "");
    this.table.show(entries, entry => `${entry.changedAt} ${entry.to} ${entry.forcedRelease?.externalId}`,
      () => [h("time"), h("bdi"), h("bdi"), h("bdi")], ([when, what, by, reason], entry) => {
        setTime(when, entry.changedAt, now);
        setText(what, changeInWords(entry));
        setText(by, entry.changedBy);
        setText(reason, entry.reason);
      });
  }
}

function changeInWords({from, to, forcedRelease}) {
  if (forcedRelease !== undefined && forcedRelease !== null) {
    return `Released ${count(forcedRelease.permits, "permit", "permits")} of ${forcedRelease.owner} by force`;
  }
  return to === 0 ? `Paused; the capacity was ${numbers.format(from)}`
    : from === 0 ? `Resumed with capacity ${numbers.format(to)}`
    : `Capacity ${numbers.format(from)} → ${numbers.format(to)}`;
}
