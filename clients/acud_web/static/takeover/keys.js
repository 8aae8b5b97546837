// What a key of the browser is on the display: a chord of X keysym names, or text; pure.

/** @type {Record<string, string>} */
const NAMED = {
  Enter: "Return", Escape: "Escape", Backspace: "BackSpace", Tab: "Tab", Delete: "Delete", Insert: "Insert",
  Home: "Home", End: "End", PageUp: "Prior", PageDown: "Next",
  ArrowUp: "Up", ArrowDown: "Down", ArrowLeft: "Left", ArrowRight: "Right",
  ContextMenu: "Menu", PrintScreen: "Print", Pause: "Pause", Help: "Help", Undo: "Undo", Redo: "Redo", Find: "Find",
  CapsLock: "Caps_Lock", NumLock: "Num_Lock", ScrollLock: "Scroll_Lock", Clear: "Clear", Cancel: "Cancel",
  AudioVolumeUp: "XF86AudioRaiseVolume", AudioVolumeDown: "XF86AudioLowerVolume", AudioVolumeMute: "XF86AudioMute",
  MediaPlayPause: "XF86AudioPlay", MediaStop: "XF86AudioStop", MediaTrackNext: "XF86AudioNext",
  MediaTrackPrevious: "XF86AudioPrev", BrowserBack: "XF86Back", BrowserForward: "XF86Forward",
  BrowserRefresh: "XF86Refresh", BrowserHome: "XF86HomePage", BrowserSearch: "XF86Search",
};
/** @type {Record<string, string>} */
const KEYPAD = { // what a keypad key says that types nothing
  Enter: "KP_Enter", Home: "KP_Home", End: "KP_End", PageUp: "KP_Prior", PageDown: "KP_Next", Insert: "KP_Insert",
  Delete: "KP_Delete", ArrowUp: "KP_Up", ArrowDown: "KP_Down", ArrowLeft: "KP_Left", ArrowRight: "KP_Right",
  Clear: "KP_Begin",
};
/** @type {Record<string, string>} */
const SIGNS = { " ": "space", "+": "plus" };
/** @type {Record<string, string[]>} */
const MODIFIERS = {
  Control: ["Control_L", "Control_R"], Alt: ["Alt_L", "Alt_R"], Shift: ["Shift_L", "Shift_R"],
  Meta: ["Super_L", "Super_R"], OS: ["Super_L", "Super_R"], AltGraph: ["ISO_Level3_Shift", "ISO_Level3_Shift"],
};
const RIGHT = 2; // KeyboardEvent.location
const PAD = 3;

/** Return the modifiers down in `event` (a key's or the pointer's) as names for a chord, in a fixed order.
 * @param {KeyboardEvent | MouseEvent} event @returns {string[]}
 */
export function modifiers(event) {
  const typesAltGr = event.getModifierState?.("AltGraph");
  return [
    // Windows tells AltGr as ctrl and alt together.
    event.ctrlKey && !typesAltGr && "ctrl",
    event.altKey && !typesAltGr && "alt",
    event.metaKey && "super",
    event.shiftKey && "shift",
  ].filter((name) => typeof name === "string");
}

/** Return the keysym name of a modifier key pressed alone, "" for any other key.
 * @param {KeyboardEvent} event
 */
export function modifier(event) {
  const names = MODIFIERS[event.key];
  return names ? names[event.location === RIGHT ? 1 : 0] : "";
}

/** Tell whether `name`, of a key of the display, is a modifier's.
 * @param {string} name
 */
export function isModifier(name) {
  return Object.values(MODIFIERS).flat().includes(name);
}

/** Return what pressing the key of `event` does, as an action, or null for a key that is left to the browser: one of an
 * input method, a dead key, one without a name.
 * @param {KeyboardEvent} event @returns {TakeoverAction | null}
 */
export function action(event) {
  if (event.isComposing || modifier(event)) return null;
  if (isCharacter(event.key)) return character(event);
  const name = named(event);
  return name ? { type: "key", chord: [...modifiers(event), name].join("+") } : null;
}

/** Return how the key of `event` goes to the display as a key: {hold}, the name that is down there as long as it is here; or
 * {action, free}, what is done at once while Shift ("shift") or all modifiers ("all") are up there, because there it may need
 * others than here; or null for one that is no key there, or of which the browser does not tell both: it is left to `action`.
 * @param {KeyboardEvent} event @returns {{ hold?: string; action?: TakeoverAction; free?: string } | null}
 */
export function real(event) {
  const { key, shiftKey } = event;
  // With Meta down, a Mac tells of no key that goes up.
  if (event.isComposing || event.metaKey || ["Meta", "OS", "AltGraph"].includes(key)) return null;
  if (!isCharacter(key)) {
    const name = modifier(event) || named(event);
    return name ? { hold: name } : null;
  }
  if (event.getModifierState?.("AltGraph")) return { action: { type: "type", text: key }, free: "all" };
  const isChord = event.ctrlKey || event.altKey;
  const isLetter = /^[a-z]$/i.test(key);
  // A letter is the same key everywhere, a sign is not: with Shift here it may need none there. Caps Lock is not held.
  const isSame = isLetter ? isChord || /[A-Z]/.test(key) === shiftKey : key === " " || (!shiftKey && key < "\x7f");
  const name = SIGNS[key] ?? key.toLowerCase();
  if (isSame) return { hold: name };
  return isChord ? { action: { type: "key", chord: name }, free: "shift" } : { action: { type: "type", text: key }, free: "all" };
}

/** Return `action`, of a key, with the modifiers `more` (names for a chord) added; other actions as they are.
 * @param {TakeoverAction} action @param {string[]} more @returns {TakeoverAction}
 */
export function modified(action, more) {
  const name = action.type === "type" && isCharacter(action.text) ? SIGNS[action.text] ?? action.text.toLowerCase() : "";
  const keys = action.type === "key" ? action.chord.split("+") : name ? [name] : [];
  if (!keys.length || !more.length) return action;
  return { type: "key", chord: [...more.filter((key) => !keys.includes(key)), ...keys].join("+") };
}

/** Return what holds each of `keys`.
 * @param {string[]} keys @returns {TakeoverAction[]}
 */
export function hold(keys) {
  return keys.map((what) => ({ type: "hold", what }));
}

/** Return what releases each of `keys`.
 * @param {string[]} keys @returns {TakeoverAction[]}
 */
export function release(keys) {
  return keys.map((what) => ({ type: "release", what }));
}

/** Tell whether `event` is the way out for a keyboard: Ctrl+Shift+F12.
 * @param {KeyboardEvent} event
 */
export function leaves(event) {
  return event.key === "F12" && event.ctrlKey && event.shiftKey;
}

/** @param {string} key */
function isCharacter(key) {
  return [...key].length === 1;
}

/** @param {KeyboardEvent} event @returns {TakeoverAction} */
function character(event) {
  const held = modifiers(event);
  if (!held.some((name) => name !== "shift")) return { type: "type", text: event.key };
  const lower = event.key.toLowerCase();
  const isLetter = lower !== event.key.toUpperCase();
  // A sign says by itself whether shift is needed, in any layout; with a letter or a space shift has a meaning.
  const kept = isLetter || event.key === " " ? held : held.filter((name) => name !== "shift");
  return { type: "key", chord: [...kept, SIGNS[event.key] ?? lower].join("+") };
}

/** @param {KeyboardEvent} event */
function named(event) {
  if (event.location === PAD && KEYPAD[event.key]) return KEYPAD[event.key];
  if (/^F([1-9]|[12][0-9]|3[0-5])$/.test(event.key)) return event.key;
  return NAMED[event.key] ?? "";
}
