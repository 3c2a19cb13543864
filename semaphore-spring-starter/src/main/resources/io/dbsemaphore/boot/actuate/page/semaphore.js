// One semaphore: its holders and its history, and what can be done.

class SemaphoreView {

  after = [0];

  constructor(redraw, name, reload) {
    this.name = name;
    this.title = name;
    this.redraw = redraw;
    this.reload = reload;
    this.bar = permitBar();
    this.words = h("span", {class: "held-words"});
    this.state = h("span", {class: "state"});
    this.actions = h("div", {class: "actions", hidden: true},
      this.change = h("button", {type: "button", onclick: () => this.ask(askForCapacity)}, "Change capacity"),
      this.pause = h("button", {type: "button", onclick: () => this.pauseOrResume()}, "Pause"));
    this.holders = new Holders(this);
    this.history = new History();
    this.element = h("div", {},
      h("h1", {}, h("bdi", {}, name)),
      h("div", {class: "head"}, this.bar, this.words, this.state),
      this.actions,
      this.holders.element, this.history.element);
  }

  load() {
    return get({name: this.name, ...this.holders.query()});
  }

  show({semaphore, holders, capacityHistory}) {
    this.semaphore = semaphore;
    this.capacities = capacityHistory;
    const now = Date.now();
    setPermitBar(this.bar, semaphore);
    setText(this.words, heldInWords(semaphore));
    setState(this.state, semaphore);
    this.actions.hidden = !may.setCapacity;
    setText(this.pause, semaphore.capacity === 0 ? "Resume" : "Pause");
    this.holders.show(holders, semaphore, now);
    this.history.show(capacityHistory, now);
  }

  ask(dialog, ...more) {
    dialog(this.semaphore, ...more, message => {
      say(message);
      this.reload();
    });
  }

  pauseOrResume() {
    if (this.semaphore.capacity > 0) {
      this.ask(askToPause);
    } else {
      const paused = this.capacities.find(({to}) => to === 0);
      this.ask(askToResume, paused?.from ?? 1);
    }
  }
}

/** The holders, by page. */
class Holders {

  constructor(view) {
    this.view = view;
    this.search = h("input", {type: "search", id: "holder-search", autocomplete: "off", oninput: () => this.narrow()});
    this.none = h("p", {class: "empty"});
    this.table = new Table("Holders", ["Owner", "Permits", "Held since", "Until", "Instance", "Token", "External id",
      ...(may.forceRelease ? ["Action"] : [])]);
    this.element = h("section", {"aria-labelledby": "holders-title"},
      h("h2", {id: "holders-title"}, "Who holds permits"),
      h("div", {class: "tools"}, h("label", {for: "holder-search"}, "Search owner or id"), this.search),
      this.none, this.table.element);
  }

  query() {
    return {};
  }

  narrow() {
    this.view.redraw();
  }

  show(holders, semaphore, now) {
    const text = this.search.value.toLowerCase();
    const found = holders.filter(({owner, externalId}) =>
      owner.toLowerCase().includes(text) || externalId.toLowerCase().includes(text));
    setText(this.none, found.length > 0 ? "" : holders.length === 0 ? "Nobody." : "No holder matches the search.");
    this.table.show(found, ({externalId}) => externalId, () => this.row(), (row, holder) => this.update(row, holder, now));
  }

  row() {
    const cells = [h("bdi", {class: "strong"}), h("span"), timeElement(), h("span"), h("span"), h("span"),
      h("bdi", {class: "code"})];
    if (may.forceRelease) {
      cells.push(h("button", {type: "button", class: "danger"}, "Release"));
    }
    return this.table.row(cells);
  }

  update(row, holder, now) {
    const [owner, permits, since, until, instance, token, id, release] = row.cells;
    setText(owner, holder.owner);
    setText(permits, numbers.format(holder.count));
    setTime(since, holder.acquiredAt, now, true);
    setText(until, holder.instance?.alive ? "kept alive"
      : holder.expiresAt === undefined || holder.expiresAt === null ? "released"
      : expiry(Date.parse(holder.expiresAt), now));
    setText(instance, holder.instance === undefined || holder.instance === null ? "–"
      : `${holder.instance.name ?? "deregistered"}${holder.instance.alive ? "" : " (no heartbeat)"}`);
    setText(token, String(holder.fencingToken));
    setText(id, holder.externalId);
    if (release !== undefined) {
      setAttribute(release, "aria-label", `Release the permits of ${holder.owner} by force`);
      release.onclick = () => this.view.ask(askForRelease, holder);
    }
  }
}

function expiry(instant, now) {
  return instant <= now ? `expired ${duration(now - instant)} ago` : `expires in ${duration(instant - now)}`;
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
    setText(this.none, entries.length === 0 ? "The capacity was never changed, and nothing released by force." : "");
    this.table.show(entries, entry => JSON.stringify(entry), () => this.table.row(
      [timeElement(), h("span"), h("bdi"), h("bdi")]), (row, entry) => {
      const [when, what, by, reason] = row.cells;
      setTime(when, entry.changedAt, now, false);
      setText(what, entry.forcedRelease ? `Released ${count(entry.forcedRelease.permits, "permit", "permits")} of ${entry.forcedRelease.owner} by force`
        : entry.to === 0 ? `Paused (capacity was ${entry.from})`
        : `Capacity ${numbers.format(entry.from)} → ${numbers.format(entry.to)}`);
      setText(by, entry.changedBy);
      setText(reason, entry.reason);
    });
  }
}

/** A table that is read as one on a phone, too, where each row is a card. */
class Table {

  constructor(caption, columns) {
    this.columns = columns;
    this.body = h("tbody", {role: "rowgroup"});
    this.element = h("table", {role: "table"},
      h("caption", {class: "hidden"}, caption),
      h("thead", {role: "rowgroup"}, h("tr", {role: "row"},
        ...columns.map(column => h("th", {role: "columnheader", scope: "col"}, column)))),
      this.body);
  }

  row(cells) {
    const row = h("tr", {role: "row"}, ...cells.map((cell, index) =>
      h("td", {role: "cell", "data-label": this.columns[index]}, cell)));
    row.parts = cells;
    return row;
  }

  show(items, keyOf, create, update) {
    this.element.hidden = items.length === 0;
    sync(this.body, items, keyOf, create, (row, item) => update({cells: row.parts}, item));
  }
}
