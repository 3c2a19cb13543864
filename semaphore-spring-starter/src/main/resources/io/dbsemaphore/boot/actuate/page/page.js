// Chooses the view by the address, and updates it.

const INTERVAL = 2000;
const STALE = 3 * INTERVAL;
const SEMAPHORE = "#/semaphore/";
const page = {redraw, update};

const main = document.getElementById("main");
const problem = document.getElementById("problem");
const notice = document.getElementById("notice");
const freshness = document.getElementById("freshness");
const pauseButton = document.getElementById("pause");

let view = null;
let shown = null;      // the data that are shown
let updatedAt = null;  // when they were read
let paused = false;
let timer = 0;
let updates = 0;       // how many have begun

function say(message) {
  setText(notice, message);
}

function viewOfAddress() {
  const hash = location.hash;
  if (hash.startsWith(SEMAPHORE)) {
    try {
      return new SemaphoreView(page, decodeURIComponent(hash.slice(SEMAPHORE.length)));
    } catch {
      return new Overview(page); // not an encoded name
    }
  }
  return hash === "#/instances" ? new Instances() : new Overview(page);
}

function redraw() {
  if (shown !== null) {
    view.show(shown);
  }
}

function open() {
  if (view !== null && location.hash !== "" && !location.hash.startsWith("#/")) {
    return; // a link within the page
  }
  const first = view === null;
  view = viewOfAddress();
  shown = null;
  updatedAt = null;
  document.title = view.title === "Overview" ? "Semaphores" : `${view.title} · Semaphores`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view.constructor.name.toLowerCase()) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
  main.replaceChildren(view.element);
  say("");
  if (!first) {
    main.focus();
  }
  update();
}

/** Reads and shows the data; the next time after a pause. An answer that comes after a later update has begun is ignored. */
async function update() {
  clearTimeout(timer);
  const asked = view;
  const number = ++updates;
  try {
    const data = await asked.load();
    if (number === updates) {
      shown = data;
      updatedAt = Date.now();
      asked.show(data);
      problem.hidden = true;
    }
  } catch (failure) {
    if (number === updates) {
      problem.hidden = false;
      setText(problem, failure instanceof RequestError ? failure.message : `This page has failed: ${failure}`);
    }
  }
  if (number === updates) {
    tell();
    clearTimeout(timer);
    timer = setTimeout(() => paused || document.hidden ? tell() : update(), INTERVAL);
  }
}

/** Says how old the data are. */
function tell() {
  const age = updatedAt === null ? null : Date.now() - updatedAt;
  const state = age === null ? "loading" : paused ? "paused" : age > STALE ? "stale" : "live";
  setAttribute(freshness, "class", state);
  setText(document.getElementById("freshness-text"), {
    loading: "Loading",
    live: "Live",
    paused: `Paused, data of ${duration(age)} ago`,
    stale: `Stale, data of ${duration(age)} ago`
  }[state]);
  main.classList.toggle("old", state === "stale");
}

pauseButton.addEventListener("click", () => {
  paused = !paused;
  setAttribute(pauseButton, "aria-pressed", String(paused));
  if (!paused) {
    update();
  }
  tell();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !paused) {
    update();
  }
});
addEventListener("hashchange", open);
setInterval(tell, 1000);

open();
