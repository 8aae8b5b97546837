// The kept pictures of a wait: after, before, and what differs.

import { lightbox } from "./dialog.js";
import { el, fill } from "./dom.js";

const PARTS = [
  ["after", "When it was decided"],
  ["before", "Before"],
  ["diff", "What differs"],
];

function url(waitId, part) {
  return `/api/waits/${encodeURIComponent(waitId)}/evidence?part=${part}`;
}

export function evidencePictures(waitId, parts = PARTS) {
  return parts.map(([part, title]) => ({ title, node: () => picture(waitId, part, title) }));
}

function picture(waitId, part, title) {
  const image = el("img", {
    src: url(waitId, part),
    alt: `${title}: the watched part of the screen`,
    decoding: "async",
  });
  const place = el("div.marked", {}, image);
  image.addEventListener("error", () => fill(place, el("p.nothing", {}, "This picture was not kept.")), { once: true });
  return place;
}

// Thumbnails of what was kept, and in words what was not.
export function evidenceNode(wait) {
  const kept = wait.evidence;
  if (!kept)
    return el(
      "p.muted",
      {},
      wait.state === "watching" ? "Pictures are kept when the wait ends." : "No picture was kept.",
    );
  const parts = PARTS.filter(([part]) => (part === "after" ? kept.name : kept.before && kept.name));
  const missing = [
    kept.name ? "" : kept.reason || "no picture of the deciding frame",
    kept.before ? "" : kept.before_reason,
  ].filter(Boolean);
  const thumbs = parts.map(([part, title], at) =>
    el(
      "button",
      {
        type: "button",
        "aria-label": `${title}: open`,
        onclick: () => lightbox(evidencePictures(wait.wait_id, parts), at),
      },
      el("img", { src: url(wait.wait_id, part), alt: "", loading: "lazy", decoding: "async" }),
      el("span.small", {}, title),
    ),
  );
  const proof = kept.identity
    ? el(
        "p.muted.small.breaks",
        {},
        `Frame ${kept.frame} of ${kept.display}, epoch ${kept.epoch} · identity `,
        el("code", {}, kept.identity),
      )
    : null;
  return el(
    "div.grid",
    {},
    thumbs.length ? el("div.evidence", {}, thumbs) : null,
    missing.length ? el("p.muted.small", {}, `Not kept: ${missing.join("; ")}`) : null,
    proof,
  );
}
