// Who held permits when: a bar for each request, in as few lanes as possible, below the curve of all of them and the capacity, and above
// the marks of what happened.

const PERIODS = {"5m": 5, "15m": 15, "1h": 60, "6h": 360, "24h": 1440};
const PERIOD_NAMES = {"5m": "5 minutes", "15m": "15 minutes", "1h": "1 hour", "6h": "6 hours", "24h": "24 hours"};
const REQUESTS = 500;
const LANES = 30;
const TICK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map(minutes => minutes * 60000);
const REFRESH = 6000;
const LEGEND = 8;
/** How many entries of the history the endpoint returns. */
const HISTORY = 100;
const MARKS = {change: "◆", forced: "✕", reclaim: "↩"};

class Timeline {

  constructor(view) {
    this.view = view;
    this.data = null;
    this.readAt = -Infinity;
    this.period = h("select", {id: "period", onchange: () => {
      this.readAt = -Infinity;
      view.reload();
    }}, ...Object.entries(PERIOD_NAMES).map(([value, label]) => h("option", {value, selected: value === "15m"}, label)));
    this.words = h("p", {class: "summary"});
    this.axis = h("div", {class: "axis"});
    this.chart = svg("svg", {class: "held-curve", viewBox: "0 0 100 40", preserveAspectRatio: "none"},
      svg("path", {class: "area"}), svg("path", {class: "line"}), svg("path", {class: "limit"}));
    this.lanes = h("div", {class: "lanes", onclick: event => this.point(event), onpointerover: event => this.point(event)});
    this.marks = h("div", {class: "marks", onclick: event => this.point(event), onpointerover: event => this.point(event)});
    this.drawing = h("div", {class: "timeline", role: "img"}, this.chart, this.lanes, this.marks, this.axis);
    this.pointed = h("p", {class: "pointed", "aria-hidden": "true"});
    this.legend = h("ul", {class: "legend", "aria-label": "Colours of the owners"});
    this.table = new Table("Requests", ["Owner and external id", "Permits", "From", "To", "Held for"]);
    this.details = h("details", {ontoggle: () => this.view.redraw()}, h("summary", {}, "As a table"), this.table.element);
    this.element = h("section", {"aria-labelledby": "timeline-title"},
      h("h2", {id: "timeline-title"}, "Who held permits when"),
      h("div", {class: "tools"}, h("label", {for: "period"}, "The last"), this.period),
      this.words, this.drawing, this.pointed, this.legend, this.details);
  }

  /** Reads the requests, less often than the rest of the view: most of them do not change. */
  async load(name) {
    if (performance.now() - this.readAt >= REFRESH) {
      this.data = await get("/requests", {name, period: this.period.value, limit: REQUESTS});
      this.readAt = performance.now();
    }
    return this.data;
  }

  show({from: begin, to: end, requests}, semaphore, changes, reclaims) {
    const from = Date.parse(begin);
    const to = Date.parse(end);
    const bars = requests.map(request => ({...request,
      start: Date.parse(request.acquiredAt),
      end: request.releasedAt === undefined ? to : Date.parse(request.releasedAt),
      held: request.releasedAt === undefined
    })).sort((a, b) => a.start - b.start);
    const lanes = lanesOf(bars);
    const all = requests.length < REQUESTS;
    setText(this.words, this.inWords(bars, all, lanes));
    const events = eventsOf(changes, reclaims).map(event => ({...event, instant: Date.parse(event.at)}))
      .filter(({instant}) => instant >= from && instant <= to);
    this.drawing.hidden = bars.length === 0 && events.length === 0;
    this.details.hidden = bars.length === 0;
    setAttribute(this.drawing, "aria-label", `${this.words.textContent} The table below has the same data.`);
    this.drawCurve(bars, capacitiesOf(changes, semaphore.capacity, from, to), all ? from : bars.find(({held}) => !held)?.start ?? bars[0]?.start ?? to, from, to);
    this.drawLanes(lanes.slice(0, LANES), from, to);
    this.drawMarks(events, from, to);
    this.drawLegend(bars);
    this.drawAxis(from, to);
    if (this.details.open) {
      this.tabulate(bars, to);
    }
  }

  inWords(bars, all, lanes) {
    const period = `in the last ${PERIOD_NAMES[this.period.value]}`;
    if (bars.length === 0) {
      return `Nobody held permits ${period}.`;
    }
    const held = bars.filter(bar => bar.held).length;
    if (held === REQUESTS) {
      return `The latest ${numbers.format(REQUESTS)} of the requests that still hold permits.`;
    }
    return [all ? `${count(bars.length, "request", "requests")} ${period}`
      : `The latest ${count(REQUESTS - held, "released request", "released requests")} ${period}`,
      held === 0 ? "" : `${numbers.format(held)} still held`,
      lanes.length > LANES ? `${numbers.format(LANES)} of ${numbers.format(lanes.length)} lanes drawn` : ""]
      .filter(part => part !== "").join(", ") + ".";
  }

  /** How many permits were held: a step up at each acquire, and down at each release. */
  drawCurve(bars, capacities, since, from, to) {
    const changes = bars.flatMap(({start, end, held, count: permits}) =>
      [[Math.max(start, since), permits], ...(held ? [] : [[end, -permits]])]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    let held = 0;
    const heights = [[since, 0]];
    for (const [instant, change] of changes) {
      held += change;
      heights.push([instant, held]);
    }
    heights.push([to, held]);
    const top = [...heights, ...capacities].reduce((highest, [, height]) => Math.max(highest, height), 1);
    const y = height => 39 - 37 * height / top;
    const x = instant => 100 * (instant - from) / (to - from);
    const line = stepsOf(heights.map(([instant, height]) => [x(instant), y(height)]));
    const [area, curveLine, limit] = this.chart.children;
    setAttribute(curveLine, "d", line);
    setAttribute(area, "d", `${line}V40H${x(since).toFixed(2)}Z`);
    setAttribute(limit, "d", stepsOf(capacities.map(([instant, capacity]) => [x(instant), y(capacity)])));
  }

  drawLanes(lanes, from, to) {
    sync(this.lanes, lanes.map((bars, index) => ({bars, index})), ({index}) => index,
      () => h("div", {class: "lane"}),
      (lane, {bars}) => sync(lane, bars, ({externalId}) => externalId,
        bar => coloured(h("div", {class: "use"}, h("bdi", {}, bar.owner)), bar.owner),
        (element, bar) => this.place(element, bar, from, to)));
  }

  place(element, bar, from, to) {
    const left = Math.max(0, (bar.start - from) / (to - from));
    const right = Math.min(1, (bar.end - from) / (to - from));
    element.style.left = `${(100 * left).toFixed(3)}%`;
    element.style.width = `${(100 * (right - left)).toFixed(3)}%`;
    element.classList.toggle("still", bar.held);
    element.classList.toggle("earlier", bar.start < from);
    setAttribute(element, "title", `${bar.owner}: ${count(bar.count, "permit", "permits")}, ${bar.held ? "held for" : ""} ${duration(bar.end - bar.start)}, since ${time(bar.start, to)} (${bar.externalId})`);
  }

  drawMarks(events, from, to) {
    this.marks.hidden = events.length === 0;
    sync(this.marks, events, ({key}) => key, ({kind}) => h("span", {class: `mark ${kind}`}, MARKS[kind]), (element, event) => {
      element.style.left = `${(100 * (event.instant - from) / (to - from)).toFixed(3)}%`;
      setAttribute(element, "title", `${time(event.instant, to)}: ${event.what}, by ${event.by}. ${event.reason}`);
    });
  }

  drawLegend(bars) {
    const requests = new Map();
    bars.forEach(({owner}) => requests.set(owner, (requests.get(owner) ?? 0) + 1));
    const owners = [...requests.keys()].sort((a, b) => requests.get(b) - requests.get(a) || (a < b ? -1 : 1));
    const shown = owners.slice(0, LEGEND).map(owner => ({owner}));
    this.legend.hidden = shown.length === 0;
    sync(this.legend, owners.length > LEGEND ? [...shown, {more: owners.length - LEGEND}] : shown,
      ({owner, more}) => owner ?? `\u0000${more}`,
      ({owner, more}) => owner === undefined ? h("li", {}, `and ${count(more, "other", "others")}`)
        : h("li", {}, coloured(h("span", {class: "swatch", "aria-hidden": "true"}), owner), h("bdi", {}, owner)));
  }

  /** Says below the drawing what the pointer or a finger is on: a bar may be too narrow for a word. */
  point({target}) {
    const element = target.closest(".use, .mark");
    if (element !== null) {
      setText(this.pointed, element.title);
    }
  }

  drawAxis(from, to) {
    const step = TICK_STEPS.find(each => (to - from) / each <= 8) ?? TICK_STEPS.at(-1);
    const offset = new Date(to).getTimezoneOffset() * 60000;
    const ticks = [];
    for (let tick = Math.ceil((from - offset) / step) * step + offset; tick <= to; tick += step) {
      ticks.push(tick);
    }
    sync(this.axis, ticks, tick => tick, tick => h("span", {}, clockMinutes.format(tick)), (element, tick) => {
      const place = 100 * (tick - from) / (to - from);
      element.style.left = `${place.toFixed(3)}%`;
      element.classList.toggle("edge", place > 94 || place < 6);
    });
  }

  tabulate(bars, now) {
    this.table.show([...bars].reverse(), ({externalId}) => externalId,
      () => [h("div", {}, h("bdi", {class: "strong"}), h("bdi", {class: "code"})), h("span"), h("time"), h("span"), h("span")],
      ([who, permits, begin, end, held], bar) => {
        setText(who.firstChild, bar.owner);
        setText(who.lastChild, bar.externalId);
        setText(permits, numbers.format(bar.count));
        setTime(begin, bar.acquiredAt, now);
        setText(end, bar.held ? "still held" : time(bar.end, now));
        setText(held, duration(bar.end - bar.start));
      });
  }
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

/** The capacity within a period as steps, from the changes, newest first, and what it is now. What is older than all changes is unknown if
 * they are only the latest. */
function capacitiesOf(changes, now, from, to) {
  const steps = changes.filter(({forcedRelease}) => forcedRelease === undefined)
    .map(change => ({...change, instant: Date.parse(change.changedAt)}));
  const points = [[to, now]];
  for (const {from: before, to: after, instant} of steps) {
    if (instant <= from) {
      points.push([from, after]);
      return points.reverse();
    }
    points.push([Math.min(instant, to), after], [Math.min(instant, to), before]);
  }
  points.push([changes.length < HISTORY ? from : Math.max(from, Date.parse(changes.at(-1).changedAt)), points.at(-1)[1]]);
  return points.reverse();
}

/** Gives an element the colour of an owner: by the name, so that it is the same in each view, browser and year. */
function coloured(element, owner) {
  let hash = 2166136261; // FNV-1a, then mixed, since names often differ in their last character only
  for (const byte of new TextEncoder().encode(owner)) {
    hash = Math.imul(hash ^ byte, 16777619);
  }
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  element.style.setProperty("--hue", String(((hash ^ hash >>> 16) >>> 0) % 360));
  return element;
}
