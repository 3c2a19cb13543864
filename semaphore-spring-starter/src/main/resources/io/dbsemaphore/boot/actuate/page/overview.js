// All semaphores, as bars.

const PAGE = 100;
const ORDERS = {
  name: {label: "Name", compare: (a, b) => a.name < b.name ? -1 : 1},
  use: {label: "Fullest first", compare: (a, b) => fullness(b) - fullness(a) || ORDERS.name.compare(a, b)}
};

function fullness({capacity, held}) {
  return capacity === 0 ? (held > 0 ? 2 : -1) : held / capacity;
}

class Overview {

  title = "Overview";
  filter = "";
  order = "name";
  page = 0;

  constructor(redraw) {
    this.redraw = redraw;
    this.search = h("input", {type: "search", id: "search", autocomplete: "off", oninput: () => this.narrow()});
    this.sorting = h("select", {id: "order", onchange: () => this.sort()},
      ...Object.entries(ORDERS).map(([value, {label}]) => h("option", {value}, label)));
    this.summary = h("p", {class: "summary"});
    this.list = h("ul", {class: "semaphores", "aria-label": "Semaphores"});
    this.pager = new Pager(page => {
      this.page = page;
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

  load() {
    return get({});
  }

  narrow() {
    this.filter = this.search.value.toLowerCase();
    this.page = 0;
    this.redraw();
  }

  sort() {
    this.order = this.sorting.value;
    this.page = 0;
    this.redraw();
  }

  show({semaphores}) {
    const found = semaphores.filter(({name}) => name.toLowerCase().includes(this.filter))
      .sort(ORDERS[this.order].compare);
    this.page = Math.min(this.page, Math.max(0, Math.ceil(found.length / PAGE) - 1));
    const from = this.page * PAGE;
    const shown = found.slice(from, from + PAGE);
    setText(this.summary, this.inWords(semaphores, found));
    sync(this.list, shown, ({name}) => name, semaphoreRow, updateSemaphoreRow);
    this.pager.show(from, shown.length, found.length);
  }

  inWords(all, found) {
    if (all.length === 0) {
      return "There are no semaphores yet. Declare one with semaphore.semaphores.<name>.capacity.";
    }
    if (found.length === 0) {
      return `No name of ${count(all.length, "semaphore", "semaphores")} contains “${this.search.value}”.`;
    }
    const full = all.filter(semaphore => ["full", "over"].includes(stateOf(semaphore).kind)).length;
    const paused = all.filter(({capacity}) => capacity === 0).length;
    const held = all.reduce((sum, semaphore) => sum + semaphore.held, 0);
    return [count(all.length, "semaphore", "semaphores"), `${count(held, "permit", "permits")} held`,
      full > 0 ? `${numbers.format(full)} full` : "", paused > 0 ? `${numbers.format(paused)} paused` : ""]
      .filter(part => part !== "").join(" · ");
  }
}

function semaphoreRow({name}) {
  return h("li", {},
    h("a", {class: "name", href: `#/semaphore/${encodeURIComponent(name)}`}, h("bdi", {}, name)),
    permitBar(),
    h("span", {class: "held-words"}),
    h("span", {class: "state"}));
}

function updateSemaphoreRow(row, semaphore) {
  const [, bar, words, state] = row.children;
  setPermitBar(bar, semaphore);
  setText(words, heldInWords(semaphore));
  setState(state, semaphore);
}

/** Goes through the pages of a long list. */
class Pager {

  constructor(turn) {
    this.page = 0;
    this.previous = h("button", {type: "button", onclick: () => turn(this.page - 1)}, "Previous");
    this.next = h("button", {type: "button", onclick: () => turn(this.page + 1)}, "Next");
    this.text = h("span", {});
    this.element = h("div", {class: "pager", hidden: true}, this.previous, this.text, this.next);
  }

  show(from, shown, total) {
    this.page = Math.floor(from / PAGE);
    this.element.hidden = total <= PAGE;
    this.previous.disabled = from === 0;
    this.next.disabled = from + shown >= total;
    setText(this.text, `${numbers.format(from + 1)} to ${numbers.format(from + shown)} of ${numbers.format(total)}`);
  }
}
