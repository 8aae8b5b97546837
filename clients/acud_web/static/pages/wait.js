// One wait: what it sees now, its last verdict, its pictures, and every verdict over the frames.

import { api, query } from "../parts/api.js";
import { timeline } from "../parts/charts.js";
import { actionButton, confirmed, notice } from "../parts/dialog.js";
import { isBehind } from "../parts/displays.js";
import { el, fill } from "../parts/dom.js";
import { evidenceNode, filmStrip, seenMoments } from "../parts/evidence.js";
import { momentLink, momentOf } from "../parts/moments.js";
import { Panel, nothing, trouble } from "../parts/panel.js";
import { ANSWER_TONES, badge, card, facts, when } from "../parts/widgets.js";
import { anew, armAgain, edit } from "./wait_forms.js";
import { mountLive } from "./wait_live.js";
import { comparedBy, targetWords } from "./wait_words.js";
import { clock, condition, count, duration, money } from "../parts/words.js";

const PAGE = 100;
const MOST = 1000; // in one answer: the chart shows them all, the table as many as were asked for
const LIVE_MS = 2000; // a target that moves is no event

/** @param {HTMLElement} element @param {Page} page @param {string} waitId */
export function mountWait(element, page, waitId) {
  const shown = new WaitPage(element, page, waitId);
  return () => shown.stop();
}

class WaitPage {
  /** @param {HTMLElement} element @param {Page} page @param {string} waitId */
  constructor(element, page, waitId) {
    this.page = page;
    /** @type {`/api/waits/${string}`} */
    this.path = `/api/waits/${encodeURIComponent(waitId)}`;
    /** @type {Api.Evaluation[]} */
    this.evaluations = [];
    this.rows = PAGE;
    /** @type {Api.RecordingInfo[]} */
    this.recordings = [];
    this.isFilmsOld = true;
    /** The name of its task, "" without one, null before it is known. @type {string | null} */
    this.task = null;
    this.isWatching = false;
    this.coming = false;
    /** @type {Awaited<ReturnType<typeof mountLive>> | null} */
    this.live = null;
    /** @type {AbortController | undefined} */
    this.drawing = undefined;
    this.seals = new Map();
    this.drawn = new Map();
    this.aborter = new AbortController();
    this.parts = Object.fromEntries(
      ["head", "liveBody", "verdict", "compared", "evidence", "strip", "verdicts"].map((name) => [name, el("div", {})]),
    );
    const { head, liveBody, verdict, compared, evidence, strip, verdicts } = this.parts;
    for (const body of [liveBody, verdict, compared, evidence, strip]) body.className = "body";
    head.className = "head";
    this.liveCard = card("Live", liveBody);
    this.stripCard = card("Film strip", strip);
    this.node = el(
      "div.grid",
      { class: "grid wait-detail" },
      head,
      this.liveCard,
      card("Last verdict", verdict),
      card("Evidence", evidence),
      this.stripCard,
      card("What is compared", compared),
      card("Verdicts over time", verdicts),
    );
    this.liveCard.hidden = this.stripCard.hidden = true;
    this.panel = new Panel(element, page.bus, {
      load: (signal) => this.load(signal),
      topics: ["wait.", "recording."],
      show: (body, data) => this.show(body, data),
    });
    this.drops = [
      page.bus.on("wait.", (event) => {
        if (event.subject === waitId && event.topic === "wait.resolved") notice("The wait has resolved.");
      }),
      page.bus.on("recording.", () => (this.isFilmsOld = true)),
    ];
    this.timer = setInterval(() => {
      if (this.isWatching && !document.hidden && page.bus.state === "up") this.panel.soon();
    }, LIVE_MS);
  }

  stop() {
    clearInterval(this.timer);
    for (const drop of this.drops) drop();
    this.aborter.abort();
    this.panel.stop();
    this.live?.end();
  }

  // ---- what is loaded ------------------------------------------------------------------------------------------------

  /** @param {AbortSignal} [signal] */
  async load(signal) {
    const found = await api.get(query(this.path, { evaluations: this.evaluations.length ? PAGE : MOST }), signal);
    const { wait, evaluations } = found;
    const isNew = evaluations.at(-1)?.number !== this.evaluations.at(-1)?.number;
    if (this.isFilmsOld) {
      this.isFilmsOld = false;
      this.recordings = (await api.get("/api/recordings?limit=1000", signal)).recordings;
    } else if (isNew) await this.growFilms(wait.display, signal);
    this.task ??= wait.spec.task_id ? await taskName(wait.spec.task_id, signal) : "";
    this.merge(evaluations);
    return found;
  }

  // A recording that is being made has grown by what a new verdict is about.
  /** @param {string} display @param {AbortSignal} [signal] */
  async growFilms(display, signal) {
    /** @param {Api.RecordingInfo} one */
    const grow = async (one) => {
      if (one.state !== "recording" || one.display !== display) return one;
      return (await api.get(`/api/recordings/${encodeURIComponent(one.recording_id)}`, signal)).recording;
    };
    this.recordings = await Promise.all(this.recordings.map(grow));
  }

  // Pages that overlap are one list; after a gap the newest page stands alone.
  /** @param {Api.Evaluation[]} newest */
  merge(newest) {
    const known = new Map(this.evaluations.map((one) => [one.number, one]));
    const joined = newest.length < PAGE || newest.some((one) => known.has(one.number));
    if (!joined) known.clear();
    for (const one of newest) known.set(one.number, one);
    this.evaluations = [...known.values()].sort((a, b) => a.number - b.number);
  }

  async older() {
    this.rows *= 2;
    if (this.rows > this.evaluations.length && this.panel.data.evaluations_kept > this.evaluations.length) {
      const before = this.evaluations[0].number;
      const found = await api.get(query(this.path, { evaluations: MOST, before }), this.aborter.signal);
      this.evaluations = [...found.evaluations, ...this.evaluations];
    }
    this.show(this.panel.body, this.panel.data);
  }

  // ---- what is shown -------------------------------------------------------------------------------------------------

  /** @param {HTMLElement} body @param {Api.WaitShowReply} data */
  show(body, data) {
    const { wait } = data;
    const { evaluations, recordings } = this;
    this.isWatching = wait.state === "watching";
    if (!body.contains(this.node)) fill(body, this.node);
    this.paint("head", [wait.state, wait.spec, wait.deadline_utc_s], () => this.head(wait));
    this.paint("verdict", [wait, evaluations.at(-1)?.number, recordings.length], () => [
      verdictNode(wait),
      aboutWait(wait, evaluations.at(-1), recordings, this.task),
    ]);
    this.paint("compared", [wait.spec, wait.display, evaluations.at(-1)?.judge], () => comparedBy(wait, evaluations));
    this.paint("evidence", [wait.state, wait.evidence], () => [evidenceNode(wait)]);
    const shots = seenMoments({ wait, evaluations, recordings });
    this.stripCard.hidden = !shots.length;
    const films = shots.map((one) => one.moment?.film.recording_id);
    this.paint("strip", [shots.map((one) => [one.utcS, one.title]), films], () => {
      this.drawing?.abort();
      this.drawing = new AbortController();
      return [filmStrip(shots, this.drawn, AbortSignal.any([this.aborter.signal, this.drawing.signal]))];
    });
    this.paint("verdicts", [wait.state, this.rows, evaluations.length, evaluations.at(-1)?.number, recordings.length], () =>
      this.verdicts(wait, data.evaluations_kept),
    );
    this.follow(data);
  }

  // Make a part anew only where what it shows has changed: the focus and a slider stay as they are.
  /** @param {string} name @param {unknown} of @param {() => Nested} make */
  paint(name, of, make) {
    const seal = JSON.stringify(of);
    if (this.seals.get(name) === seal) return;
    this.seals.set(name, seal);
    const place = this.parts[name];
    const { activeElement } = document;
    const focus = activeElement && place.contains(activeElement) ? activeElement.getAttribute("data-focus") : "";
    fill(place, make());
    if (focus) place.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
  }

  /** @param {Api.WaitInfo} wait */
  head(wait) {
    return [
      el("a.button.back", { href: "#/waits" }, "← Waits"),
      el("h1", {}, wait.spec.label || condition(wait.spec.until)),
      badge(wait.state),
      el("div.tools", {}, this.page.may("wait") ? tools(wait, this.page) : null),
    ];
  }

  /** @param {Api.WaitInfo} wait @param {number} kept */
  verdicts(wait, kept) {
    const { evaluations } = this;
    if (!evaluations.length) return nothing(this.isWatching ? "Not judged yet." : "Nobody has judged it.");
    const listed = evaluations.slice(-this.rows);
    const rest = kept - listed.length;
    return [
      el("div.body", {}, timeline(marksOf(evaluations), wait)),
      el("p.muted.small.told", {}, `${count(listed.length, "verdict")} of ${kept} that are kept, newest first.`),
      evaluationTable(wait, listed, this.recordings),
      rest > 0 ? actionButton(`Show older (${rest})`, () => this.older(), { tone: "more", focus: "older" }) : null,
    ];
  }

  /** @param {Api.WaitShowReply} data */
  async follow(data) {
    const { wait } = data;
    this.liveCard.hidden = !this.isWatching || !wait.display;
    if (this.liveCard.hidden) {
      this.live?.end();
      this.live = null;
      fill(this.parts.liveBody);
      return;
    }
    if (!this.live && !this.coming) {
      this.coming = true;
      try {
        this.live = await mountLive(this.parts.liveBody, api, wait.display);
        if (!this.live) fill(this.parts.liveBody, el("p.muted", {}, `There is no display ${wait.display} now.`));
      } catch (/** @type {any} */ fault) {
        if (fault.status === undefined) throw fault;
        fill(this.parts.liveBody, trouble(fault)); // it is tried again with the next answer
      } finally {
        this.coming = false;
      }
      if (this.aborter.signal.aborted) {
        this.live?.end();
        return;
      }
    }
    this.live?.tell(this.panel.data ?? data, targetWords(wait));
  }
}

/** @param {Api.WaitInfo} wait @param {Page} page */
function tools(wait, page) {
  const path = `/api/waits/${encodeURIComponent(wait.wait_id)}`;
  if (wait.state === "watching")
    return [
      actionButton("Edit…", () => edit(wait), { focus: "edit-wait" }),
      actionButton(
        "Cancel…",
        async () => {
          const lines = [
            "It stops watching and never resolves.",
            "Its agent is not woken; a blocked call of its agent returns as cancelled.",
          ];
          if (await confirmed("Cancel this wait?", lines, "Cancel the wait")) await api.post(`${path}/cancel`);
        },
        { tone: "danger", focus: "cancel-wait" },
      ),
    ];
  const again = wait.state === "resolved" ? "Arm again" : "Try again";
  return [
    actionButton(again, () => armAgain(anew(wait), page), { focus: "arm-again" }),
    actionButton("Edit and arm again…", () => edit(wait, page), { focus: "edit-again" }),
  ];
}

/** @param {Api.WaitInfo} wait */
function verdictNode(wait) {
  const { verdict } = wait;
  const words =
    verdict.code === "not_judged" && !wait.ended_utc_s
      ? "It has not been judged yet: the first verdict comes with the first frame."
      : verdict.detail || verdict.code;
  const code = verdict.code && verdict.code !== "not_judged" ? el("code", {}, verdict.code) : null;
  return el(
    "div.verdict",
    {},
    badge(verdict.answer),
    el("p.pre", {}, words, code ? " " : null, code),
    wait.note ? [badge("warning"), el("p", {}, wait.note)] : null,
    wait.asking ? [badge(isBehind(wait) ? "behind" : "asking"), el("p", {}, wait.asking)] : null,
  );
}

/** @param {Api.WaitInfo} wait @param {Api.Evaluation | undefined} newest @param {Api.RecordingInfo[]} recordings
 * @param {string | null} task
 */
function aboutWait(wait, newest, recordings, task) {
  const { spec } = wait;
  const took = wait.changed_to_resolved_ms;
  const endMs = wait.ended_utc_s * 1000;
  const film = wait.ended_utc_s && wait.display ? momentOf(recordings, endMs, wait.display) : null;
  const seen = newest && `${newest.verdict.answer}: ${newest.verdict.detail || newest.verdict.code}`;
  return el(
    "div",
    {},
    facts([
      ["Stages", stagesNode(wait)],
      ["Seen last", newest && wait.state !== "resolved" ? el("span", {}, when(newest.utc_s), ` · ${seen}`) : ""],
      ["Armed", when(wait.created_utc_s)],
      [wait.ended_utc_s ? "Ended" : "Gives up", when(wait.ended_utc_s || wait.deadline_utc_s)],
      ["Recorded", film ? el("a", { href: momentLink(film, endMs) }, "See this moment in the recording") : ""],
      ["Task", spec.task_id ? el("a", { href: `#/tasks/${encodeURIComponent(spec.task_id)}` }, task) : ""],
      [
        "Counted",
        `${count(wait.frames_seen, "frame")} seen, ${count(wait.judged, "verdict")}, ${count(wait.judge_calls, "judge call")}`,
      ],
      ["Spent", wait.cost_usd === null && !wait.judge_calls ? "nothing" : money(wait.cost_usd, wait.spent.unpriced)],
      ["Change to verdict", took === null || took === undefined ? "" : duration(took / 1000)],
      ["Told", wait.message ? folded("What its agent is told", wait.message) : ""],
      ["Id", el("code", {}, wait.wait_id)],
    ]),
  );
}

/** @param {string} title @param {string} words */
function folded(title, words) {
  return el("details", {}, el("summary", {}, title), el("p.pre.muted", {}, words));
}

// A pass may allow to see a wait without its task.
/** @param {string} taskId @param {AbortSignal} [signal] */
async function taskName(taskId, signal) {
  try {
    return (await api.get(`/api/tasks/${encodeURIComponent(taskId)}?actions=1`, signal)).task.name;
  } catch (/** @type {any} */ fault) {
    if (fault.status !== 403 && fault.status !== 404) throw fault;
    return "its task";
  }
}

// The stages of a sequence: when each was reached, and the one that is watched. Their pictures are in the strip.
/** @param {Api.WaitInfo} wait */
function stagesNode(wait) {
  const { until } = wait.spec;
  if (until.type !== "then") return "";
  const reached = wait.stages ?? [];
  return el(
    "ol",
    {},
    until.parts.map((part, at) => {
      const stage = reached[at];
      const words = stage ? [" · held at ", when(stage.utc_s)] : at === reached.length ? ` · ${wait.state}` : "";
      return el("li", {}, condition(part), words);
    }),
  );
}

/** @param {Api.Evaluation[]} evaluations */
function marksOf(evaluations) {
  return evaluations.map((one) => ({
    utcS: one.utc_s,
    tone: ANSWER_TONES[one.verdict.answer],
    title: `${clock(one.utc_s)} · frame ${one.frame} · ${one.verdict.answer}: ${one.verdict.detail || one.verdict.code}`,
  }));
}

/** @param {Api.WaitInfo} wait @param {Api.Evaluation[]} evaluations @param {Api.RecordingInfo[]} recordings */
function evaluationTable(wait, evaluations, recordings) {
  const rows = evaluations.toReversed().map((one) => {
    const film = momentOf(recordings, one.utc_s * 1000, wait.display);
    return el(
      "tr",
      {},
      el(
        "td.nowrap",
        {},
        film
          ? el("a", { href: momentLink(film, one.utc_s * 1000), title: "In the recording" }, when(one.utc_s))
          : when(one.utc_s),
      ),
      el("td", {}, badge(one.verdict.answer)),
      el("td.breaks.why", {}, one.verdict.detail || one.verdict.code),
      el("td.number", {}, String(one.frame)),
      el("td.nowrap", {}, [one.judge, one.source].filter(Boolean).join(" · ")),
      el("td.number", {}, duration(one.latency_ms / 1000)),
      el("td.number", {}, one.cost_usd === null ? "–" : money(one.cost_usd)),
    );
  });
  const heads = ["Time", "Verdict", "Why", "Frame", "Judge", "Took", "Cost"].map((name) =>
    el("th", { scope: "col", class: ["Frame", "Took", "Cost"].includes(name) ? "number" : null }, name),
  );
  return el(
    "div.scroll",
    { tabindex: "0", role: "region", "aria-label": "Verdicts as a table" },
    el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)),
  );
}
