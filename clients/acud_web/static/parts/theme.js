// Light, dark, or as the system has it; remembered in this browser.

const KEY = "acud-theme";
/** @type {Record<string, string>} */
const NEXT = { "": "light", light: "dark", dark: "" };
/** @type {Record<string, string>} */
const WORDS = { "": "as the system", light: "light", dark: "dark" };
/** @type {Record<string, string>} */
const SIGNS = { "": "◐", light: "☀", dark: "☾" };

export function chosenTheme() {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "";
}

/** @param {string} theme */
export function setTheme(theme) {
  if (theme) {
    localStorage.setItem(KEY, theme);
    document.documentElement.dataset.theme = theme;
  } else {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  }
}

// Make `button` the switch.
/** @param {HTMLButtonElement} button */
export function themeSwitch(button) {
  const paint = () => {
    const theme = chosenTheme();
    button.textContent = SIGNS[theme];
    button.setAttribute("aria-label", `Theme: ${WORDS[theme]}. Switch to ${WORDS[NEXT[theme]]}`);
    button.title = `Theme: ${WORDS[theme]}`;
  };
  button.addEventListener("click", () => {
    setTheme(NEXT[chosenTheme()]);
    paint();
  });
  setTheme(chosenTheme());
  paint();
}
