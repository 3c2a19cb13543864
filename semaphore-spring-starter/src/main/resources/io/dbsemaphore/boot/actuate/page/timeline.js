// Who held permits when: a bar for each request, in as few lanes as possible.

const REQUESTS = 500;
const LANES = 30;
const LEGEND = 8;

class Timeline {

  constructor(redraw) {
    this.words = h("p", {class: "summary"});
    this.axis = h("div", {class: "axis"});
    this.lanes = h("div", {class: "lanes", onclick: event => this.point(event), onpointerover: event => this.point(event)});
    this.drawing = h("div", {class: "timeline", role: "img"}, this.lanes, this.axis);
    this.pointed = h("p", {class: "pointed", "aria-hidden": "true"});
    this.legend = h("ul", {class: "legend", "aria-label": "Colours of the holders"});
    this.table = new Table("Requests", ["What held it", "Permits", "From", "To", "Held for"]);
    this.details = h("details", {ontoggle: redraw}, h("summary", {}, "As a table"), this.table.element);
    this.element = h("section", {"aria-labelledby": "timeline-title"},
      h("h2", {id: "timeline-title"}, "Who held permits when"),
      this.words, this.drawing, this.pointed, this.legend, this.details);
  }

  /** Shows the requests of a period, of which a part may be drawn. */
  show({to: end, requests}, period, [from, to]) {
    const bars = requests.map(request => ({...request,
      title: titleOf(request),
      start: Date.parse(request.acquiredAt),
      end: request.releasedAt === undefined ? to : Date.parse(request.releasedAt),
      held: request.releasedAt === undefined
    })).sort((a, b) => a.start - b.start);
    const lanes = lanesOf(bars);
    this.element.hidden = bars.length === 0;
    setText(this.words, requestsInWords(bars, lanes, period));
    setAttribute(this.drawing, "aria-label", `${this.words.textContent} The table below has the same data.`);
    this.drawLanes(lanes.slice(0, LANES), from, to);
    this.drawLegend(bars);
    drawAxis(this.axis, from, to);
    if (this.details.open) {
      this.tabulate(bars, to);
    }
  }

  drawLanes(lanes, from, to) {
    sync(this.lanes, lanes.map((bars, index) => ({bars, index})), ({index}) => index,
      () => h("div", {class: "lane"}),
      (lane, {bars}) => sync(lane, bars, ({externalId}) => externalId,
        bar => coloured(h("div", {class: "use"}, h("bdi", {}, bar.title)), bar.title),
        (element, bar) => this.draw(element, bar, from, to)));
  }

  draw(element, bar, from, to) {
    place(element, bar.start, bar.end, from, to);
    element.classList.toggle("still", bar.held);
    element.classList.toggle("earlier", bar.start < from);
    setAttribute(element, "title", `${bar.title}: ${count(bar.count, "permit", "permits")}, ${bar.held ? "held for" : ""} ${duration(bar.end - bar.start)}, since ${time(bar.start, to)} (${bar.externalId})`);
  }

  drawLegend(bars) {
    const requests = new Map();
    bars.forEach(({title}) => requests.set(title, (requests.get(title) ?? 0) + 1));
    const titles = [...requests.keys()].sort((a, b) => requests.get(b) - requests.get(a) || (a < b ? -1 : 1));
    const shown = titles.slice(0, LEGEND).map(title => ({title}));
    sync(this.legend, titles.length > LEGEND ? [...shown, {more: titles.length - LEGEND}] : shown,
      ({title, more}) => title ?? `\u0000${more}`,
      ({title, more}) => title === undefined ? h("li", {}, `and ${count(more, "other", "others")}`)
        : h("li", {}, coloured(h("span", {class: "swatch", "aria-hidden": "true"}), title), h("bdi", {}, title)));
  }

  /** Says below the drawing what the pointer or a finger is on: a bar may be too narrow for a word. */
  point({target}) {
    const bar = target.closest(".use");
    if (bar !== null) {
      setText(this.pointed, bar.title);
    }
  }

  tabulate(bars, now) {
    this.table.show([...bars].reverse(), ({externalId}) => externalId,
      () => [h("div", {}, h("bdi", {class: "strong"}), h("bdi", {class: "code"})), h("span"), h("time"), h("span"), h("span")],
      ([who, permits, begin, end, held], bar) => {
        setText(who.firstChild, bar.title);
        setText(who.lastChild, bar.externalId);
        setText(permits, numbers.format(bar.count));
        setTime(begin, bar.acquiredAt, now);
        setText(end, bar.held ? "still held" : time(bar.end, now));
        setText(held, duration(bar.end - bar.start));
      });
  }
}

function requestsInWords(bars, lanes, period) {
  const held = bars.filter(bar => bar.held).length;
  if (held === REQUESTS) {
    return `The latest ${numbers.format(REQUESTS)} of the requests that still hold permits.`;
  }
  return [bars.length < REQUESTS ? `${count(bars.length, "request", "requests")} ${period}`
    : `The latest ${count(REQUESTS - held, "released request", "released requests")} ${period}`,
    held === 0 ? "" : `${numbers.format(held)} still held`,
    lanes.length > LANES ? `${numbers.format(LANES)} of ${numbers.format(lanes.length)} lanes drawn` : ""]
    .filter(part => part !== "").join(", ") + ".";
}

/** Distributes bars, ordered by their start, so that none overlaps another one in its lane. */
function lanesOf(bars) {
  const lanes = [];
  for (const bar of bars) {
    let lane = lanes.find(each => each.at(-1).end <= bar.start);
    if (lane === undefined) {
      lanes.push(lane = []);
    }
    lane.push(bar);
  }
  return lanes;
}

/** Gives an element the colour of a name: the same in each view, browser and year. */
function coloured(element, name) {
  let hash = 2166136261; // FNV-1a, then mixed, since names often differ in their last character only
  for (const byte of new TextEncoder().encode(name)) {
    hash = Math.imul(hash ^ byte, 16777619);
  }
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  element.style.setProperty("--hue", String(((hash ^ hash >>> 16) >>> 0) % 360));
  return element;
}
