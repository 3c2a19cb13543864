// What is wrong with a semaphore: its place in the overview, its colour, and its words.

const LONG = 60000;
const TROUBLES = ["late", "waiting", "paused", "over"];

/** Adds the trouble of a semaphore, and its place among those with the same. */
function judged(semaphore, now) {
  const {capacity, held, waiting, waitingSince, heldSince, pausedCapacity} = semaphore;
  const waits = waiting > 0 && waitingSince !== undefined ? now - Date.parse(waitingSince) : undefined;
  const kind = waits > LONG ? "late" : waiting > 0 ? "waiting" : capacity === 0 ? "paused" : held > capacity ? "over"
    : semaphore.available === 0 ? "full" : "open";
  const state = capacity === 0 ? `paused${pausedCapacity === undefined ? "" : `, was ${numbers.format(pausedCapacity)}`}`
    : held > capacity ? `${numbers.format(held - capacity)} over capacity`
    : semaphore.available === 0 ? "full" : `${numbers.format(semaphore.available)} available`;
  const rank = TROUBLES.indexOf(kind);
  const since = Date.parse(waits !== undefined ? waitingSince : heldSince);
  return {...semaphore, kind, state, waits, isTrouble: rank >= 0,
    rank: rank >= 0 ? rank : held > 0 ? TROUBLES.length : TROUBLES.length + 1,
    since: now - since > LONG ? since : now};
}

/** The worst first; of the same kind those that last longest, from a minute on: what changes more often would move the rows. */
function byTrouble(a, b) {
  return a.rank - b.rank || a.since - b.since || byName(a, b);
}

/** With numbers by their value: job-2 is before job-10. */
function byName(a, b) {
  const [one, other] = [naturalKey(a.name), naturalKey(b.name)];
  return one < other ? -1 : one > other ? 1 : a.name < b.name ? -1 : 1;
}

const naturalKeys = new Map();

/** A text with the order of code units: each number has its length before it. */
function naturalKey(name) {
  let key = naturalKeys.get(name);
  if (key === undefined) {
    key = name.replace(/0*(\d+)/g, (number, digits) => String.fromCharCode(48 + digits.length) + digits);
    naturalKeys.set(name, key);
  }
  return key;
}

/** What is told of the time: how long the first caller has waited, or the oldest holder has held. */
function ageInWords({waits, heldSince}, now) {
  return waits !== undefined ? `longest wait ${duration(waits)}`
    : heldSince !== undefined ? `oldest ${duration(now - Date.parse(heldSince))}` : "";
}
