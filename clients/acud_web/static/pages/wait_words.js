// What a wait looks at, and what is compared with what, in words. Pure but for the list at the end.

import { el } from "../parts/dom.js";
import { facts } from "../parts/widgets.js";
import { condition, duration } from "../parts/words.js";

// The target and its display.
/** @param {Api.WaitInfo} given */
export function targetWords({ spec, display }) {
  const { window, region, pty, monitor } = spec.target;
  const part =
    (window && `the window “${window}”`) ||
    (region && `the region of ${region[2]} × ${region[3]} at ${region[0]}, ${region[1]}`) ||
    (pty && `the terminal ${pty}`) ||
    (monitor && `the monitor ${monitor}`);
  if (!display) return "this machine";
  return part ? `${part} on ${display}` : `the screen ${display}`;
}

// How each kind of condition is decided.
/** @param {AnyCondition} leaf @param {string} judges */
function decidedBy(leaf, judges) {
  switch (leaf.type) {
    case "criteria":
      return `a model reads the sentence and looks at the picture: ${judges}`;
    case "text":
      return `the text is read off the picture${leaf.match_case ? "" : ", whatever its case"}, and looked for there`;
    case "number":
      return `the number${leaf.label ? ` after “${leaf.label}”` : ""} is read off the picture and compared`;
    case "image":
      return `the picture is looked for, at least ${Math.round((leaf.similarity ?? 0) * 100)} % alike in its shape and colours`;
    case "widget":
      return "programs tell which controls they have, and in which states";
    case "window":
      return "the titles of the display's windows are compared";
    case "change":
      return "every pixel is compared with the picture of when it was armed";
    case "stable":
      return "every pixel is compared with the picture before";
    case "file":
      return "the folder is watched on the daemon's machine";
    case "process":
      return "the system tells when it ends";
    case "notification":
      return "acud is the display's notification server, and compares what programs give it";
    default:
      return "";
  }
}

/** @param {AnyCondition} until @returns {AnyCondition[]} */
export function leavesOf(until) {
  if ("parts" in until) return until.parts.flatMap(leavesOf);
  return until.type === "not" ? leavesOf(until.part) : [until];
}

/** @type {Record<string, string>} */
const LOCAL = { ocr: "OCR on this machine", scripted: "a script" };

/** @type {Record<string, string>} */
const CADENCES = {
  event: "As soon as something changed there",
  fixed: "At a fixed pace, whether or not something changed",
  adaptive: "When something changed there, more often while it goes on",
};

// The image that is looked for.
/** @param {Api.WaitInfo} wait @param {Api.ScreenImage} leaf @param {number} stage */
function sought(wait, leaf, stage) {
  const src = `/api/waits/${encodeURIComponent(wait.wait_id)}/evidence?part=sought&stage=${stage}`;
  return el("img.sought", { src, alt: "The image that is looked for", width: leaf.width, height: leaf.height });
}

/** @param {Api.WaitInfo} wait @param {Api.Evaluation[]} evaluations */
export function comparedBy(wait, evaluations) {
  const { spec } = wait;
  const heard = [...new Set(evaluations.map((one) => one.judge).filter(Boolean))];
  const named = spec.judge === "auto" ? "the judge that the settings name" : spec.judge;
  const judges = heard.length ? heard.map((name) => LOCAL[name] ?? name).join(", ") : named;
  const { cadence, interval_s, force_after_s, confirm } = spec.policy;
  const pace = cadence === "fixed" ? `, every ${duration(interval_s)}` : `, and after ${duration(force_after_s)} in any case`;
  /** @type {[part: AnyCondition, stage: number][]} */
  const parts = spec.until.type === "then" ? spec.until.parts.map((part, at) => [part, at + 1]) : [[spec.until, 0]];
  const twice = (confirm ?? 1) > 1 ? ` A yes counts once it was given ${confirm} times in a row.` : "";
  return [
    facts([
      ["It waits until", condition(spec.until)],
      ["Looks at", targetWords(wait)],
      [
        "How",
        el(
          "ul",
          {},
          parts.flatMap(([part, stage]) =>
            leavesOf(part).map((leaf) => {
              const first = leaf.type === "image" && leaf === leavesOf(part).find((one) => one.type === "image");
              const words = `${[condition(leaf), decidedBy(leaf, judges)].filter(Boolean).join(": ")}.`;
              return el("li", {}, words, first ? sought(wait, leaf, stage) : null);
            }),
          ),
        ),
      ],
      ["When", `${CADENCES[cadence ?? "event"]}${pace}.${twice}`],
      ["Judge", judges],
      spec.target.ignore.length ? ["Left out", `${spec.target.ignore.length} places of the target`] : null,
    ]),
  ];
}
