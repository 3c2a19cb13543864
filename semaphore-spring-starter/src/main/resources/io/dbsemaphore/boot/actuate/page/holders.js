// Who holds permits of a semaphore, by page; and what happened to its capacity.

class Holders {

  /** The fencing token before each page. */
  before = [0];
  timer = 0;
  /** The holder that the open dialog is about. */
  marked = null;

  constructor(view) {
    this.view = view;
    this.search = h("input", {type: "search", id: "holder-search", autocomplete: "off", oninput: () => this.narrow()});
    this.none = h("p", {class: "empty"});
    this.table = new Table("Holders", ["What holds it", "Permits", "Held for", "Until", ...(may.forceRelease ? ["Action"] : [])]);
    this.pager = new Pager("holders", page => this.turn(page));
    this.element = h("section", {"aria-labelledby": "holders-title"},
      h("h2", {id: "holders-title"}, "Who holds permits"),
      h("div", {class: "tools"}, h("label", {for: "holder-search"}, "Search owner, label or id"), this.search),
      this.none, this.table.element, this.pager.element);
  }

  query() {
    return {containing: this.search.value, after: this.before[this.before.length - 1], limit: PAGE};
  }

  /** Whether the oldest holder is shown, if there is any. */
  isFirst() {
    return this.before.length === 1 && this.search.value === "";
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
    if (this.marked !== null && !holders.some(({externalId}) => externalId === this.marked.externalId)) {
      this.marked.confirmation.failed("It is not among the holders any more.");
    }
    setText(this.none, holders.length > 0 ? "" : searched ? "No holder matches the search."
      : page > 0 ? "There are no further holders." : "Nobody.");
    this.table.show(holders, ({externalId}) => externalId, holder => this.cells(holder),
      (cells, holder) => this.update(cells, holder, now));
    this.showMark();
    this.pager.show(page, holders.length, searched ? undefined : semaphore.requests);
  }

  /** The ids are behind the row: there to be copied, and in nobody's way. */
  cells({externalId, fencingToken, acquiredAt, label, owner}) {
    const facts = [["External id", copyable(externalId)], ["Fencing token", copyable(String(fencingToken))],
      ...(label === undefined ? [] : [["Owner", h("bdi", {}, owner)]]),
      ["Since", h("span", {}, dayAndClock.format(Date.parse(acquiredAt)))], ["Process", h("bdi")]];
    return [h("details", {class: "who"},
        h("summary", {}, h("bdi", {class: "strong"}, label ?? owner), " ", h("bdi", {class: "owner"}, label === undefined ? "" : owner)),
        h("dl", {class: "facts"}, ...facts.flatMap(([term, fact]) => [h("dt", {}, term), h("dd", {}, fact)]))),
      h("span"), h("time"), h("span"),
      ...(may.forceRelease ? [h("button", {type: "button", class: "danger"}, "Release")] : [])];
  }

  update([who, permits, since, until, release], holder, now) {
    setText(permits, count(holder.count, "permit", "permits"));
    setAge(since, holder.acquiredAt, now);
    setText(until, untilInWords(holder, now));
    setAttribute(until, "class", isSilent(holder, now) ? "late" : "");
    setText(who.lastChild.lastChild.firstChild, instanceInWords(holder, now));
    if (release !== undefined) {
      setAttribute(release, "aria-label", `Release the permits of ${titleOf(holder)} by force`);
      release.onclick = () => this.release(holder, now);
    }
  }

  /** Its row stays marked while the dialog is open, wherever it moves to. */
  release(holder, now) {
    this.marked = {externalId: holder.externalId};
    this.marked.confirmation = this.view.ask(askForRelease, holder, now, () => {
      this.marked = null;
      this.showMark();
    });
    this.showMark();
  }

  showMark() {
    for (const [externalId, row] of this.table.body.known ?? []) {
      row.classList.toggle("marked", externalId === this.marked?.externalId);
    }
  }
}

/** What holds permits, in one word: the label of the request, or else its owner. */
function titleOf({label, owner}) {
  return label ?? owner;
}

function untilInWords({instance, ownerInstance, expiresAt}, now) {
  const overdue = overdueInWords(instance, now);
  if (overdue !== "") {
    return overdue;
  }
  if (instance?.alive) {
    return "kept alive";
  }
  if (expiresAt === undefined) {
    return "released";
  }
  const left = Date.parse(expiresAt) - now;
  const process = isOverdue(ownerInstance, now) ? `, ${ownerInstance.name} sent ${silence(ownerInstance, now)}` : "";
  return (left > 0 ? `expires in ${duration(left)}` : `expired ${duration(-left)} ago`) + process;
}

/** Whether the process that keeps a grant alive, or whose name is its owner, has missed heartbeats. */
function isSilent({instance, ownerInstance}, now) {
  return isOverdue(instance ?? ownerInstance, now);
}

/** That an instance, which sends a heartbeat every sixth of its timeout, has missed some, and what follows; empty if it has not. */
function overdueInWords(instance, now) {
  if (!isOverdue(instance, now)) {
    return "";
  }
  const left = Date.parse(instance.reclaimableAt) - now;
  return `${silence(instance, now)}, ${left > 0 ? `taken back in ${duration(left)}` : "taken back soon"}`;
}

function isOverdue(instance, now) {
  return instance?.requests !== 0 && missesHeartbeats(instance, now);
}

/** Whether it sends no heartbeats because it keeps nothing alive. */
function isIdle(instance, now) {
  return instance.requests === 0 && missesHeartbeats(instance, now);
}

function missesHeartbeats(instance, now) {
  if (!instance?.heartbeatAt || !instance.reclaimableAt) {
    return false;
  }
  const heartbeat = Date.parse(instance.heartbeatAt);
  return now - heartbeat > (Date.parse(instance.reclaimableAt) - heartbeat) / 3;
}

function silence({heartbeatAt}, now) {
  return `no heartbeat for ${duration(now - Date.parse(heartbeatAt))}`;
}

/** The instance that keeps a grant alive; or what is known of the process that holds it until its time to live has passed. */
function instanceInWords({instance, ownerInstance}, now) {
  if (instance !== undefined) {
    return `kept alive by ${instance.name ?? "an instance that has deregistered"}`;
  }
  if (ownerInstance === undefined) {
    return "not kept alive, process unknown";
  }
  return `not kept alive; ${ownerInstance.name} ${isOverdue(ownerInstance, now) ? `sent ${silence(ownerInstance, now)}`
    : isIdle(ownerInstance, now) ? "keeps nothing alive, so it sends no heartbeats" : "is alive"}`;
}

/** What operators did, and what the library took back. */
class History {

  constructor() {
    this.none = h("p", {class: "empty"});
    this.table = new Table("History", ["When", "What", "By", "Reason"]);
    this.element = h("section", {"aria-labelledby": "history-title"},
      h("h2", {id: "history-title"}, "History"), this.none, this.table.element);
  }

  show(events, now) {
    const entries = [...events].reverse();
    setText(this.none, entries.length === 0
      ? "The capacity was never changed, nothing was released by force, and nothing was taken back." : "");
    this.table.show(entries.slice(0, PAGE), ({key}) => key,
      () => [h("time"), h("div", {}, h("bdi"), " ", h("bdi", {class: "code"})), h("bdi"), h("bdi")],
      ([when, what, by, reason], entry) => {
        setTime(when, entry.at, now);
        setText(what.firstChild, entry.what);
        setText(what.lastChild, entry.externalId ?? "");
        setText(by, entry.by);
        setText(reason, entry.reason);
      });
  }
}

/** What happened to a semaphore, in the order of time. */
function eventsOf(changes, reclaims) {
  return [
    ...changes.map(change => ({
      kind: change.forcedRelease !== undefined ? "forced" : "change", at: change.changedAt, what: changeInWords(change),
      externalId: change.forcedRelease?.externalId, reason: change.reason,
      by: change.changedBy === "anonymous" ? "not signed in" : change.changedBy,
      key: `${change.changedAt} ${change.to} ${change.forcedRelease?.externalId}`})),
    ...reclaims.map(({externalId, owner, permits, reason, reclaimedAt}) => ({
      kind: "reclaim", at: reclaimedAt, what: `Took back ${count(permits, "permit", "permits")} of ${owner}`, externalId,
      by: "the library", reason: `${reason}.`, key: `${reclaimedAt} ${externalId}`}))
  ].map(event => ({...event, instant: Date.parse(event.at)})).sort((a, b) => a.instant - b.instant);
}

function changeInWords({from, to, forcedRelease}) {
  if (forcedRelease !== undefined) {
    return `Released ${count(forcedRelease.permits, "permit", "permits")} of ${forcedRelease.owner} by force`;
  }
  return to === 0 ? `Paused; the capacity was ${numbers.format(from)}`
    : from === 0 ? `Resumed with capacity ${numbers.format(to)}`
    : `Capacity ${numbers.format(from)} → ${numbers.format(to)}`;
}
