// The kept pictures of a wait: before and after under a slider, what differs, and a film strip of what was seen when.

import { api } from "./api.js";
import { lightbox } from "./dialog.js";
import { el, fill, svg } from "./dom.js";
import { drawThumbnails, filmed, momentOf } from "./moments.js";
import { badge, when } from "./widgets.js";
import { clock } from "./words.js";

/** @type {Record<string, string>} */
const AFTER = {
  resolved: "When it was decided",
  timeout: "The last picture",
  failed: "The last picture",
};
/** @type {EvidencePart[]} */
const PARTS = [
  ["after", AFTER.resolved],
  ["before", "Before"],
  ["diff", "What differs"],
];
/** @type {Record<string, string>} */
const OUTLINED = { change: "what changed", stable: "what kept moving", window: "the window" };
const THUMB_PX = 240;
const MOST_FILMED = 40;
const MOST_SHOTS = 200;

/** @param {string} waitId @param {string} part */
function url(waitId, part, stage = 0, number = 0) {
  const which = `${stage ? `&stage=${stage}` : ""}${number ? `&number=${number}` : ""}`;
  return `/api/waits/${encodeURIComponent(waitId)}/evidence?part=${part}${which}`;
}

/** @param {string} waitId @param {EvidencePart[]} [parts] */
export function evidencePictures(waitId, parts = PARTS) {
  return parts.map(([part, title, boxes, size]) => ({
    title,
    node: () => picture(url(waitId, part), `${title}: the watched part of the screen`, boxes, size),
  }));
}

/** @param {string} src @param {string} alt @param {Api.Rect[]} [boxes]
 * @param {{ width: number; height: number } | null} [size]
 */
function picture(src, alt, boxes = [], size = null) {
  const image = el("img", { src, alt, decoding: "async" });
  const place = el("div.marked", {}, image, size ? matchBoxes(boxes, size) : null);
  image.addEventListener("error", () => fill(place, el("p.nothing", {}, "This picture was not kept.")), { once: true });
  return place;
}

// Outlines of [x, y, w, h] over a picture of `width` by `height`; null for none.
/** @param {Api.Rect[]} boxes @param {{ width: number; height: number }} given @param {number[]} [at] */
export function matchBoxes(boxes, { width, height }, at = [0, 0]) {
  if (!boxes.length || !width || !height) return null;
  const words = `What was found, at ${boxes.map(([x, y, w, h]) => `${x}, ${y} (${w} × ${h})`).join("; ")}`;
  const rects = boxes.flatMap(([x, y, w, h]) =>
    ["halo", "match"].map((kind) =>
      svg(`rect.${kind}`, { x: x + at[0] - 2, y: y + at[1] - 2, width: w + 4, height: h + 4 }),
    ),
  );
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": words }, rects);
}

// ---- the end -----------------------------------------------------------------------------------------------------------

// What was kept of the end, large and as thumbnails, and in words what was not.
/** @param {Api.WaitInfo} wait */
export function evidenceNode(wait) {
  const kept = wait.evidence;
  if (!kept)
    return el(
      "p.muted",
      {},
      wait.state === "watching" ? "Pictures are kept when the wait ends." : "No picture was kept.",
    );
  const boxes = wait.verdict.boxes ?? [];
  /** @type {EvidencePart} */
  const after = ["after", AFTER[wait.state] ?? AFTER.resolved, boxes, kept];
  const parts = kept.name ? [after, ...(kept.before ? PARTS.slice(1) : [])] : [];
  const missing = [
    kept.name ? "" : kept.reason || "no picture of the deciding frame",
    kept.before ? "" : kept.before_reason,
  ].filter(Boolean);
  // One picture alone is opened by itself.
  const thumbs = (kept.before ? parts : []).map(([part, title], at) =>
    el(
      "button",
      {
        type: "button",
        "aria-label": `${title}: open`,
        "data-focus": `evidence-${part}`,
        onclick: () => lightbox(evidencePictures(wait.wait_id, parts), at),
      },
      el("img", { src: url(wait.wait_id, part), alt: "", loading: "lazy", decoding: "async" }),
      el("span.small", {}, title),
    ),
  );
  const proof = kept.identity
    ? el(
        "details.muted.small.breaks",
        {},
        el("summary", {}, "Proof"),
        `Frame ${kept.frame} of ${kept.display}, epoch ${kept.epoch} · identity `,
        el("code", {}, kept.identity),
      )
    : null;
  return el(
    "div.grid",
    {},
    kept.name ? large(wait, kept, boxes) : null,
    thumbs.length ? el("div.evidence", {}, thumbs) : null,
    missing.length ? el("p.muted.small", {}, `Not kept: ${missing.join("; ")}`) : null,
    proof,
  );
}

/** @param {Api.WaitInfo} wait @param {Api.Evidence} kept @param {Api.Rect[]} boxes */
function large(wait, kept, boxes) {
  const after = AFTER[wait.state] ?? AFTER.resolved;
  if (!kept.before)
    return el(
      "figure.seen",
      {},
      el(
        "button.open",
        {
          type: "button",
          "aria-label": `${after}: open`,
          "data-focus": "evidence-after",
          onclick: () => lightbox(evidencePictures(wait.wait_id, [["after", after, boxes, kept]])),
        },
        picture(url(wait.wait_id, "after"), "", boxes, kept),
      ),
      legend(after, boxes, wait.spec.until),
    );
  return compared(wait, after, kept, boxes);
}

/** @param {string} words @param {Api.Rect[]} boxes @param {AnyCondition} until */
function legend(words, boxes, until) {
  return el("figcaption.muted.small", {}, boxes.length ? `${words}. Outlined: ${OUTLINED[until.type] ?? "what was found"}.` : `${words}.`);
}

// Two pictures in one place, and a slider for where one ends and the other begins.
/** @param {Api.WaitInfo} given @param {string} title @param {Api.Evidence} kept @param {Api.Rect[]} boxes */
function compared({ wait_id: waitId, spec }, title, kept, boxes) {
  const before = el("img", { src: url(waitId, "before"), alt: "Before", decoding: "async" });
  const after = el("img", { src: url(waitId, "after"), alt: title, decoding: "async" });
  const over = el("div.over", {}, after, matchBoxes(boxes, kept));
  const edge = el("span.edge", { "aria-hidden": "true" });
  const slider = el("input", {
    type: "range",
    min: 0,
    max: 100,
    value: edgeBeside(boxes, kept.width),
    "aria-label": "Before and after",
    "data-focus": "compare",
  });
  const place = el("div.compare", {}, before, over, edge);
  const move = () => {
    const at = Number(slider.value);
    over.style.clipPath = `inset(0 0 0 ${at}%)`;
    edge.style.left = `${at}%`;
    slider.setAttribute("aria-valuetext", `${at} % before, ${100 - at} % after`);
  };
  slider.addEventListener("input", move);
  // By the picture itself, too: where the pointer is, there is the edge.
  /** @param {PointerEvent} event */
  const drag = (event) => {
    const box = place.getBoundingClientRect();
    slider.value = String(Math.round((100 * (event.clientX - box.left)) / box.width));
    move();
  };
  place.addEventListener("pointerdown", drag);
  place.addEventListener("pointermove", drag);
  move();
  const figure = el(
    "figure.seen",
    {},
    place,
    el("label.slider", {}, el("span", {}, "Before"), slider, el("span", {}, "After")),
    legend(`Left before, right: ${title.toLowerCase()}`, boxes, spec.until),
  );
  const gone = () => fill(figure, el("p.nothing", {}, "These pictures were not kept."));
  const unequal = () => {
    if (!before.naturalWidth || !after.naturalWidth) return;
    if (before.naturalWidth === after.naturalWidth && before.naturalHeight === after.naturalHeight) return;
    fill(figure, picture(after.src, title, boxes, kept), legend(`${title}. The target changed its size`, boxes, spec.until));
  };
  for (const image of [before, after]) {
    image.addEventListener("load", unequal, { once: true });
    image.addEventListener("error", gone, { once: true });
  }
  return figure;
}

// Where the edge stands at first, in percent: what was found is to be seen, and what was there before beside it.
/** @param {Api.Rect[]} boxes @param {number} width */
function edgeBeside(boxes, width) {
  if (!boxes.length || !width) return 50;
  const left = Math.min(...boxes.map(([x]) => x));
  return Math.max(0, Math.min(50, Math.floor((100 * left) / width) - 2));
}

// ---- the film strip ----------------------------------------------------------------------------------------------------

// Each picture that there is of a verdict, in order: those kept as evidence, and those of recordings.
/** @param {{ wait: Api.WaitInfo; evaluations: Api.Evaluation[]; recordings: Api.RecordingInfo[] }} given */
export function seenMoments({ wait, evaluations, recordings }) {
  const kept = wait.evidence;
  /** @param {number} frame */
  const byFrame = (frame) => evaluations.findLast((one) => frame && one.frame === frame);
  /** @type {Shot[]} */
  const shots = [];
  if (kept?.name && kept.before) {
    const at = byFrame(kept.before_frame);
    shots.push({
      title: "Before",
      utcS: at?.utc_s ?? wait.created_utc_s,
      verdict: at?.verdict ?? { answer: "no", detail: "the condition did not hold" },
      src: url(wait.wait_id, "before"),
      size: at && { width: kept.width, height: kept.height },
    });
  }
  (wait.stages ?? []).forEach((stage, at) => {
    if (stage.evidence.name)
      shots.push({
        title: `Stage ${at + 1}`,
        utcS: stage.utc_s,
        verdict: stage.verdict,
        src: url(wait.wait_id, "after", at + 1),
        size: stage.evidence,
      });
  });
  if (kept?.name)
    shots.push({
      title: AFTER[wait.state] ?? "The end",
      utcS: wait.ended_utc_s,
      verdict: wait.verdict,
      src: url(wait.wait_id, "after"),
      size: kept,
    });
  const told = new Set([kept, ...(wait.stages ?? []).map((stage) => stage.evidence)].map((one) => one?.name && one.frame));
  if (kept?.before) told.add(kept.before_frame);
  const others = evaluations.filter((one, at) => !told.has(one.frame) && one.frame !== evaluations[at - 1]?.frame);
  const { target } = wait.spec;
  const place = target.window || target.pty || target.monitor ? null : (target.region ?? [0, 0, 0, 0]);
  let filmedLeft = MOST_FILMED;
  for (const one of others.slice(-MOST_SHOTS).toReversed()) {
    // In exact pixels where a recording covers it, for as many as one player can draw; else as small as it was kept.
    const moment = filmedLeft ? momentOf(recordings, one.utc_s * 1000, wait.display) : null;
    if (moment) filmedLeft--;
    if (moment) shots.push({ title: "Recorded", utcS: one.utc_s, verdict: one.verdict, moment, frame: one.frame, place });
    else if (one.picture)
      shots.push({
        title: "Looked at",
        utcS: one.utc_s,
        verdict: one.verdict,
        src: url(wait.wait_id, "verdict", 0, one.number),
        size: one,
      });
  }
  return shots.sort((a, b) => a.utcS - b.utcS);
}

// The strip of these moments. ← and → go along it, Enter opens one in full size. `drawn` keeps what was drawn of
// recordings from strip to strip.
/** @param {Shot[]} shots @param {Map<any, any>} drawn @param {AbortSignal} [signal] */
export function filmStrip(shots, drawn, signal) {
  const cells = shots.map((shot, at) => {
    shot.atMs = shot.utcS * 1000;
    if (shot.moment) {
      const key = `${shot.moment.film.recording_id} ${shot.utcS}`;
      if (!drawn.has(key)) drawn.set(key, { atMs: shot.atMs, frame: shot.frame, canvas: el("canvas", { width: 16, height: 9 }) });
      shot.thumb = drawn.get(key);
    }
    const words = `${clock(shot.utcS)}, ${shot.verdict.answer}: ${shot.verdict.detail || shot.verdict.code}`;
    return el(
      "button",
      {
        type: "button",
        "aria-label": `${shot.title}, ${words}`,
        title: words,
        "data-focus": `shot-${at}`,
        onclick: () => lightbox(shots.map(opened), at),
      },
      shot.thumb?.canvas ?? el("img", { src: shot.src, alt: "", loading: "lazy", decoding: "async" }),
      el("span.line", {}, badge(shot.verdict.answer), when(shot.utcS)),
      el("span.small.muted", {}, shot.title),
    );
  });
  const strip = el(
    "ol.strip",
    { "aria-label": "Film strip: what was seen, and what was said of it" },
    cells.map((cell) => el("li", {}, cell)),
  );
  strip.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    const here = cells.findIndex((cell) => cell.contains(/** @type {Node} */ (event.target)));
    if (!step || here < 0) return;
    event.preventDefault();
    cells[Math.max(0, Math.min(cells.length - 1, here + step))].focus();
  });
  draw(shots, signal);
  return strip;
}

/** @param {Shot} shot */
function opened(shot) {
  const title = `${clock(shot.utcS)} · ${shot.title} · ${shot.verdict.answer}: ${shot.verdict.detail || shot.verdict.code}`;
  const node = () =>
    shot.moment
      ? filmed(
          shot.moment,
          shot.atMs,
          shot.place && matchBoxes(shot.verdict.boxes ?? [], shot.moment.segment, shot.place),
          shot.thumb.seekS,
        )
      : picture(shot.src ?? "", `${shot.title}: the watched part of the screen`, shot.verdict.boxes, shot.size);
  return { title, node };
}

/** @param {Shot[]} shots @param {AbortSignal} [signal] */
function draw(shots, signal) {
  const bySegment = Map.groupBy(
    shots.filter((shot) => shot.moment && !shot.thumb.isDrawn),
    ({ moment }) => moment?.segment,
  );
  for (const some of bySegment.values()) {
    const thumbs = some.map((shot) => shot.thumb);
    const { moment } = some[0];
    if (!moment) continue;
    drawThumbnails(api, moment, thumbs, THUMB_PX, signal).catch(() => {
      // A recording that was deleted meanwhile has no pictures; the verdicts stay.
      if (signal?.aborted || moment.film.state === "recording") return; // one that runs may not be readable yet
      for (const one of thumbs) if (!one.isDrawn) one.canvas.replaceWith(el("span.nothing.small", {}, "no picture"));
    });
  }
}
