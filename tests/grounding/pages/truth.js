// Tells the page's server where its keyed elements are on the display. The window is maximised: no borders.
function tell() {
  const left = window.mozInnerScreenX ?? window.screenX;  // Firefox knows where its page begins
  const top = window.mozInnerScreenY ?? window.screenY + window.outerHeight - window.innerHeight;
  const boxes = {};
  for (const e of document.querySelectorAll("[data-key]")) {
    const r = e.getBoundingClientRect();
    boxes[e.dataset.key] = [left + r.x, top + r.y, r.width, r.height].map(Math.round);
  }
  return JSON.stringify(boxes);
}
let last = "", same = 0;
setInterval(() => {
  const now = tell();
  same = now === last ? same + 1 : 0;
  last = now;
  if (same === 4) fetch("/truth", {method: "POST", body: now});
}, 250);
