// The gateway's API: JSON in, JSON out, and one kind of error.

export class ApiError extends Error {
  // `status` 0: the gateway did not answer at all.
  constructor(status, code, error, hint = "") {
    super(error);
    this.status = status;
    this.code = code;
    this.error = error;
    this.hint = hint;
  }
}

/** Tell whether `fault` is of the way to the daemon, or of a daemon that is gone or busy. */
export const isAway = (fault) => fault?.status === 0 || fault?.code === "daemon_down" || fault?.code === "daemon_busy";

const ANSWER_MS = 20000;

async function ask(method, path, body, signal, answerMs) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-Acud"] = "1";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return answered(await fetched(method, path, headers, body, signal, answerMs), method, path);
}

async function fetched(method, path, headers, body, signal, answerMs = ANSWER_MS) {
  const withinMs = answerMs + 1000 * (body?.block_s ?? 0);
  try {
    const patience = AbortSignal.timeout(withinMs);
    return await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    });
  } catch (fault) {
    if (signal?.aborted) throw fault;
    if (fault.name === "TimeoutError") throw heard(new ApiError(0, "unreachable", `the gateway gave no answer within ${withinMs / 1000} s`, "try it again"));
    throw heard(new ApiError(0, "unreachable", "the gateway does not answer", "start it: acud daemon start"));
  }
}

async function answered(answer, method, path) {
  let body = null;
  try {
    body = await answer.json();
  } catch {
    if (answer.ok) throw new ApiError(answer.status, "malformed", `${method} ${path} gave no JSON`);
  }
  if (answer.ok) return body;
  const error = new ApiError(answer.status, body?.code ?? "", body?.error ?? `HTTP ${answer.status}`, body?.hint ?? "");
  error.done = body?.done; // of several actions: how many were done before the one that failed
  throw heard(error);
}

const listeners = new Set();

function heard(error) {
  for (const listener of listeners) listener(error);
  return error;
}

// Send `body`, and call `heard` with each line of JSON of the answer as it comes. Rejects with an ApiError, also where the
// answer ends before its last line (`done`); resolves once it has ended, when the next one may begin.
async function stream(path, body, heard, signal) {
  const headers = { Accept: "application/x-ndjson", "X-Acud": "1", "Content-Type": "application/json" };
  const cut = () => new ApiError(0, "unreachable", "the answer ended before it was whole", "try it again");
  try {
    const answer = await fetch(path, { method: "POST", headers, credentials: "same-origin", cache: "no-store", body: JSON.stringify(body), signal });
    if (!answer.ok) return await answered(answer, "POST", path);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let done = null;
    for (let rest = "", part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop();
      for (const line of lines.map((one) => JSON.parse(one))) {
        if (line.type === "done") done = line;
        else heard(line);
      }
    }
    if (done) return done;
  } catch (fault) {
    if (signal?.aborted || fault instanceof ApiError) throw fault;
    throw cut();
  }
  throw cut();
}

// A query without its empty values; a list is its name several times.
export function query(path, values) {
  const rows = Object.entries(values).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  const given = rows.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return given.length ? `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : path;
}

export const api = {
  get: (path, signal, answerMs) => ask("GET", path, undefined, signal, answerMs),
  post: (path, body, signal) => ask("POST", path, body, signal),
  stream,
  del: (path, signal) => ask("DELETE", path, undefined, signal),
  // A picture as {blob, etag}, or null while it is the one that `etag` names.
  async picture(path, etag, signal) {
    const answer = await fetched("GET", path, etag ? { "If-None-Match": etag } : {}, undefined, signal);
    if (answer.status === 304) return null;
    if (!answer.ok) return answered(answer, "GET", path);
    return { blob: await answer.blob(), etag: answer.headers.get("ETag") };
  },
  ws(path) {
    const url = new URL(path, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    return socket;
  },
  // `listener` gets every ApiError (a session that is over, for one).
  onError(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
