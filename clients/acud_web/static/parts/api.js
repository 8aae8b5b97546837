// The gateway's API: JSON in, JSON out, and one kind of error.

export class ApiError extends Error {
  // `status` 0: the gateway did not answer at all.
  /** @param {number} status @param {string} code @param {string} error */
  constructor(status, code, error, hint = "") {
    super(error);
    this.status = status;
    this.code = code;
    this.error = error;
    this.hint = hint;
    /** Of several actions: how many were done before the one that failed. @type {number | undefined} */
    this.done = undefined;
  }
}

/** Tell whether `fault` is of the way to the daemon, or of a daemon that is gone or busy.
 * @param {any} fault
 */
export const isAway = (fault) => fault?.status === 0 || fault?.code === "daemon_down" || fault?.code === "daemon_busy";

/** Return the answer, or `without` where this access token may not ask for it.
 * @template Answer, Without @param {Promise<Answer>} answer @param {Without} without @returns {Promise<Answer | Without>}
 */
export async function allowed(answer, without) {
  return answer.catch((/** @type {any} */ fault) => (fault.status === 403 ? without : Promise.reject(fault)));
}

const ANSWER_MS = 20000;

/** @param {string} method @param {string} path @param {any} body @param {AbortSignal} [signal]
 * @param {number} [answerMs]
 */
async function ask(method, path, body, signal, answerMs) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-Acud"] = "1";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return answered(await fetched(method, path, headers, body, signal, answerMs), method, path);
}

/** @param {string} method @param {string} path @param {Record<string, string>} headers @param {any} body
 * @param {AbortSignal} [signal] @param {number} [answerMs]
 */
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
  } catch (/** @type {any} */ fault) {
    if (signal?.aborted) throw fault;
    if (fault.name === "TimeoutError") throw heard(new ApiError(0, "unreachable", `the gateway gave no answer within ${withinMs / 1000} s`, "try it again"));
    throw heard(new ApiError(0, "unreachable", "the gateway does not answer", "start it: acud daemon start"));
  }
}

/** @param {Response} answer @param {string} method @param {string} path */
async function answered(answer, method, path) {
  let body = null;
  try {
    body = await answer.json();
  } catch {
    if (answer.ok) throw new ApiError(answer.status, "malformed", `${method} ${path} gave no JSON`);
  }
  if (answer.ok) return body;
  const error = new ApiError(answer.status, body?.code ?? "", body?.error ?? `HTTP ${answer.status}`, body?.hint ?? "");
  error.done = body?.done;
  throw heard(error);
}

/** @type {Set<(error: ApiError) => void>} */
const listeners = new Set();

/** @param {ApiError} error */
function heard(error) {
  for (const listener of listeners) listener(error);
  return error;
}

// Send `body`, and call `heard` with each line of JSON of the answer as it comes. Rejects with an ApiError, also where the
// answer ends before its last line (`done`); resolves once it has ended, when the next one may begin.
/** @param {string} path @param {object} body @param {(line: any) => void} heard @param {AbortSignal} [signal] */
async function stream(path, body, heard, signal) {
  const headers = { Accept: "application/x-ndjson", "X-Acud": "1", "Content-Type": "application/json" };
  const cut = () => new ApiError(0, "unreachable", "the answer ended before it was whole", "try it again");
  try {
    const answer = await fetch(path, { method: "POST", headers, credentials: "same-origin", cache: "no-store", body: JSON.stringify(body), signal });
    if (!answer.ok) return await answered(answer, "POST", path);
    const bytes = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (answer.body);
    const reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
    let done = null;
    for (let rest = "", part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines.map((one) => JSON.parse(one))) {
        if (line.type === "done") done = line;
        else heard(line);
      }
    }
    if (done) return done;
  } catch (/** @type {any} */ fault) {
    if (signal?.aborted || fault instanceof ApiError) throw fault;
    throw cut();
  }
  throw cut();
}

// A query without its empty values; a list is its name several times.
/** @template {string} Path @param {Path} path @param {Record<string, unknown>} values @returns {Path} typed as the bare path */
export function query(path, values) {
  const rows = Object.entries(values).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  const given = rows.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return /** @type {Path} */ (given.length ? `${path}?${new URLSearchParams(given.map(([name, value]) => [String(name), String(value)]))}` : path);
}

export const api = {
  /** @template {string} Path @param {Path} path @param {AbortSignal} [signal] @param {number} [answerMs]
   * @returns {Promise<AnswerTo<Path, Api.Gets>>} */
  get: (path, signal, answerMs) => ask("GET", path, undefined, signal, answerMs),
  /** @template {string} Path @param {Path} path @param {object} [body] @param {AbortSignal} [signal]
   * @returns {Promise<AnswerTo<Path, Api.Posts>>} */
  post: (path, body, signal) => ask("POST", path, body, signal),
  stream,
  /** @param {string} path @param {AbortSignal} [signal] */
  del: (path, signal) => ask("DELETE", path, undefined, signal),
  // A picture as {blob, etag}, or null while it is the one that `etag` names.
  /** @param {string} path @param {string | null} etag @param {AbortSignal} [signal] */
  async picture(path, etag, signal) {
    const answer = await fetched("GET", path, etag ? { "If-None-Match": etag } : {}, undefined, signal);
    if (answer.status === 304) return null;
    if (!answer.ok) return answered(answer, "GET", path);
    return { blob: await answer.blob(), etag: answer.headers.get("ETag") };
  },
  /** @param {string} path */
  ws(path) {
    const url = new URL(path, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    return socket;
  },
  // `listener` gets every ApiError (a session that is over, for one).
  /** @param {(error: ApiError) => void} listener */
  onError(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
