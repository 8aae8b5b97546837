// One display's live pictures over a WebSocket: painted in order, acknowledged once painted, opened again by itself.

import { latency, median, parse } from "./message.js";

const KEPT = 20; // latencies the median is of
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10_000;
const SILENT_MS = 5_000; // the server says something at least each second

/** States of a stream: `connecting`, `live` (pictures come), `still` (known to be current), `lost` (`reason` says why),
 * `ended` (the server said goodbye for good). */
export class LiveStream {
  /** `canvas` gets the pictures. `changed` is called after each change of what `this` tells.
   * @param {Gateway} api @param {string} display @param {HTMLCanvasElement} canvas
   * @param {(stream: LiveStream) => void} changed
   */
  constructor(api, display, canvas, changed) {
    this.api = api;
    this.display = display;
    this.canvas = canvas;
    this.pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.changed = changed;
    this.wanted = { fps: 10, max_side_px: 0 };
    /** @type {WebSocket | null} */
    this.socket = null;
    this.retry_ms = FIRST_RETRY_MS;
    this.isOver = false;
    this.work = Promise.resolve();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.watchdog = undefined;
    this.state = "connecting";
    this.reason = "";
    this.checked_at = 0; // when (our clock) the picture was last known to be current
    this.since = Date.now();
    /** @type {[number, number] | null} */
    this.cursor = null;
    this.frame = 0;
    /** @type {number[]} */
    this.latencies = [];
    this.partial = false;
    this.transit_ms = Infinity;
  }

  /** Median ms from capture to painted, null before the first. */
  get latency_ms() {
    return median(this.latencies);
  }

  get isOpen() {
    return this.socket !== null;
  }

  /** Ask for at most `fps` pictures a second, scaled to `max_side_px` (0: exact pixels).
   * @param {number} fps @param {number} max_side_px
   */
  want(fps, max_side_px) {
    this.wanted = { fps, max_side_px };
    this.say({ type: "want", ...this.wanted });
  }

  /** @param {object} message */
  say(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Begin, or go on after `close`; once open, nothing. */
  open() {
    if (this.socket || this.timer) return;
    const socket = this.api.ws(`/api/live/${encodeURIComponent(this.display)}`);
    this.socket = socket;
    this.work = Promise.resolve();
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.say({ type: "want", ...this.wanted });
    socket.onmessage = (message) => this.heard(socket, message.data);
    socket.onclose = (end) => this.closed(socket, end);
    this.watch();
  }

  /** Stop; what is painted stays. */
  close() {
    clearTimeout(this.timer);
    clearTimeout(this.watchdog);
    this.timer = undefined;
    const socket = this.socket;
    this.socket = null;
    // One that is closed before it was open is a fault in the browser's eyes.
    if (socket?.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket?.close();
  }

  watch() {
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => this.silent(), SILENT_MS);
  }

  silent() {
    const socket = this.socket;
    if (!socket) return;
    this.lose("the connection has gone silent");
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
    this.closed(socket, { code: 1006, reason: "" });
  }

  /** @param {WebSocket} socket @param {string | ArrayBuffer} data */
  heard(socket, data) {
    if (socket !== this.socket) return;
    this.watch();
    const received_ms = Date.now();
    if (typeof data === "string") {
      const message = JSON.parse(data);
      this.work = this.work.then(() => this.told(message));
    } else {
      const frame = parse(data);
      this.work = this.work.then(() => this.show(socket, frame, received_ms)).catch((fault) => this.torn(socket, fault));
    }
  }

  /** @param {WebSocket} socket @param {any} fault */
  torn(socket, fault) {
    if (socket !== this.socket) return;
    this.lose(`a picture could not be painted: ${fault.message}`);
    socket.close();
  }

  /** @param {any} message */
  told(message) {
    if (message.type === "alive") this.still();
    else if (message.type === "lost") this.lose(message.reason);
    else if (message.type === "bye") this.leave(message);
  }

  still() {
    this.retry_ms = FIRST_RETRY_MS;
    this.checked_at = Date.now();
    if (this.frame) this.become("still", "");
    else this.changed(this);
  }

  /** @param {string} reason */
  lose(reason) {
    if (this.state !== "lost") this.since = this.checked_at || Date.now();
    this.become("lost", reason);
  }

  /** @param {any} message */
  leave(message) {
    this.isOver = ["revoked", "expired", "forbidden"].includes(message.code);
    this.lose(message.reason);
    if (this.isOver) this.become("ended", message.reason);
  }

  /** @param {string} state @param {string} reason */
  become(state, reason) {
    this.state = state;
    this.reason = reason;
    this.changed(this);
  }

  /** @param {WebSocket} socket @param {{ code: number; reason: string }} end */
  closed(socket, end) {
    if (socket !== this.socket) return;
    this.socket = null;
    clearTimeout(this.watchdog);
    if (this.isOver) return;
    if (this.state !== "lost") this.lose(end.reason || "the connection to acud is gone");
    // Up to half more, at random: not everybody at once after a restart.
    this.timer = setTimeout(() => this.again(), this.retry_ms * (1 + Math.random() / 2));
    this.retry_ms = Math.min(LONGEST_RETRY_MS, this.retry_ms * 2);
  }

  again() {
    this.timer = undefined;
    this.open();
  }

  // ---- pictures ----------------------------------------------------------------------------------------------------

  /** @param {WebSocket} socket @param {LiveFrame} frame @param {number} received_ms */
  async show(socket, frame, received_ms) {
    const blocks = await Promise.all(frame.blocks.map(decoded));
    await nextPaint();
    if (socket !== this.socket) return;
    this.paint(frame, blocks);
    this.say({ type: "ack", frame: frame.frame });
    this.took(frame, received_ms, Date.now());
  }

  /** @param {LiveFrame} frame @param {{ block: LiveBlock; bitmap: ImageBitmap }[]} blocks */
  paint(frame, blocks) {
    // Setting a size wipes a canvas, so only where it is another one; the server then sends a key frame.
    if (this.canvas.width !== frame.width) this.canvas.width = frame.width;
    if (this.canvas.height !== frame.height) this.canvas.height = frame.height;
    for (const { block, bitmap } of blocks) {
      this.pen.drawImage(bitmap, block.x, block.y);
      bitmap.close();
    }
  }

  /** @param {LiveFrame} frame @param {number} received_ms @param {number} painted_ms */
  took(frame, received_ms, painted_ms) {
    this.retry_ms = FIRST_RETRY_MS;
    this.transit_ms = Math.min(this.transit_ms, received_ms - frame.sent_ms);
    const { ms, partial } = latency(frame, received_ms, painted_ms, this.transit_ms);
    // A whole picture, or the same frame again in exact pixels, shows what may have been there for long.
    if (!frame.key && frame.frame !== this.frame) this.latencies = [...this.latencies, ms].slice(-KEPT);
    this.partial = partial;
    this.frame = frame.frame;
    this.cursor = frame.cursor;
    this.checked_at = painted_ms;
    this.become("live", "");
  }
}

/** @param {LiveBlock} block */
async function decoded(block) {
  const blob = new Blob([block.bytes], { type: `image/${block.format}` });
  // Any conversion could change a pixel.
  const bitmap = await createImageBitmap(blob, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
  return { block, bitmap };
}

function nextPaint() {
  return new Promise((resolve) => requestAnimationFrame(resolve));
}
