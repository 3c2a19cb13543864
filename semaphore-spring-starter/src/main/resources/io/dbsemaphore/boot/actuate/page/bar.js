// The bar of a semaphore's permits, the words beside it, and the numbers of a view.

const MAX_CELLS = 60;

function permitBar() {
  return h("div", {class: "bar", "aria-hidden": "true"},
    h("span", {class: "held"}), h("span", {class: "over"}), h("span", {class: "free"}));
}

function setPermitBar(bar, {capacity, held}) {
  const total = Math.max(capacity, held, 1);
  const limit = capacity === 0 ? held : capacity;
  const parts = [Math.min(held, limit), Math.max(0, held - limit), Math.max(0, limit - held)];
  parts.forEach((part, index) => {
    const element = bar.children[index];
    element.style.flexGrow = String(part / total);
    element.hidden = part === 0;
  });
  bar.style.setProperty("--cell", `${100 / total}%`);
  bar.classList.toggle("cells", total <= MAX_CELLS);
  bar.classList.toggle("paused", capacity === 0);
}

function heldInWords({capacity, held, waiting}) {
  return (capacity === 0 ? `${numbers.format(held)} held` : `${numbers.format(held)} of ${numbers.format(capacity)} held`)
    + (waiting > 0 ? ` · ${numbers.format(waiting)} waiting` : "");
}

/** The numbers that tell how a view is, each with a remark. */
class Headline {

  constructor(...names) {
    this.element = h("dl", {class: "headline"}, ...names.map(name =>
      h("div", {}, h("dt", {}, name), h("dd", {}, h("span", {class: "number"}), h("bdi", {class: "remark"})))));
  }

  /** Shows a number for each name; without one a dash. */
  show(...items) {
    items.forEach(({number, remark, kind}, index) => {
      const item = this.element.children[index];
      const [text, words] = item.lastChild.children;
      setText(text, number ?? "–");
      setText(words, remark ?? "");
      setAttribute(item, "class", kind ?? (number === undefined || number === "0" ? "none" : ""));
    });
  }
}
