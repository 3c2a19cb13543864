// How many permits of a semaphore were held, as the database has it: below the capacity, with the time for which it is full or somebody
// waits, and the marks of what happened.

const PERIODS = {"5m": "5 minutes", "15m": "15 minutes", "1h": "hour", "6h": "6 hours", "24h": "24 hours"};
/** The shortest time that is drawn. */
const MIN_SPAN = 300000;
const TICK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map(minutes => minutes * 60000);
const MARKS = {change: "◆", forced: "✕", reclaim: "↩"};

class Chart {

  constructor(changed) {
    this.period = h("select", {id: "period", onchange: changed},
      ...Object.entries(PERIODS).map(([value, label]) => h("option", {value, selected: value === "1h"}, label)));
    this.words = h("p", {class: "summary"});
    this.svg = svg("svg", {class: "held-curve", viewBox: "0 0 100 40", preserveAspectRatio: "none"},
      svg("rect", {class: "full", height: 40}), svg("path", {class: "area"}), svg("path", {class: "line"}),
      svg("path", {class: "limit"}));
    this.top = h("span", {class: "top"});
    this.waited = h("div", {class: "waited"});
    this.marks = h("div", {class: "marks", onclick: event => this.point(event), onpointerover: event => this.point(event)});
    this.axis = h("div", {class: "axis"});
    this.drawing = h("div", {class: "timeline", role: "img"}, this.svg, this.top, this.waited, this.marks, this.axis);
    this.pointed = h("p", {class: "pointed", "aria-hidden": "true"});
    this.element = h("section", {"aria-labelledby": "chart-title"},
      h("div", {class: "titled"}, h("h2", {id: "chart-title"}, "Held in the last"),
        h("label", {for: "period", class: "hidden"}, "Period"), this.period),
      this.words, this.drawing, this.pointed);
  }

  /** Draws it, and returns the time that is drawn: it begins where there is something to see. */
  show(history, semaphore, events) {
    const [from, to, since] = [history.from, history.to, history.since].map(each => Date.parse(each));
    const steps = history.steps.map(step => ({...step, instant: Date.parse(step.at)}));
    const happened = events.filter(({instant}) => instant >= from && instant <= to);
    const first = Math.min(steps.find(({held}) => held > 0)?.instant ?? to, happened[0]?.instant ?? to);
    const begin = Math.max(from, Math.min(first - (to - first) / 30, to - MIN_SPAN));
    const most = Math.max(...steps.map(({held}) => held));
    this.drawing.hidden = most === 0 && happened.length === 0;
    setText(this.words, this.inWords(most, semaphore, history, since > from ? since : undefined, to));
    setAttribute(this.drawing, "aria-label", this.words.textContent);
    this.draw(steps, history.fullSince, begin, to);
    this.svg.firstChild.classList.toggle("awaited", semaphore.waitingSince !== undefined);
    this.waited.hidden = semaphore.waitingSince === undefined;
    place(this.waited, Date.parse(semaphore.waitingSince), to, begin, to);
    this.drawMarks(happened, begin, to);
    drawAxis(this.axis, begin, to);
    return [begin, to];
  }

  inWords(most, semaphore, {from, fullSince}, since, to) {
    const period = `in the last ${PERIODS[this.period.value]}`;
    return [most === 0 ? `Nobody held permits ${period}.` : `At most ${count(most, "permit was", "permits were")} held at once ${period}.`,
      fullSince === undefined || semaphore.available > 0 ? "" : fullSince === from ? "None was available in all that time."
        : `None has been available since ${time(Date.parse(fullSince), to)}.`,
      semaphore.waitingSince === undefined ? "" : `Somebody has waited since ${time(Date.parse(semaphore.waitingSince), to)}.`,
      since === undefined ? "" : `There were too many requests to count them before ${time(since, to)}.`]
      .filter(part => part !== "").join(" ");
  }

  draw(steps, fullSince, from, to) {
    const top = Math.max(1, ...steps.map(({held, capacity}) => Math.max(held, capacity)));
    const x = instant => 100 * (Math.max(instant, from) - from) / (to - from);
    const lineOf = height => `${stepsOf(steps.map(step => [x(step.instant), 39 - 37 * height(step) / top]))}H100`;
    const line = lineOf(({held}) => held);
    const [full, area, curve, limit] = this.svg.children;
    setAttribute(curve, "d", line);
    setAttribute(area, "d", `${line}V40H${x(steps[0].instant).toFixed(2)}Z`);
    setAttribute(limit, "d", lineOf(({capacity}) => capacity));
    const begun = fullSince === undefined ? 100 : x(Date.parse(fullSince));
    setAttribute(full, "x", begun.toFixed(2));
    setAttribute(full, "width", (100 - begun).toFixed(2));
    setText(this.top, numbers.format(top));
  }

  drawMarks(events, from, to) {
    this.marks.hidden = events.length === 0;
    sync(this.marks, events, ({key}) => key, ({kind}) => h("span", {class: `mark ${kind}`}, MARKS[kind]), (element, event) => {
      element.style.left = `${(100 * (event.instant - from) / (to - from)).toFixed(3)}%`;
      setAttribute(element, "title", `${time(event.instant, to)}: ${event.what}, by ${event.by}. ${event.reason}`);
    });
  }

  point({target}) {
    const mark = target.closest(".mark");
    if (mark !== null) {
      setText(this.pointed, mark.title);
    }
  }
}

/** A line that keeps its height until the next point that has another one. */
function stepsOf(points) {
  let path = `M${points[0][0].toFixed(2)} ${points[0][1].toFixed(2)}`;
  let height = points[0][1];
  for (const [x, y] of points) {
    if (y !== height) {
      path += `H${x.toFixed(2)}V${y.toFixed(2)}`;
      height = y;
    }
  }
  return path;
}

/** Places an element between two times. */
function place(element, start, end, from, to) {
  const left = Math.max(0, (start - from) / (to - from));
  const right = Math.min(1, (end - from) / (to - from));
  element.style.left = `${(100 * left).toFixed(3)}%`;
  element.style.width = `${(100 * (right - left)).toFixed(3)}%`;
}

function drawAxis(axis, from, to) {
  const step = TICK_STEPS.find(each => (to - from) / each <= 8) ?? TICK_STEPS.at(-1);
  const offset = new Date(to).getTimezoneOffset() * 60000;
  const ticks = [];
  for (let tick = Math.ceil((from - offset) / step) * step + offset; tick <= to; tick += step) {
    ticks.push(tick);
  }
  sync(axis, ticks, tick => tick, tick => h("span", {}, clockMinutes.format(tick)), (element, tick) => {
    const place = 100 * (tick - from) / (to - from);
    element.style.left = `${place.toFixed(3)}%`;
    element.classList.toggle("edge", place > 94 || place < 6);
  });
}
