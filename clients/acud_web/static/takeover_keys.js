// What a key of the browser is on the display: a chord of X keysym names, or text; pure.

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
const KEYPAD = { // what a keypad key says that types nothing
  Enter: "KP_Enter", Home: "KP_Home", End: "KP_End", PageUp: "KP_Prior", PageDown: "KP_Next", Insert: "KP_Insert",
  Delete: "KP_Delete", ArrowUp: "KP_Up", ArrowDown: "KP_Down", ArrowLeft: "KP_Left", ArrowRight: "KP_Right",
  Clear: "KP_Begin",
};
const SIGNS = { " ": "space", "+": "plus" };
const MODIFIERS = {
  Control: ["Control_L", "Control_R"], Alt: ["Alt_L", "Alt_R"], Shift: ["Shift_L", "Shift_R"],
  Meta: ["Super_L", "Super_R"], OS: ["Super_L", "Super_R"], AltGraph: ["ISO_Level3_Shift", "ISO_Level3_Shift"],
};
const RIGHT = 2; // KeyboardEvent.location
const PAD = 3;

/** Return the modifiers down in `event` (a key's or the pointer's) as names for a chord, in a fixed order. */
export function modifiers(event) {
  const typesAltGr = event.getModifierState?.("AltGraph");
  return [
    // Windows tells AltGr as ctrl and alt together.
    event.ctrlKey && !typesAltGr && "ctrl",
    event.altKey && !typesAltGr && "alt",
    event.metaKey && "super",
    event.shiftKey && "shift",
  ].filter(Boolean);
}

/** Return the keysym name of a modifier key pressed alone, "" for any other key. */
export function modifier(event) {
  const names = MODIFIERS[event.key];
  return names ? names[event.location === RIGHT ? 1 : 0] : "";
}

/** Return what pressing the key of `event` does, as an action, or null for a key that is left to the browser: one of an
 * input method, a dead key, one without a name.
 */
export function action(event) {
  if (event.isComposing || modifier(event)) return null;
  if (isCharacter(event.key)) return character(event);
  const name = named(event);
  return name ? { type: "key", chord: [...modifiers(event), name].join("+") } : null;
}

/** Return the name to hold while the key of `event` is down, "" for one that can't be held: of an input method, AltGr. */
export function held(event) {
  const typesAltGr = event.getModifierState?.("AltGraph");
  if (event.isComposing || event.key === "AltGraph" || (typesAltGr && isCharacter(event.key))) return "";
  if (isCharacter(event.key)) return SIGNS[event.key] ?? event.key.toLowerCase();
  return modifier(event) || named(event);
}

/** Return `action`, of a key, with the modifiers `more` (names for a chord) added; other actions as they are. */
export function modified(action, more) {
  const name = action.type === "type" && isCharacter(action.text) ? SIGNS[action.text] ?? action.text.toLowerCase() : "";
  const keys = action.type === "key" ? action.chord.split("+") : name ? [name] : [];
  if (!keys.length || !more.length) return action;
  return { type: "key", chord: [...more.filter((key) => !keys.includes(key)), ...keys].join("+") };
}

/** Tell whether `event` is the way out for a keyboard: Ctrl+Shift+F12. */
export function leaves(event) {
  return event.key === "F12" && event.ctrlKey && event.shiftKey;
}

function isCharacter(key) {
  return [...key].length === 1;
}

function character(event) {
  const held = modifiers(event);
  if (!held.some((name) => name !== "shift")) return { type: "type", text: event.key };
  const lower = event.key.toLowerCase();
  const isLetter = lower !== event.key.toUpperCase();
  // A sign says by itself whether shift is needed, in any layout; with a letter or a space shift has a meaning.
  const kept = isLetter || event.key === " " ? held : held.filter((name) => name !== "shift");
  return { type: "key", chord: [...kept, SIGNS[event.key] ?? lower].join("+") };
}

function named(event) {
  if (event.location === PAD && KEYPAD[event.key]) return KEYPAD[event.key];
  if (/^F([1-9]|[12][0-9]|3[0-5])$/.test(event.key)) return event.key;
  return NAMED[event.key] ?? "";
}
