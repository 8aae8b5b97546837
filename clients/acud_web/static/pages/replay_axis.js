// One time line out of the segments of a recording: where each frame is, and what lies between; pure.

export const STILL_MS = 1500; // without a change for so long: stillness

/** `segments`: those of a recording, each with its `rows` ({at_ms, utc_ms, frame}). Times are UTC ms. */
export class Axis {
  /** @param {(Api.Segment & { rows: Api.FrameAt[] })[]} segments */
  constructor(segments) {
    /** @type {AxisSegment[]} */
    this.segments = segments.filter((segment) => segment.rows.length).map((segment) => ({
      ...segment,
      begin: segment.start_utc_ms,
      end: segment.start_utc_ms + Math.max(segment.seconds * 1000, segment.rows[segment.rows.length - 1].at_ms + 1),
    }));
    this.frames = this.segments.flatMap((segment) => segment.rows.map((row, at) => ({
      segment, frame: row.frame, at_ms: row.at_ms, utc_ms: row.utc_ms,
      // In the middle of the time it is shown, so that no rounding shows its neighbour.
      seek_s: (row.at_ms + Math.min(20, ((segment.rows[at + 1]?.at_ms ?? row.at_ms + 40) - row.at_ms) / 2)) / 1000,
    })));
    this.begin = this.segments[0]?.begin ?? 0;
    this.end = this.segments.at(-1)?.end ?? 0;
  }

  get isEmpty() {
    return this.frames.length === 0;
  }

  /** Return the number of the newest frame at `utc_ms`; the first one before all.
   * @param {number} utc_ms
   */
  indexAt(utc_ms) {
    let low = 0;
    let high = this.frames.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.frames[middle].utc_ms <= utc_ms) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Return the number of the frame that `segment` shows at `at_ms` of its video.
   * @param {AxisSegment} segment @param {number} at_ms
   */
  indexIn(segment, at_ms) {
    const first = this.frames.findIndex((frame) => frame.segment === segment);
    const later = segment.rows.findIndex((row) => row.at_ms > at_ms);
    return first + Math.max(0, (later < 0 ? segment.rows.length : later) - 1);
  }

  /** Return the stretches in which nothing changed, but the shortest: {begin, end}. */
  get stills() {
    const least_ms = Math.max(STILL_MS, (this.end - this.begin) / 100);
    return this.segments.flatMap((segment) => segment.rows.flatMap((row, at) => {
      const next_ms = segment.rows[at + 1]?.utc_ms ?? segment.end;
      return next_ms - row.utc_ms > least_ms ? [{ begin: row.utc_ms, end: next_ms }] : [];
    }));
  }

  /** Return how long frame number `index` shows in its segment.
   * @param {number} index
   */
  shown_ms(index) {
    const { segment, at_ms } = this.frames[index];
    const next = this.frames[index + 1];
    return (next?.segment === segment ? next.at_ms : segment.end - segment.begin) - at_ms;
  }

  /** Return where `utc_ms` is on the line, 0 to 1.
   * @param {number} utc_ms
   */
  share(utc_ms) {
    return Math.max(0, Math.min(1, (utc_ms - this.begin) / Math.max(1, this.end - this.begin)));
  }

  /** Return the stretches without pictures between segments: {begin, end, reason}. */
  get gaps() {
    return this.segments.slice(1).flatMap((segment, at) => {
      const before = this.segments[at];
      return segment.begin > before.end ? [{ begin: before.end, end: segment.begin, reason: before.reason }] : [];
    });
  }
}

/** Return the next of `marks` (in order of time) after `utc_ms`, or the one before it; undefined for none.
 * @param {{ utc_ms: number }[]} marks @param {number} utc_ms @param {boolean} forward
 */
export function neighbour(marks, utc_ms, forward) {
  return forward ? marks.find((mark) => mark.utc_ms > utc_ms + 0.5) : marks.findLast((mark) => mark.utc_ms < utc_ms - 0.5);
}
