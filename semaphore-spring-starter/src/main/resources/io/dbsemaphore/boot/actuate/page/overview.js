// The semaphores, those with trouble first.

/** How many the endpoint returns at most. If there are more, it searches them. */
const MOST = 10000;

const ORDERS = {
  trouble: {label: "Trouble first", compare: byTrouble},
  name: {label: "Name", compare: byName},
  use: {label: "Fullest first", compare: (a, b) => fullness(b) - fullness(a) || byName(a, b)}
};

/** Held permits by capacity; those over their capacity are the fullest, paused ones that hold nothing the emptiest. */
function fullness({capacity, held}) {
  return capacity === 0 ? (held > 0 ? Infinity : -1) : held / capacity;
}

class Overview {

  title = "Overview";
  page = 0;
  tooMany = false;
  instances = new Refreshed(() => get("/instances", {}));

  constructor(page) {
    this.redraw = page.redraw;
    this.update = page.update;
    this.search = h("input", {type: "search", id: "search", autocomplete: "off", oninput: () => {
      this.first();
      if (this.tooMany) {
        this.update();
      }
    }});
    this.sorting = h("select", {id: "order", onchange: () => this.first()},
      ...Object.entries(ORDERS).map(([value, {label}]) => h("option", {value}, label)));
    this.headline = new Headline("Waiting now", "Longest wait", "Full", "Granted per minute", "Instances late");
    this.summary = h("p", {class: "summary"});
    this.list = h("ul", {class: "semaphores", "aria-label": "Semaphores"});
    this.pager = new Pager("semaphores", turned => {
      this.page = turned;
      this.redraw();
    });
    this.element = h("div", {},
      h("h1", {}, "Overview"),
      this.headline.element,
      h("div", {class: "tools"},
        h("label", {for: "search"}, "Search"), this.search,
        h("label", {for: "order"}, "Order"), this.sorting),
      this.summary, this.list, this.pager.element);
  }

  async load() {
    const [data, {instances}] = await Promise.all([
      get("", {limit: MOST, containing: this.tooMany ? this.search.value : undefined}), this.instances.get()]);
    this.tooMany ||= data.truncated;
    const now = Date.parse(data.asOf);
    return {...data, instances, now, semaphores: data.semaphores.map(each => judged(each, now))};
  }

  first() {
    this.page = 0;
    this.redraw();
  }

  show(data) {
    const {semaphores, truncated, now} = data;
    const text = this.search.value.toLowerCase();
    const found = semaphores.filter(({name}) => name.toLowerCase().includes(text))
      .sort(ORDERS[this.sorting.value].compare);
    this.page = Math.min(this.page, Math.max(0, Math.ceil(found.length / PAGE) - 1));
    const shown = found.slice(this.page * PAGE, (this.page + 1) * PAGE);
    this.showHeadline(data);
    setText(this.summary, this.inWords(semaphores, found) + (truncated ? " · There are more: search for a part of their names." : ""));
    this.list.hidden = shown.length === 0;
    sync(this.list, shown, ({name}) => name, semaphoreRow,
      (row, semaphore) => updateSemaphoreRow(row, semaphore, now));
    this.pager.show(this.page, shown.length, found.length);
  }

  showHeadline({semaphores, instances, granted, now}) {
    const awaited = semaphores.filter(({waiting}) => waiting > 0);
    const longest = awaited.filter(({waits}) => waits !== undefined).sort((a, b) => b.waits - a.waits)[0];
    const waiting = awaited.reduce((sum, each) => sum + each.waiting, 0);
    const full = semaphores.filter(({capacity, available}) => capacity > 0 && available === 0).length;
    const late = instances.filter(instance => isOverdue(instance, now));
    this.headline.show(
      {number: numbers.format(waiting), kind: waiting > 0 ? "waiting" : undefined,
        remark: awaited.length > 1 ? `for ${numbers.format(awaited.length)} semaphores` : awaited[0]?.name},
      {number: longest && duration(longest.waits), remark: longest?.name, kind: longest?.kind},
      {number: numbers.format(full), remark: `of ${numbers.format(semaphores.length)}`},
      {number: numbers.format(granted), remark: granted >= MOST ? "or more" : ""},
      {number: numbers.format(late.length), kind: late.length > 0 ? "late" : undefined,
        remark: late.length === 1 ? late[0].name : `of ${numbers.format(instances.length)}`});
  }

  inWords(all, found) {
    if (all.length === 0 && !this.tooMany) {
      return "There are no semaphores yet. Declare one with semaphore.semaphores.<name>.capacity.";
    }
    if (found.length === 0) {
      return `No name ${this.tooMany ? "" : `of ${count(all.length, "semaphore", "semaphores")} `}contains “${this.search.value}”.`;
    }
    const paused = all.filter(({capacity}) => capacity === 0).length;
    const held = all.reduce((sum, semaphore) => sum + semaphore.held, 0);
    return [count(all.length, "semaphore", "semaphores"), `${count(held, "permit", "permits")} held`,
      paused > 0 ? `${numbers.format(paused)} paused` : "",
      all.some(({isTrouble}) => isTrouble) ? "" : "nobody waits, and nothing is paused"]
      .filter(part => part !== "").join(" · ");
  }
}

function semaphoreRow({name}) {
  return h("li", {},
    h("a", {class: "name", href: addressOf(name)}, h("bdi", {}, name)),
    permitBar(), h("span", {class: "held-words"}), h("span", {class: "age"}), h("span", {class: "state"}));
}

function addressOf(name) {
  return `#/semaphore/${encodeURIComponent(name)}`;
}

function updateSemaphoreRow(row, semaphore, now) {
  const [, bar, words, age, state] = row.children;
  setAttribute(row, "class", semaphore.isTrouble ? "trouble" : semaphore.held > 0 ? "calm" : "calm idle");
  setPermitBar(bar, semaphore);
  setText(words, heldInWords(semaphore));
  setText(age, ageInWords(semaphore, now));
  setState(state, semaphore);
}

/** One word for the eye; that permits are available goes without saying. */
function setState(element, {kind, state}) {
  setText(element, state);
  setAttribute(element, "class", `state ${kind}`);
}
