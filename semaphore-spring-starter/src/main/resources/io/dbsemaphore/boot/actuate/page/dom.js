// Builds and updates elements. Text is only ever set as text: no name can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Creates an element. Properties that start with "on" are listeners, the others attributes. */
function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

/** Sets the text of an element unless it has it: what is unchanged is neither painted nor read out again. */
function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) {
    element.setAttribute(name, value);
  }
}

/** A text to be copied: where the browser gives no access to the clipboard, as without HTTPS, it is selected. */
function copyable(text) {
  const shown = h("bdi", {class: "code"}, text);
  return h("span", {class: "copyable"}, shown, h("button", {type: "button", "aria-label": `Copy ${text}`, onclick: async () => {
    getSelection().selectAllChildren(shown);
    try {
      await navigator.clipboard.writeText(text);
      say("Copied.");
    } catch {
      say("Selected. Copy it with Ctrl+C or ⌘C.");
    }
  }}, "Copy"));
}

/** Makes the children of an element correspond to items, and keeps those that exist: the focus stays where it is. Of items with the same
 * key the first has a child. */
function sync(parent, items, keyOf, create, update) {
  const known = parent.known ?? new Map();
  const next = new Map();
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    if (next.has(key)) {
      continue;
    }
    let child = known.get(key);
    if (child === undefined) {
      child = create(item);
    }
    if (child === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(child, place);
    }
    update?.(child, item);
    next.set(key, child);
  }
  for (const [key, child] of known) {
    if (next.get(key) !== child) {
      child.remove();
    }
  }
  parent.known = next;
}
