// Moments of recordings: which one covers a time, and its picture then.

import { el, fill } from "./dom.js";

const BEFORE_MS = 1000; // a verdict or an action may be told so long before the first frame is stamped
const AFTER_MS = 2000; // and a screen that stands still brings no more frames

// The recording and the segment of it that show `display` ("": any) at `atMs` (UTC); undefined for none.
/** @param {Api.RecordingInfo[]} recordings @param {number} atMs */
export function momentOf(recordings, atMs, display = "") {
  for (const film of recordings) {
    if (display && film.display !== display) continue;
    const runs = film.state === "recording";
    const last = film.segments.at(-1);
    const segment = film.segments.findLast(
      (one) =>
        atMs >= one.start_utc_ms - BEFORE_MS &&
        ((runs && one === last) || atMs <= one.start_utc_ms + one.seconds * 1000 + AFTER_MS),
    );
    if (segment) return { film, segment };
  }
  return undefined;
}

/** @param {Moment} given @param {number} atMs */
export function momentLink({ film }, atMs) {
  return `#/recordings/${encodeURIComponent(film.recording_id)}?at=${Math.round(atMs)}`;
}

/** @param {Moment} given @returns {`/api/recordings/${string}/segments/${number}`} */
function segmentPath({ film, segment }) {
  return `/api/recordings/${encodeURIComponent(film.recording_id)}/segments/${segment.number}`;
}

/** @param {Moment} moment */
function player(moment) {
  const { width, height } = moment.segment;
  const video = el("video", { preload: "auto", playsinline: true, width, height, src: `${segmentPath(moment)}/video` });
  video.muted = true;
  return video;
}

/** @param {Api.Segment} segment @param {number} seconds */
function within(segment, seconds) {
  return Math.min(Math.max(0, seconds), Math.max(0, segment.seconds - 0.01));
}

// The recording's picture at a moment; `drawn` is laid over it.
/** @param {Moment} moment @param {number} atMs @param {Nested} [drawn] @param {number | null} [seekS] */
export function filmed(moment, atMs, drawn = null, seekS = null) {
  const video = player(moment);
  video.setAttribute("aria-label", "The screen at that moment");
  const place = el("div.marked", {}, video, drawn);
  const at = within(moment.segment, seekS ?? (atMs - moment.segment.start_utc_ms) / 1000);
  video.addEventListener("loadedmetadata", () => (video.currentTime = at), { once: true });
  const unread = () => fill(place, el("p.nothing", {}, "The recording can't be read."));
  video.addEventListener("error", unread, { once: true });
  return place;
}

// Small pictures of one segment, drawn one after the other by one player. `wanted`: [{atMs, frame, canvas}], of which
// each gets `seekS`, where its frame is in the video, and `isDrawn`: not yet, where a film that runs has not come so far.
/** @param {Gateway} api @param {Moment} moment
 * @param {Thumb[]} wanted @param {number} widthPx
 * @param {AbortSignal} [signal]
 */
export async function drawThumbnails(api, moment, wanted, widthPx, signal) {
  const { film, segment } = moment;
  const first = Math.min(...wanted.map((one) => one.atMs)) - segment.start_utc_ms;
  const from = Math.max(0, first - 30_000);
  const { frames } = await api.get(`${segmentPath(moment)}/frames?limit=20000&from_ms=${from}`, signal);
  const video = player(moment);
  await happened(video, "loadeddata", signal);
  for (const one of wanted) {
    const exact = frames.find((each) => each.frame === one.frame);
    const row = exact ?? frames.findLast((each) => each.utc_ms <= one.atMs);
    one.seekS = within(segment, (row ? row.at_ms : one.atMs - segment.start_utc_ms) / 1000 + 0.005);
    if (Math.abs(video.currentTime - one.seekS) > 0.001) {
      video.currentTime = one.seekS;
      await happened(video, "seeked", signal);
    }
    one.canvas.width = Math.min(widthPx, segment.width);
    one.canvas.height = Math.round((one.canvas.width * segment.height) / segment.width);
    one.canvas.getContext("2d", { alpha: false })?.drawImage(video, 0, 0, one.canvas.width, one.canvas.height);
    one.isDrawn = film.state !== "recording" || Boolean(exact) || (frames.at(-1)?.utc_ms ?? 0) > one.atMs;
  }
  video.removeAttribute("src");
  video.load();
}

/** @param {HTMLVideoElement} video @param {string} name @param {AbortSignal} [signal] */
function happened(video, name, signal) {
  return new Promise((resolve, reject) => {
    video.addEventListener(name, resolve, { once: true });
    video.addEventListener("error", () => reject(new Error("the recording can't be read")), { once: true });
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
