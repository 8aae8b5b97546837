// What a wait looks at now: its display live, with the target outlined, and what the last verdict found in it.

import { el, fill } from "../parts/dom.js";
import { matchBoxes } from "../parts/evidence.js";
import { Screen } from "../live/screen.js";
import { sheet } from "../parts/sheet.js";

const LIVE = { fps: 10, max_side_px: 1280 };

// Shows the display called `name` in `element`; `tell(shown, target)` draws what the API tells of the wait. Returns null
// where this display is no more.
/** @param {HTMLElement} element @param {Gateway} api @param {string} name */
export async function mountLive(element, api, name) {
  const [{ displays }] = await Promise.all([api.get("/api/displays"), sheet("screens.css")]);
  const display = displays.find((one) => one.name === name);
  return display ? new WaitLive(element, api, display) : null;
}

class WaitLive {
  /** @param {HTMLElement} element @param {Gateway} api @param {Display} display */
  constructor(element, api, display) {
    this.screen = new Screen(api, display, LIVE);
    this.display = display;
    this.seal = "";
    this.words = el("p.small", { role: "status" });
    this.drawn = el("div.target-layer", {});
    this.screen.picture.append(this.drawn);
    fill(
      element,
      el(
        "figure.wait-live",
        {},
        this.screen.picture,
        el(
          "figcaption",
          {},
          el("p.screen-state", {}, this.screen.badge, this.screen.delay),
          this.words,
          el("a", { href: `#/screens/${encodeURIComponent(display.name)}` }, "Open the screen"),
        ),
      ),
    );
    this.screen.tell();
  }

  // `place`: where the target is on the display, null for nowhere.
  /** @param {Api.WaitShowReply} given @param {string} target */
  tell({ wait, place, covered }, target) {
    const seal = JSON.stringify([place, covered, wait.verdict]);
    if (seal === this.seal) return;
    this.seal = seal;
    const { width, height } = this.display;
    const whole = place !== null && place[0] === 0 && place[1] === 0 && place[2] === width && place[3] === height;
    const outline = place ? matchBoxes([place], this.display) : null;
    outline?.classList.add("target");
    outline?.setAttribute("aria-label", `The target: ${target}`);
    const found = place ? matchBoxes(wait.verdict.boxes ?? [], this.display, place) : null;
    fill(this.drawn, outline, found);
    fill(this.words, place ? placed(place, target, whole, covered, wait.spec.target.region) : `The target is nowhere now: ${wait.verdict.detail}`);
  }

  end() {
    this.screen.end();
  }
}

/** @param {Api.Rect} given @param {string} target @param {boolean} whole @param {boolean} covered
 * @param {Api.Rect | null} region
 */
function placed([x, y, w, h], target, whole, covered, region) {
  if (whole) return `It looks at all of ${target}.`;
  const where = region ? `Outlined: ${target}.` : `Outlined: ${target}, ${w} × ${h} at ${x}, ${y}.`;
  return covered ? `${where} Covered, or partly off the screen: its own pixels are read.` : where;
}
