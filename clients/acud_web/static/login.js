// The one-time code of the link becomes a session; it leaves the address bar before anything else happens.

import { api, isAway } from "./parts/api.js";
import { sentence } from "./parts/panel.js";
import { chosenTheme, setTheme } from "./parts/theme.js";

const said = /** @type {HTMLElement} */ (document.getElementById("said"));
const form = /** @type {HTMLFormElement} */ (document.getElementById("form"));
const field = /** @type {HTMLInputElement} */ (document.getElementById("code"));

function taken() {
  const code = decodeURIComponent(location.hash.slice(1).replace(/^code=/, ""));
  history.replaceState(null, "", location.pathname);
  return code;
}

/** @param {string} code */
async function redeem(code) {
  form.hidden = true;
  said.className = "";
  said.textContent = "Logging in…";
  try {
    await api.post("/api/login", { code });
  } catch (/** @type {any} */ fault) {
    return refused(fault);
  }
  location.replace("/dashboard");
}

/** @param {any} fault */
function refused(fault) {
  said.className = "bad";
  said.textContent =
    isAway(fault)
      ? `The daemon ${fault.code === "daemon_busy" ? "is busy: try it again" : "does not answer. On the host: acud daemon start"}`
      : `${sentence(fault.error)} Make a new link with: acud web login`;
  form.hidden = false;
  field.value = "";
  field.focus();
}

function begin() {
  const code = taken();
  if (code) return redeem(code);
  form.hidden = false;
  said.textContent = "Open the link that acud web login prints, or put its code here.";
}

setTheme(chosenTheme());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  redeem(field.value.trim());
});
addEventListener("hashchange", () => {
  if (location.hash) begin();
});
begin();
