// The bar of a semaphore's permits, the words beside it, and its curve.

const MAX_CELLS = 60;

function permitBar() {
  return h("div", {class: "bar", "aria-hidden": "true"},
    h("span", {class: "held"}), h("span", {class: "over"}), h("span", {class: "free"}));
}

function setPermitBar(bar, {capacity, held}) {
  const total = Math.max(capacity, held, 1);
  const parts = [Math.min(held, capacity), Math.max(0, held - capacity), Math.max(0, capacity - held)];
  parts.forEach((part, index) => {
    const element = bar.children[index];
    element.style.flexGrow = String(part / total);
    element.hidden = part === 0;
  });
  bar.style.setProperty("--cell", `${100 / total}%`);
  bar.classList.toggle("cells", total <= MAX_CELLS);
  bar.classList.toggle("paused", capacity === 0);
}

/** The state of a semaphore: one word for the eye and a sentence for everybody. */
function stateOf({capacity, held, available}) {
  if (capacity === 0) {
    return {kind: "paused", word: "paused"};
  }
  if (held > capacity) {
    return {kind: "over", word: `${numbers.format(held - capacity)} over capacity`};
  }
  if (available === 0) {
    return {kind: "full", word: "full"};
  }
  return {kind: "open", word: `${numbers.format(available)} available`};
}

function setState(element, semaphore) {
  const {kind, word} = stateOf(semaphore);
  setText(element, word);
  setAttribute(element, "class", `state ${kind}`);
}

function heldInWords({capacity, held, waiting}) {
  return `${numbers.format(held)} of ${numbers.format(capacity)} held`
    + (waiting > 0 ? ` · ${numbers.format(waiting)} waiting` : "");
}
