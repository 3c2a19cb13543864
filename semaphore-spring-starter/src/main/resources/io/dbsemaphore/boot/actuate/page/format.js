// Numbers and times in words.

const numbers = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", {hour: "2-digit", minute: "2-digit", second: "2-digit"});
const dayAndClock = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit"
});

const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

function count(number, one, many) {
  return `${numbers.format(number)} ${number === 1 ? one : many}`;
}

/** A duration by its two largest units: 3 min 20 s. */
function duration(milliseconds) {
  let seconds = Math.max(0, Math.round(milliseconds / 1000));
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  if (first < 0) {
    return "0 s";
  }
  return UNITS.slice(first, first + 2).map(([unit, size]) => {
    const many = Math.floor(seconds / size);
    seconds -= many * size;
    return many > 0 ? `${many} ${unit}` : "";
  }).filter(part => part !== "").join(" ");
}

/** A time of the day; with the date unless it is less than half a day away. */
function time(instant, now) {
  const near = Math.abs(now - instant) < 43200000;
  return (near ? clock : dayAndClock).format(instant);
}

/** An element with a time and how long ago it was, or will be. */
function timeElement() {
  return h("time");
}

function setTime(element, text, now, past) {
  const instant = Date.parse(text);
  setAttribute(element, "datetime", text);
  setAttribute(element, "title", dayAndClock.format(instant));
  setText(element, past ? `${duration(now - instant)} ago` : time(instant, now));
}
