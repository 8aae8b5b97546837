// Lists: rows that are kept, rows in sight alone, pages of them, filters, marks.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { enter, paint, show } from "./page.js";
import { Bulk } from "../../clients/acud_web/static/parts/bulk.js";
import { el, fill, keyed } from "../../clients/acud_web/static/parts/dom.js";
import { Filters, keepInUrl, searched, urlQuery } from "../../clients/acud_web/static/parts/filters.js";
import { arrows } from "../../clients/acud_web/static/parts/keys.js";
import { PagedRows } from "../../clients/acud_web/static/parts/paged_rows.js";
import { found } from "../../clients/acud_web/static/parts/palette.js";
import { learn, taskName } from "../../clients/acud_web/static/parts/names.js";
import { VirtualList } from "../../clients/acud_web/static/parts/virtual.js";

const texts = (node) => [...node.children].map((child) => child.textContent);

beforeEach(() => history.replaceState(null, "", "#/waits"));

// ---- elements and keyed rows -----------------------------------------------------------------------------------------------

test("an element has its classes, attributes and children, without those that are nothing", () => {
  const node = el("p.small.muted", { title: "T", hidden: true, lang: null }, "a", null, [1, [false, el("b", {}, "c")]], 0);
  assert.equal(node.outerHTML, '<p class="small muted" title="T" hidden="">a1<b>c</b>0</p>');
});

test("text of a daemon is never markup", () => {
  assert.equal(el("p", {}, "<img src=x onerror=alert(1)>").children.length, 0);
});

test("fill leaves children alone that are there already", () => {
  const [kept, node] = [el("i"), el("div")];
  fill(node, kept);
  const before = node.firstChild;
  fill(node, [kept]);
  assert.equal(node.firstChild, before);
  fill(node, "words", kept);
  assert.deepEqual([node.childNodes.length, node.lastChild], [2, kept]);
});

const row = (one) => el("li", {}, el("a.row", { href: `#/${one.id}`, "data-focus": one.id }, one.text));

test("a row that says the same stays the same node, in the new order", () => {
  const list = el("ul");
  keyed(list, [{ id: "a", text: "A" }, { id: "b", text: "B" }], (one) => one.id, row);
  const [a, b] = list.children;
  keyed(list, [{ id: "b", text: "B" }, { id: "c", text: "C" }, { id: "a", text: "A2" }], (one) => one.id, row);
  assert.deepEqual(texts(list), ["B", "C", "A2"]);
  assert.equal(list.children[0], b);
  assert.notEqual(list.children[2], a);
});

test("a row that is made anew keeps the focus", () => {
  const list = show(el("ul"));
  keyed(list, [{ id: "a", text: "A" }], (one) => one.id, row);
  list.querySelector("a").focus();
  keyed(list, [{ id: "a", text: "changed" }], (one) => one.id, row);
  assert.equal(document.activeElement.textContent, "changed");
});

test("arrows go from row to row and stop at the ends", () => {
  const list = show(el("ul", {}, [1, 2, 3].map((id) => row({ id, text: id }))));
  arrows(list);
  const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  list.querySelector("a").focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"]) press(key);
  assert.equal(document.activeElement.textContent, "2");
});

// ---- virtual rows -----------------------------------------------------------------------------------------------------------

const ROW = 28;

function virtual(count, events = {}) {
  const list = new VirtualList("Rows", (one) => String(one), (one) => el("li", {}, el("a", { href: "#", "data-focus": one }, `row ${one}`)), events);
  show(list.node, 10 * ROW);
  list.show(Array.from({ length: count }, (_, at) => at));
  return list;
}

test("only rows near those in sight are in the page", () => {
  const list = virtual(5000);
  assert.deepEqual(texts(list.list), Array.from({ length: 26 }, (_, at) => `row ${at}`));
  assert.equal(list.list.style.height, `${5000 * ROW}px`);
  assert.equal(list.node.dataset.listed, "5000");
});

test("scrolling makes the rows there, once for each frame", () => {
  const list = virtual(5000);
  list.node.scrollTop = 1000 * ROW;
  list.soon();
  list.soon();
  assert.equal(list.list.firstChild.textContent, "row 0");
  paint();
  assert.deepEqual([list.list.firstChild.textContent, list.list.lastChild.textContent], ["row 984", "row 1025"]);
  assert.equal(list.list.firstChild.style.top, `${984 * ROW}px`);
});

test("each row says which one it is of how many", () => {
  const list = virtual(40);
  const said = list.list.children[3];
  assert.deepEqual([said.getAttribute("aria-posinset"), said.getAttribute("aria-setsize")], ["4", "40"]);
});

test("whoever has scrolled down keeps what they look at when rows come above", () => {
  const list = virtual(100);
  list.node.scrollTop = 50 * ROW;
  list.show(["new", ...list.items], 1);
  assert.equal(list.node.scrollTop, 51 * ROW);
});

test("at the top new rows are shown", () => {
  const list = virtual(100);
  list.show(["new", ...list.items], 1);
  assert.equal(list.list.firstChild.textContent, "row new");
});

test("a hole is an empty row, and the same item the same node", () => {
  const list = virtual(3);
  const [first] = list.list.children;
  list.show([0, undefined, 2]);
  assert.equal(list.list.children[0], first);
  assert.equal(list.list.children[1].className, "hole");
});

test("the end in sight asks for more, and each painting tells what is in sight", () => {
  const calls = [];
  virtual(12, { end: () => calls.push("end"), sight: (first, last) => calls.push([first, last]) });
  assert.deepEqual(calls, [[0, 12], "end"]);
});

test("no rows are none", () => assert.equal(virtual(0).list.children.length, 0));

// ---- pages of rows ----------------------------------------------------------------------------------------------------------

function paged(total) {
  const asked = [];
  const shape = {
    title: "Waits", noun: "waits", id: (one) => one.id, row, words: (_, value) => value, choices: async () => [],
    page: async (_kind, _values, offset, limit) => {
      asked.push(offset);
      const rows = Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, at) => ({ id: `w${offset + at}`, text: `W ${offset + at}` }));
      return { rows, total };
    },
  };
  const filters = new Filters("waits", ["state"], new URLSearchParams(), () => {});
  const bulk = new Bulk({ may: () => true }, shape);
  const rows = new PagedRows({ shape, bulk, filters, mark: () => {}, kind: () => "all" });
  rows.panel = { refresh() {} };
  return { rows, asked, filters };
}

test("the first page is asked for alone, and the list is as long as all", async () => {
  const { rows, asked } = paged(1000);
  const place = el("div");
  rows.show(place, await rows.load());
  assert.deepEqual([asked, rows.rows.length, rows.rows[99].id, rows.rows[100]], [[0], 1000, "w99", undefined]);
});

test("a page is asked for as it comes into sight, once", async () => {
  const { rows, asked } = paged(1000);
  rows.show(el("div"), await rows.load());
  await Promise.all([rows.seen(480, 520), rows.seen(490, 530)]);
  assert.deepEqual(asked, [0, 400, 500]);
  assert.equal(rows.rows[512].id, "w512");
});

test("everything found can be had, whatever was in sight", async () => {
  const { rows } = paged(2500);
  assert.equal((await rows.every()).length, 2500);
});

test("an answer to an older search is dropped", async () => {
  const { rows } = paged(1000);
  rows.show(el("div"), await rows.load());
  const late = rows.seen(300, 310);
  rows.filtered();
  await late;
  assert.equal(rows.rows[300], undefined);
});

test("no rows say that none fits", async () => {
  const { rows } = paged(0);
  const place = el("div");
  rows.show(place, await rows.load());
  assert.match(place.textContent, /None of these waits fits/);
});

// ---- filters and marks --------------------------------------------------------------------------------------------------------

const filters = (query, names = ["state", "display", "within"]) => new Filters("waits", names, new URLSearchParams(query), () => {});
const facets = { words: searched("Pay the Invoice", ":5"), utcS: 1000, state: "active", display: ":5" };

for (const [query, fits] of [
  ["", true],
  ["text=inv pay", true],
  ["text=voice", false],
  ["state=active&display=:5", true],
  ["state=failed", false],
  ["within=60", false],
])
  test(`the filter "${query}" ${fits ? "shows" : "hides"} the row`, () => assert.equal(filters(query).fits(facets, 2_000_000), fits));

test("the time is counted from now", () => assert.ok(filters("within=900").fits(facets, 1_800_000)));

test("a search knows letters of every script, and no signs", () => {
  assert.equal(searched("Ångström—Größe", null, "日本 42%"), " ångström größe 日本 42");
});

test("what is chosen stays one of the choices, and the values are offered in order", () => {
  const some = filters("state=gone");
  some.offerFrom([{ state: "b10" }, { state: "b2" }, { state: "" }, { state: "b2" }]);
  assert.deepEqual([...some.selects.state.options].map((one) => one.value), ["", "b2", "b10", "gone"]);
});

test("a choice is kept in the address and told", () => {
  let told = 0;
  const some = new Filters("waits", ["state"], new URLSearchParams(), () => (told += 1));
  some.offer("state", [["active", "active"]]);
  enter(some.selects.state, "active");
  assert.deepEqual([urlQuery(), told, some.any, some.clear.hidden], ["?state=active", 1, true, false]);
  some.reset();
  assert.deepEqual([urlQuery(), told, some.any], ["", 2, false]);
});

test("values of the address are kept beside those that others set", () => {
  keepInUrl({ kind: "all" });
  keepInUrl({ text: "a b", kind: "" });
  assert.equal(location.hash, "#/waits?text=a+b");
});

test("marks go with rows that are gone, and stay with those that changed", () => {
  const shape = { noun: "waits", id: (one) => one.id, bulk: { scope: "act", acts: [{ words: "Cancel", good: (one) => one.live }] } };
  const bulk = new Bulk({ may: () => true }, shape);
  bulk.show(el("ul"), [{ id: "a", live: true }, { id: "b", live: true }]);
  bulk.turn(true);
  bulk.mark("a", true);
  bulk.mark("b", true);
  bulk.show(el("ul"), [{ id: "b", live: false }, { id: "c", live: true }]);
  assert.deepEqual([...bulk.marked.keys()], ["b"]);
  assert.equal(bulk.buttons[0].button.disabled, true);
});

test("who may not do it marks nothing", () => {
  const bulk = new Bulk({ may: () => false }, { noun: "waits", id: (one) => one.id, bulk: { scope: "act", acts: [{ words: "Cancel" }] } });
  bulk.show(el("ul"), [{ id: "a" }]);
  assert.deepEqual([bulk.toggle.hidden, bulk.buttons], [true, []]);
});

test("the palette finds by beginnings of words, exact names first", () => {
  const entries = [["Task", "Pay the report"], ["Panel", "Health"], ["Task", "Report"], ["Display", ":5", "Quarterly report"]].map(
    ([kind, title, more]) => ({ kind, title, more }),
  );
  assert.deepEqual(found(entries, "report").map((one) => one.title), ["Report", "Pay the report", ":5"]);
  assert.deepEqual(found(entries, "no such thing"), []);
  assert.equal(found(entries, "").length, 4);
});

// ---- names ------------------------------------------------------------------------------------------------------------------

test("names are asked for once by all that need them, and again for one that came since", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  let tasks = [{ task: { task_id: "t1", name: "Close the month" } }];
  const asked = t.mock.method(globalThis, "fetch", async () => new Response(JSON.stringify({ tasks }), { headers: { "Content-Type": "application/json" } }));
  const [page, choices] = [learn({ tasks: ["t1"] }), learn({ tasks: ["t1"] }).then(() => taskName("t1"))];
  assert.equal(await choices, "Close the month");
  await page;
  assert.equal(asked.mock.callCount(), 1);
  tasks = [...tasks, { task: { task_id: "t2", name: "Pay the rent" } }];
  const later = learn({ tasks: ["t2"] });
  while (!taskName("t2")) {
    t.mock.timers.tick(100);
    await new Promise(setImmediate);
  }
  await later;
  assert.deepEqual([taskName("t2"), asked.mock.callCount()], ["Pay the rent", 2]);
});
