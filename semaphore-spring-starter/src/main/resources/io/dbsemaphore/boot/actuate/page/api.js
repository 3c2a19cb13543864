// The requests to the endpoint. The name of a semaphore is always a query parameter: paths with an encoded slash are refused
// by many servers.

const TIMEOUT = 10000;
const REFRESH = 6000;
/** How long the parameters of a forced release may be: servers accept 8 KB (Tomcat, by default), with all headers and cookies. */
const MAX_QUERY = 4000;
const endpoint = location.pathname.replace(/\/+$/, "");
const is = name => document.body.dataset[name] === "true";
const mayWrite = is("writable") && is("signedIn");
const may = {setCapacity: mayWrite && is("setCapacity"), forceRelease: mayWrite && is("forceRelease")};

/** Why buttons are missing, and what shows them; empty if none is. */
function missingButtons() {
  if (may.setCapacity && may.forceRelease) {
    return "";
  }
  if (!is("writable")) {
    return "This page only shows: management.endpoint.semaphores.access (or management.endpoints.access) is read-only.";
  }
  const off = [is("setCapacity") ? "" : "changes capacities with management.endpoint.semaphores.set-capacity-enabled=true",
    is("forceRelease") ? "" : "releases by force with management.endpoint.semaphores.force-release-enabled=true"]
    .filter(part => part !== "").join(", and ");
  return [off === "" ? "" : `This page ${off}.`,
    is("signedIn") ? "" : "Only users who have signed in may change anything, unless management.endpoint.semaphores.anonymous-write-enabled=true."]
    .filter(part => part !== "").join(" ");
}

/** A request that failed, in words for the operator. */
class RequestError extends Error {}

function get(path, parameters) {
  return request("GET", path, parameters);
}

function setCapacity(name, capacity, reason) {
  return request("POST", "", {}, {name, capacity: String(capacity), reason});
}

/** Sends the reason in the address: Spring Boot reads no body of a DELETE. */
async function forceRelease(name, externalId, reason) {
  const room = MAX_QUERY - encodedLength({name, externalId, reason: ""});
  const needed = encodedLength({reason}) - "reason=".length;
  if (needed > room) {
    const fitting = Math.floor(reason.length * room / needed);
    throw new RequestError(`The reason is too long: it is sent in the address, where letters other than a to z take more room. Shorten it to about ${count(fitting, "character", "characters")}. Nothing was released.`);
  }
  return request("DELETE", "", {name, externalId, reason});
}

function encodedLength(parameters) {
  return new URLSearchParams(parameters).toString().length;
}

/** What changes slowly, or costs more: it is read again after some seconds only, or for another key. */
class Refreshed {

  constructor(read) {
    this.read = read;
    this.forget();
  }

  async get(key) {
    if (key !== this.key || performance.now() - this.readAt >= REFRESH) {
      const data = await this.read(key);
      Object.assign(this, {key, data, readAt: performance.now()});
    }
    return this.data;
  }

  forget() {
    this.readAt = -Infinity;
  }
}

async function request(method, path, parameters, body) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined)).toString();
  const headers = {"Accept": "application/json", "X-Requested-With": "XMLHttpRequest"};
  if (method !== "GET") {
    Object.assign(headers, csrf());
  }
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
  }
  try {
    const response = await fetch(endpoint + path + (query === "" ? "" : `?${query}`), {
      method, headers, cache: "no-store", credentials: "same-origin",
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT)
    });
    return await answer(response, method);
  } catch (failure) {
    throw failure instanceof RequestError ? failure : new RequestError(failure.name === "TimeoutError"
      ? `The application did not answer within ${TIMEOUT / 1000} seconds.`
      : "The application cannot be reached, or its answer broke off.");
  }
}

async function answer(response, method) {
  const type = response.headers.get("Content-Type") ?? "";
  const content = type.includes("json") ? await response.json() : null;
  if (response.ok && content !== null) {
    return content;
  }
  throw new RequestError(inWords(response, content, method));
}

function inWords(response, content, method) {
  const detail = content?.detail;
  switch (response.status) {
    case 200:
      return "Instead of data the application sent another page, probably a login form. Reload this page to sign in.";
    case 401:
      return "You are not signed in, or your session has ended. Reload this page to sign in.";
    case 403:
      return detail ?? (method === "GET"
        ? "You are not allowed to see this. Ask for access to the Actuator endpoint 'semaphores'."
        : "You are not allowed to do this, or your session has ended. Nothing was changed. Reload this page and try again; if that does not help, ask for write access to the Actuator endpoint 'semaphores'.");
    case 404:
      return detail ?? "The endpoint is not there any more.";
    case 405:
      return "This operation is switched off: the access to the endpoint is read-only. Nothing was changed.";
    default:
      return detail ?? (response.status >= 500
        ? `The application could not answer (HTTP ${response.status}). Its database may be unreachable; its log says more.`
        : `The application refused the request (HTTP ${response.status}).`);
  }
}

/** The header that Spring Security expects of a request that changes something. */
function csrf() {
  const {csrfHeader, csrfToken} = document.body.dataset;
  if (csrfToken !== "") {
    return {[csrfHeader]: csrfToken};
  }
  const cookie = document.cookie.split("; ").find(each => each.startsWith("XSRF-TOKEN="));
  return cookie === undefined ? {} : {[csrfHeader]: decodeURIComponent(cookie.slice("XSRF-TOKEN=".length))};
}
