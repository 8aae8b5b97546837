// How current a picture is, in words; a picture that is not known to be current is never called live.

import { clock, duration } from "../parts/words.js";

const FRESH_MS = 1500;

/** Return `{tone, words, isStale}` for a stream at `now` (ms); tones are those of the page's badges.
 * @param {LiveStream} stream @param {number} now
 */
export function freshness(stream, now) {
  if (stream.state === "connecting") return { tone: "quiet", words: "connecting …", isStale: true };
  if (stream.state === "lost" || stream.state === "ended") return none(stream);
  const age_ms = now - stream.checked_at;
  // The server says something each second: after three of silence it is not known any more.
  if (age_ms > 2 * FRESH_MS) return { tone: "warn", words: `not checked for ${duration(age_ms / 1000)}`, isStale: true };
  if (stream.state === "live" && age_ms < FRESH_MS) return { tone: "good", words: "live", isStale: false };
  return { tone: "good", words: `unchanged, checked ${(Math.max(0, age_ms) / 1000).toFixed(1)} s ago`, isStale: false };
}

/** @param {LiveStream} stream */
function none(stream) {
  const since = clock(stream.since / 1000);
  return { tone: "bad", words: `no picture since ${since}: ${stream.reason || "no reason is known"}`, isStale: true };
}

/** Return the words for the delay, "" before the first picture.
 * @param {LiveStream} stream
 */
export function delay(stream) {
  const ms = stream.latency_ms;
  if (ms === null) return "";
  return stream.partial ? `${Math.round(ms)} ms + network` : `${Math.round(ms)} ms`;
}
