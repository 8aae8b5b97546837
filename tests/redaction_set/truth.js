// Tells the page's server where each character of each cell is on the display: by ranges, and in fields by measuring.
const across = () => window.screenX + (window.outerWidth - window.innerWidth) / 2;
const down = () => window.screenY + window.outerHeight - window.innerHeight - (window.outerWidth - window.innerWidth) / 2;
function ofText(cell) {
  const node = cell.firstChild, boxes = [];
  for (let at = 0; node && at < node.length; at++) {
    const range = document.createRange();
    range.setStart(node, at); range.setEnd(node, at + 1);
    const r = range.getBoundingClientRect();
    boxes.push([across() + r.x, down() + r.y, r.width, r.height]);
  }
  return boxes;
}
function ofField(cell) {
  const style = getComputedStyle(cell), brush = document.createElement("canvas").getContext("2d");
  brush.font = style.font;
  const r = cell.getBoundingClientRect(), left = r.x + parseFloat(style.borderLeftWidth) + parseFloat(style.paddingLeft);
  const wide = n => brush.measureText(cell.value.slice(0, n)).width;
  return [...cell.value].map((_, n) => [across() + left + wide(n), down() + r.y + 3, wide(n + 1) - wide(n), r.height - 6]);
}
const tell = () => JSON.stringify([...document.querySelectorAll("[data-cell]")].map(
  cell => cell.tagName === "INPUT" ? ofField(cell) : ofText(cell)));
let last = "", same = 0;
setInterval(() => {
  const now = tell();
  same = now === last ? same + 1 : 0;
  last = now;
  if (same === 3) fetch("/truth", {method: "POST", body: now});
}, 150);
