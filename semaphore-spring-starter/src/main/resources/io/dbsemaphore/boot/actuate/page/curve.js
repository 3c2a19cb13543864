// The last minutes of each semaphore, as far as this page has seen them.

const REMEMBERED = 300000;
const memory = new Map();

/** Remembers how many permits were held at a time. */
function remember(semaphores, instant) {
  for (const {name, held, capacity} of semaphores) {
    let points = memory.get(name);
    if (points === undefined) {
      memory.set(name, points = []);
    }
    points.push({instant, held, capacity});
    while (points[0].instant < instant - REMEMBERED) {
      points.shift();
    }
  }
  if (memory.size > semaphores.length) {
    const names = new Set(semaphores.map(({name}) => name));
    for (const name of memory.keys()) {
      if (!names.has(name)) {
        memory.delete(name);
      }
    }
  }
}

function curve() {
  return svg("svg", {class: "curve", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true"},
    svg("path", {class: "area"}), svg("path", {class: "line"}));
}

/** Draws the last five minutes; now is at the right. There is a gap where nothing was read for long: while the page was paused, hidden or elsewhere. */
function setCurve(element, name, now) {
  const points = memory.get(name) ?? [];
  const top = Math.max(1, ...points.map(({held, capacity}) => Math.max(held, capacity)));
  const parts = [];
  const x = instant => 100 * (1 - (now - instant) / REMEMBERED);
  let part;
  points.forEach(({instant, held}, index) => {
    const y = 19 - 18 * held / top;
    if (index === 0 || instant - points[index - 1].instant > STALE) {
      parts.push(part = []);
    }
    part.push([x(instant), y]);
    if (index < points.length - 1 && points[index + 1].instant - instant > STALE) {
      part.push([x(instant + STALE), y]);
    }
  });
  setAttribute(element.lastChild, "d", parts.map(stepsOf).join(""));
  setAttribute(element.firstChild, "d", parts.map(part => `${stepsOf(part)}V20H${part[0][0].toFixed(2)}Z`).join(""));
}

/** A line that keeps its height until the next point. */
function stepsOf(points) {
  let path = `M${points[0][0].toFixed(2)} ${points[0][1].toFixed(2)}`;
  let height = points[0][1];
  for (const [x, y] of points) {
    if (y !== height) {
      path += `H${x.toFixed(2)}V${y.toFixed(2)}`;
      height = y;
    }
  }
  return `${path}H${points[points.length - 1][0].toFixed(2)}`;
}
