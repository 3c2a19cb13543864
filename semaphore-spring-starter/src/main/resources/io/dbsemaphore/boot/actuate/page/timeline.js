// Who held permits when: a bar for each request, in as few lanes as possible, below the curve of all of them.

const PERIODS = {"5m": 5, "15m": 15, "1h": 60, "6h": 360, "24h": 1440};
const PERIOD_NAMES = {"5m": "5 minutes", "15m": "15 minutes", "1h": "1 hour", "6h": "6 hours", "24h": "24 hours"};
const REQUESTS = 500;
const LANES = 30;
const TICK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map(minutes => minutes * 60000);
const REFRESH = 6000;

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
    this.lanes = h("div", {class: "lanes"});
    this.drawing = h("div", {class: "timeline", role: "img"}, this.chart, this.lanes, this.axis);
    this.table = new Table("Requests", ["Owner and external id", "Permits", "From", "To", "Held for"]);
    this.details = h("details", {ontoggle: () => this.view.redraw()}, h("summary", {}, "As a table"), this.table.element);
    this.element = h("section", {"aria-labelledby": "timeline-title"},
      h("h2", {id: "timeline-title"}, "Who held permits when"),
      h("div", {class: "tools"}, h("label", {for: "period"}, "The last"), this.period),
      this.words, this.drawing, this.details);
  }

  /** Reads the requests, less often than the rest of the view: most of them do not change. */
  async load(name) {
    if (performance.now() - this.readAt >= REFRESH) {
      this.data = await get({view: "requests", name, period: this.period.value, limit: REQUESTS});
      this.readAt = performance.now();
    }
    return this.data;
  }

  show({from: begin, to: end, requests}, semaphore) {
    const from = Date.parse(begin);
    const to = Date.parse(end);
    const bars = requests.map(request => ({...request,
      start: Date.parse(request.acquiredAt),
      end: request.releasedAt === undefined || request.releasedAt === null ? to : Date.parse(request.releasedAt),
      held: request.releasedAt === undefined || request.releasedAt === null
    })).sort((a, b) => a.start - b.start);
    const lanes = lanesOf(bars);
    const all = requests.length < REQUESTS;
    setText(this.words, this.inWords(bars, all, lanes));
    this.drawing.hidden = bars.length === 0;
    this.details.hidden = bars.length === 0;
    setAttribute(this.drawing, "aria-label", `${this.words.textContent} The table below has the same data.`);
    this.drawCurve(bars, semaphore.capacity, all ? from : bars[0]?.start ?? from, from, to);
    this.drawLanes(lanes.slice(0, LANES), from, to);
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
    return [all ? `${count(bars.length, "request", "requests")} ${period}` : `The latest ${numbers.format(REQUESTS)} requests ${period}`,
      held === 0 ? "" : `${numbers.format(held)} still held`,
      lanes.length > LANES ? `${numbers.format(LANES)} of ${numbers.format(lanes.length)} lanes drawn` : ""]
      .filter(part => part !== "").join(", ") + ".";
  }

  /** How many permits were held: a step up at each acquire, and down at each release. */
  drawCurve(bars, capacity, since, from, to) {
    const changes = bars.flatMap(({start, end, held, count: permits}) =>
      [[Math.max(start, since), permits], ...(held ? [] : [[end, -permits]])]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    let held = 0;
    const heights = [[since, 0]];
    for (const [instant, change] of changes) {
      held += change;
      heights.push([instant, held]);
    }
    heights.push([to, held]);
    const top = Math.max(1, capacity, ...heights.map(([, height]) => height));
    const y = height => 39 - 37 * height / top;
    const x = instant => 100 * (instant - from) / (to - from);
    const line = stepsOf(heights.map(([instant, height]) => [x(instant), y(height)]));
    const [area, curveLine, limit] = this.chart.children;
    setAttribute(curveLine, "d", line);
    setAttribute(area, "d", `${line}V40H${x(since).toFixed(2)}Z`);
    setAttribute(limit, "d", `M0 ${y(capacity).toFixed(2)}H100`);
  }

  drawLanes(lanes, from, to) {
    sync(this.lanes, lanes.map((bars, index) => ({bars, index})), ({index}) => index,
      () => h("div", {class: "lane"}),
      (lane, {bars}) => sync(lane, bars, ({externalId}) => externalId,
        bar => h("div", {class: `use owner-${colourOf(bar.owner)}`}, h("bdi", {}, bar.owner)),
        (element, bar) => this.place(element, bar, from, to)));
  }

  place(element, bar, from, to) {
    const left = Math.max(0, (bar.start - from) / (to - from));
    const right = Math.min(1, (bar.end - from) / (to - from));
    element.style.left = `${(100 * left).toFixed(3)}%`;
    element.style.width = `${(100 * (right - left)).toFixed(3)}%`;
    element.classList.toggle("still", bar.held);
    element.classList.toggle("earlier", bar.start < from);
    setAttribute(element, "title", `${bar.owner}: ${count(bar.count, "permit", "permits")}, ${bar.held ? "held for" : ""} ${duration(bar.end - bar.start)}, since ${time(bar.start, to)}`);
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

const colours = new Map();

/** One of six colours for each owner; the first six owners differ. */
function colourOf(owner) {
  let colour = colours.get(owner);
  if (colour === undefined) {
    colours.set(owner, colour = colours.size % 6);
  }
  return colour;
}
