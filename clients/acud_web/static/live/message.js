// What the live WebSocket says: a little-endian length, that much JSON, then the blocks' bytes one after the other.

/** Return the header of a binary message, each block with its `bytes`. Throws RangeError or SyntaxError when torn.
 * @param {ArrayBuffer} buffer
 */
export function parse(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  let at = 4 + size;
  for (const block of header.blocks) {
    block.bytes = new Uint8Array(buffer, at, block.size);
    at += block.size;
  }
  return header;
}

/** Return how long the way from capture to paint took in ms, and whether the way over the network is missing in it.
 *
 * `transit_ms` is the shortest (received - sent) seen: negative or huge when the two clocks disagree, and then each
 * clock's own part is added up instead.
 * @param {LiveFrame} frame @param {number} received_ms @param {number} painted_ms @param {number} transit_ms
 */
export function latency(frame, received_ms, painted_ms, transit_ms) {
  // A browser's clock counts whole milliseconds.
  if (transit_ms > -2 && transit_ms < 1000) return { ms: painted_ms - frame.captured_ms, partial: false };
  return { ms: frame.sent_ms - frame.captured_ms + (painted_ms - received_ms), partial: true };
}

/** Return the middle of `numbers`, null of none.
 * @param {number[]} numbers
 */
export function median(numbers) {
  if (!numbers.length) return null;
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
