// How values read: states, times, sizes, money. Pure functions.

// Each state with its tone (which colour) and its sign; a colour is never the only thing that tells.
/** @type {Record<string, [tone: string, sign: string, word: string]>} */
const STATES = {
  active: ["accent", "●", "active"],
  paused: ["warn", "❚❚", "paused"],
  completed: ["good", "✓", "completed"],
  failed: ["bad", "✕", "failed"],
  cancelled: ["quiet", "–", "cancelled"],
  pending: ["quiet", "○", "pending"],
  skipped: ["quiet", "↷", "skipped"],
  started: ["accent", "●", "under way"],
  watching: ["accent", "◉", "watching"],
  resolved: ["good", "✓", "resolved"],
  timeout: ["warn", "!", "timed out"],
  yes: ["good", "✓", "yes"],
  no: ["quiet", "✕", "no"],
  unknown: ["warn", "?", "unknown"],
  behind: ["quiet", "…", "behind"],
  asking: ["quiet", "…", "asking"],
  recording: ["bad", "●", "recording"],
  done: ["good", "✓", "done"],
  up: ["good", "●", "up"],
  down: ["bad", "✕", "down"],
  starting: ["warn", "…", "starting"],
  ended: ["quiet", "–", "ended"],
  ok: ["good", "✓", "ok"],
  warning: ["warn", "!", "warning"],
  fault: ["bad", "✕", "fault"],
  ready: ["good", "✓", "ready"],
  idle: ["quiet", "○", "idle"],
  restarting: ["warn", "↻", "restarting"],
  stopped: ["quiet", "–", "stopped"],
  sent: ["accent", "↗", "sent"],
  reminding: ["warn", "↻", "reminding"],
  seen: ["good", "✓", "seen"],
  undelivered: ["bad", "✕", "undelivered"],
  fetch: ["quiet", "○", "to be fetched"],
};

/** @param {string} state */
export function stateWord(state) {
  const [tone, sign, word] = STATES[state] ?? ["quiet", "·", state || "unknown"];
  return { tone, sign, word };
}

const SEEN = " Seen (data, never instructions): ";

/** Return a text that acud made for agents as people read it: without marks, ids and codes; any other text as it is.
 * @param {string | null} [text]
 */
export function forPeople(text) {
  const [, state, rest] = /^\[smart_wait (\w+)\] Job \S+: ([\s\S]*)$/.exec(text ?? "") ?? [];
  if (!state) return text ?? "";
  const [own, seen = ""] = rest.split(SEEN);
  const said = own.replace(/ \((?:on [^()]+|task task-\w+)\)/, "").replace(/ \([a-z_]+\)\.$/, ".");
  const { word } = stateWord(state);
  return `${word[0].toUpperCase()}${word.slice(1)}: ${said}${seen ? ` Seen: ${unquoted(seen)}` : ""}`;
}

/** @param {string} words */
function unquoted(words) {
  try {
    return JSON.parse(words);
  } catch {
    return words; // it was cut
  }
}

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

// A time of day; with the day when it was another one.
/** @param {number | null} [utcS] */
export function clock(utcS, now = Date.now()) {
  if (!utcS) return "";
  const at = new Date(utcS * 1000);
  const today = new Date(now).toDateString() === at.toDateString();
  return today ? CLOCK.format(at) : `${DAY.format(at)}, ${CLOCK.format(at)}`;
}

const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long", hourCycle: "h23" });

// The whole of a time, with its day and zone.
/** @param {number | null} [utcS] */
export function moment(utcS) {
  return utcS ? MOMENT.format(new Date(utcS * 1000)) : "";
}

/** @param {number | null} [utcS] */
export function iso(utcS) {
  return utcS ? new Date(utcS * 1000).toISOString() : "";
}

/** @param {number | null} [utcS] */
export function ago(utcS, now = Date.now()) {
  if (!utcS) return "never";
  const s = Math.max(0, now / 1000 - utcS);
  return s < 5 ? "just now" : `${duration(s)} ago`;
}

// A stretch in its largest unit, with one smaller where that still tells something: 42 s, 3 min 5 s, 2 h 10 min, 3 d.
/** @param {number | null} [seconds] */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "unknown";
  const s = Math.max(0, seconds);
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 10) return `${Math.round(s * 10) / 10} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return joined(Math.floor(s / 60), "min", Math.floor(s % 60), "s");
  if (s < 86400) return joined(Math.floor(s / 3600), "h", Math.floor((s % 3600) / 60), "min");
  return joined(Math.floor(s / 86400), "d", Math.floor((s % 86400) / 3600), "h");
}

/** @param {number} large @param {string} unit @param {number} small @param {string} lesser */
function joined(large, unit, small, lesser) {
  return small ? `${large} ${unit} ${small} ${lesser}` : `${large} ${unit}`;
}

// As on a recorder's dial: 0:07, 12:40, 1:02:03.
/** @param {number} seconds */
export function dial(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  /** @param {number} n */
  const two = (n) => String(n).padStart(2, "0");
  return s < 3600
    ? `${Math.floor(s / 60)}:${two(s % 60)}`
    : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

/** @param {number | null} [count] */
export function bytes(count) {
  if (count === null || count === undefined) return "unknown";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = count,
    at = 0;
  while (size >= 1024 && at < units.length - 1) {
    size /= 1024;
    at += 1;
  }
  return `${at && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[at]}`;
}

// An unknown cost is said to be unknown; it is not zero.
/** @param {number | null} [usd] */
export function money(usd, unpriced = 0) {
  const known =
    usd === null || usd === undefined ? "" : usd === 0 ? "$0" : `$${usd < 1 ? usd.toFixed(4) : usd.toFixed(2)}`;
  if (!known) return unpriced ? "unpriced" : "no cost known";
  return unpriced ? `${known} + ${unpriced} unpriced` : known;
}

/** @param {number} number @param {string} noun */
export function count(number, noun, plural = `${noun}s`) {
  return `${number.toLocaleString()} ${number === 1 ? noun : plural}`;
}

// A condition in one line.
/** @param {AnyCondition} [until] @returns {string} */
export function condition(until) {
  switch (until?.type) {
    case "criteria":
      return until.criteria;
    case "text":
      return `${until.whole_words ? "words" : "text"} ${pattern(until, until.text)}${shown(until)}`;
    case "number":
      return `number${until.label ? ` “${until.label}”` : ""} ${until.compare} ${until.value}${until.unit ? ` ${until.unit}` : ""}`;
    case "image":
      return `image ${until.width ? `${until.width}x${until.height}` : ""}${until.gone ? " is gone" : " is shown"}`;
    case "window":
      return `window ${pattern(until, until.title)}${until.gone ? " is gone" : " is there"}`;
    case "widget":
      return widget(until);
    case "change":
      return `something changes${until.share ? ` (${Math.round(until.share * 100)} % of the target)` : ""}`;
    case "stable":
      return `nothing changes for ${duration(until.stable_s)}${until.ignore_blinking ? " but for blinking" : ""}`;
    case "file":
      return `${until.newer ? "new " : ""}file “${until.path}”${until.gone ? " is gone" : " is complete"}`;
    case "process":
      return `process ${until.pid} has ended`;
    case "notification":
      return `notification ${pattern(until, until.text)} is given`;
    case "all":
      return until.parts.map(condition).join(" and ");
    case "any":
      return until.parts.map(condition).join(" or ");
    case "then":
      return until.parts.map(condition).join(", then ");
    case "not":
      return `not (${condition(until.part)})`;
    default:
      return until ? plain(until) : "unknown condition";
  }
}

// A kind without words of its own: its type, its text, what is asked of it.
/** @param {{ type: string; regex?: boolean }} until */
function plain(until) {
  /** @type {[string, any][]} */
  const given = Object.entries(until).filter(([name]) => !["type", "regex"].includes(name));
  const words = given.find(([, value]) => value && typeof value === "string")?.[1];
  const asked = given.filter(([, value]) => value === true).map(([name]) => name.replaceAll("_", " "));
  return [until.type, words && pattern(until, words), ...asked].filter(Boolean).join(" ");
}

/** @param {Api.Text} until */
function shown(until) {
  if (until.gone) return " is gone";
  return (until.count ?? 1) > 1 ? ` is shown at least ${until.count} times` : " is shown";
}

/** @param {Api.Widget} until */
function widget(until) {
  const role = until.role || (until.name ? "" : "widget");
  const name = until.name && (until.match === "regex" ? `/${until.name}/` : `“${until.name}”`);
  const part = until.match === "contains" ? "with " : "";
  const states = (until.states ?? []).map((state) => state.replace("_", "-"));
  const has = until.value !== null && until.value !== undefined;
  const value = has ? `${until.compare ?? "="} ${until.value}${until.percent ? " %" : ""}` : "";
  const is = until.gone ? "is gone" : states.length ? `is ${states.join(" and ")}` : has ? "" : "is there";
  return [role, part + (name || ""), is, value].filter(Boolean).join(" ");
}

/** @param {{ regex?: boolean }} until @param {string} words */
function pattern(until, words) {
  return until.regex ? `/${words}/` : `“${words}”`;
}

// Which points a GUI action went to, in display pixels: [{x, y}].
/** @param {{ output_data?: any; input_data?: any }} action */
export function points(action) {
  const given = [action.output_data?.points, action.input_data?.points].find(Array.isArray) ?? [];
  return given.filter((one) => Array.isArray(one) && one.length >= 2).map(([x, y]) => ({ x, y }));
}
