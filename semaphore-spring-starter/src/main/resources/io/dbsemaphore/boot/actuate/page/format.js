// Numbers and times in words.

const numbers = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", {hour: "2-digit", minute: "2-digit", second: "2-digit"});
const clockMinutes = new Intl.DateTimeFormat("en-GB", {hour: "2-digit", minute: "2-digit"});
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

/** Shows a time. */
function setTime(element, text, now) {
  setInstant(element, text);
  setText(element, time(Date.parse(text), now));
}

/** Shows how long ago a time was. */
function setAge(element, text, now, suffix = "") {
  setInstant(element, text);
  setText(element, duration(now - Date.parse(text)) + suffix);
}

function setInstant(element, text) {
  if (element.dateTime !== text) {
    element.dateTime = text;
    element.title = dayAndClock.format(Date.parse(text));
  }
}
