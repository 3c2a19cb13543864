// The semaphores, as bars.

/** How many the endpoint returns at most. If there are more, it searches them. */
const MOST = 10000;

const ORDERS = {
  name: {label: "Name", compare: (a, b) => a.name < b.name ? -1 : 1},
  use: {label: "Fullest first", compare: (a, b) => fullness(b) - fullness(a) || ORDERS.name.compare(a, b)}
};

/** Held permits by capacity; those over their capacity are the fullest, paused ones that hold nothing the emptiest. */
function fullness({capacity, held}) {
  return capacity === 0 ? (held > 0 ? Infinity : -1) : held / capacity;
}

class Overview {

  title = "Overview";
  page = 0;
  tooMany = false;

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
    this.summary = h("p", {class: "summary"});
    this.list = h("ul", {class: "semaphores", "aria-label": "Semaphores"});
    this.pager = new Pager("semaphores", turned => {
      this.page = turned;
      this.redraw();
    });
    this.element = h("div", {},
      h("h1", {}, "Overview"),
      this.summary,
      h("div", {class: "tools"},
        h("label", {for: "search"}, "Search"), this.search,
        h("label", {for: "order"}, "Order"), this.sorting),
      this.list, this.pager.element);
  }

  async load() {
    const data = await get("", {limit: MOST, containing: this.tooMany ? this.search.value : undefined});
    this.tooMany ||= data.truncated;
    data.now = Date.parse(data.asOf);
    remember(data.semaphores, data.now);
    return data;
  }

  first() {
    this.page = 0;
    this.redraw();
  }

  show({semaphores, truncated, now}) {
    const text = this.search.value.toLowerCase();
    const found = semaphores.filter(({name}) => name.toLowerCase().includes(text))
      .sort(ORDERS[this.sorting.value].compare);
    this.page = Math.min(this.page, Math.max(0, Math.ceil(found.length / PAGE) - 1));
    const shown = found.slice(this.page * PAGE, (this.page + 1) * PAGE);
    setText(this.summary, this.inWords(semaphores, found) + (truncated ? " · There are more: search for a part of their names." : ""));
    this.list.hidden = shown.length === 0;
    sync(this.list, shown, ({name}) => name, semaphoreRow,
      (row, semaphore) => updateSemaphoreRow(row, semaphore, now));
    this.pager.show(this.page, shown.length, found.length);
  }

  inWords(all, found) {
    if (all.length === 0 && !this.tooMany) {
      return "There are no semaphores yet. Declare one with semaphore.semaphores.<name>.capacity.";
    }
    if (found.length === 0) {
      return `No name ${this.tooMany ? "" : `of ${count(all.length, "semaphore", "semaphores")} `}contains “${this.search.value}”.`;
    }
    const kinds = all.map(semaphore => stateOf(semaphore).kind);
    const full = kinds.filter(kind => kind === "full" || kind === "over").length;
    const paused = kinds.filter(kind => kind === "paused").length;
    const held = all.reduce((sum, semaphore) => sum + semaphore.held, 0);
    return [count(all.length, "semaphore", "semaphores"), `${count(held, "permit", "permits")} held`,
      full > 0 ? `${numbers.format(full)} full` : "", paused > 0 ? `${numbers.format(paused)} paused` : ""]
      .filter(part => part !== "").join(" · ");
  }
}

function semaphoreRow({name}) {
  return h("li", {},
    h("a", {class: "name", href: addressOf(name)}, h("bdi", {}, name)),
    permitBar(), curve(), h("span", {class: "held-words"}), h("span", {class: "state"}));
}

function addressOf(name) {
  return `#/semaphore/${encodeURIComponent(name)}`;
}

function updateSemaphoreRow(row, semaphore, now) {
  const [, bar, line, words, state] = row.children;
  setPermitBar(bar, semaphore);
  setCurve(line, semaphore.name, now);
  setText(words, heldInWords(semaphore));
  setState(state, semaphore);
}
