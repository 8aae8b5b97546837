// Charts as SVG; each has a table beside it that says the same.

import { el, svg } from "./dom.js";
import { clock, duration } from "./words.js";

const [HEIGHT, LEFT, BELOW, ABOVE] = [200, 56, 22, 8];
const MOST_SERIES = 5;

// Stacked bars, `room` pixels wide. `series`: [{name, values}], a value for each label.
/** @param {string[]} labels @param {Series[]} series @param {(amount: number) => string} form
 * @param {number} room
 */
export function bars(labels, series, form, room) {
  const width = Math.max(280, room);
  const shown = folded(series);
  const totals = labels.map((_, at) => shown.reduce((sum, one) => sum + one.values[at], 0));
  const top = ceiling(Math.max(...totals, 0));
  /** @param {number} value */
  const y = (value) => ABOVE + (HEIGHT - ABOVE - BELOW) * (1 - value / top);
  const step = (width - LEFT) / labels.length;
  const grid = [0, 0.5, 1].map((share) => [
    svg("line.line", { x1: LEFT, x2: width, y1: y(share * top), y2: y(share * top) }),
    svg("text", { x: LEFT - 6, y: y(share * top) + 4, "text-anchor": "end" }, form(share * top)),
  ]);
  const every = Math.ceil(labels.length / (width < 500 ? 5 : 8));
  const columns = labels.map((label, at) => {
    let base = 0;
    const rects = shown.map((one, number) => {
      const value = one.values[at];
      base += value;
      return value
        ? svg(
            `rect.series${number}`,
            {
              x: LEFT + at * step + step * 0.15,
              width: step * 0.7,
              y: y(base),
              height: Math.max(1, y(base - value) - y(base)),
            },
            svg("title", {}, `${label} · ${one.name}: ${form(value)}`),
          )
        : null;
    });
    const tag =
      at % every === 0
        ? svg("text", { x: LEFT + (at + 0.5) * step, y: HEIGHT - 6, "text-anchor": "middle" }, label.slice(5))
        : null;
    return [rects, tag];
  });
  const words = `Bars by day, ${shown.map((one) => one.name).join(", ")}; the table below has the numbers`;
  const legend = el(
    "p.legend",
    {},
    shown.map((one, number) =>
      el("span", {}, el("i", { class: `swatch series${number}`, "aria-hidden": "true" }), one.name),
    ),
  );
  return el(
    "figure.chart",
    {},
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": words }, grid, columns),
    legend,
  );
}

// The largest by name, the others as one.
/** @param {Series[]} series */
function folded(series) {
  if (series.length <= MOST_SERIES) return series;
  /** @param {Series} one */
  const size = (one) => one.values.reduce((sum, value) => sum + value, 0);
  const sorted = [...series].sort((a, b) => size(b) - size(a));
  const rest = sorted.slice(MOST_SERIES - 1);
  return [
    ...sorted.slice(0, MOST_SERIES - 1),
    { name: "others", values: rest[0].values.map((_, at) => rest.reduce((sum, one) => sum + one.values[at], 0)) },
  ];
}

/** @param {number} value */
function ceiling(value) {
  if (!value) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5].map((times) => times * power).find((round) => round >= value) ?? 10 * power;
}

const TIMELINE_HEIGHT = 56;

// Verdicts over the life of a wait, one mark each. `marks`: [{utcS, tone, title}].
/** @param {{ utcS: number; tone: string; title: string }[]} marks @param {Api.WaitInfo} wait */
export function timeline(marks, wait) {
  const begin = wait.created_utc_s;
  const end = Math.max(wait.ended_utc_s || Date.now() / 1000, marks.at(-1)?.utcS ?? 0, begin + 1);
  /** @param {number} utcS */
  const x = (utcS) => 6 + ((utcS - begin) / (end - begin)) * (1000 - 12);
  const drawn = marks.map((mark) =>
    svg(
      `rect`,
      {
        class: `mark ${mark.tone}`,
        x: x(mark.utcS) - 4,
        y: mark.tone === "good" ? 8 : mark.tone === "warn" ? 18 : 26,
        width: 8,
        height: mark.tone === "good" ? 40 : mark.tone === "warn" ? 30 : 22,
        rx: 2,
      },
      svg("title", {}, mark.title),
    ),
  );
  const tally = [["good", "yes"], ["quiet", "no"], ["warn", "unknown"]]
    .map(([tone, name]) => ({ tone, name, many: marks.filter((mark) => mark.tone === tone).length }))
    .filter(({ many }) => many);
  const words = `Verdicts over ${duration(end - begin)}: ${tally.map(({ name, many }) => `${many} ${name}`).join(", ")}`;
  return el(
    "figure.timeline",
    {},
    svg(
      "svg",
      { viewBox: `0 0 1000 ${TIMELINE_HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": words },
      svg("line.axis", { x1: 0, x2: 1000, y1: 48, y2: 48 }),
      drawn,
    ),
    el("p.scale", {}, el("span", {}, clock(begin)), el("span", {}, wait.ended_utc_s ? clock(end) : "now")),
    el(
      "p.legend",
      {},
      tally.map(({ tone, name, many }) =>
        el("span", {}, el("i", { class: `swatch ${tone}`, "aria-hidden": "true" }), `${many} ${name}`),
      ),
    ),
  );
}
