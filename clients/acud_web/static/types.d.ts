// Types that several modules of the dashboard share, for `scripts/javascript types`; the gateway does not serve them. Those
// of the web API (`Api.…`) are made from its OpenAPI document by scripts/javascript_types.py.

type Gateway = typeof import("./parts/api.js").api;
type ApiError = import("./parts/api.js").ApiError;
type Bus = import("./parts/bus.js").Bus;
type Panel = import("./parts/panel.js").Panel;
type Filters = import("./parts/filters.js").Filters;
type Bulk = import("./parts/bulk.js").Bulk;
type Axis = import("./pages/replay_axis.js").Axis;
type Cards = import("./live/thumbnails.js").Cards;
type LiveStream = import("./live/stream.js").LiveStream;
type Takeover = import("./takeover/takeover.js").Takeover;

/** What an element may hold; null, undefined and false are left out. */
type Nested = Node | string | number | null | undefined | boolean | Nested[];
/** Selectors find elements of HTML alone here: pictures in SVG have nothing that is looked for. */
interface ParentNode {
  querySelector<Name extends keyof HTMLElementTagNameMap>(selectors: Name): HTMLElementTagNameMap[Name] | null;
  querySelector(selectors: string): HTMLElement | null;
  querySelectorAll<Name extends keyof HTMLElementTagNameMap>(selectors: Name): NodeListOf<HTMLElementTagNameMap[Name]>;
  querySelectorAll(selectors: string): NodeListOf<HTMLElement>;
}
/** Chromium alone has it. */
interface Navigator {
  keyboard?: { lock?(): Promise<void>; unlock?(): void };
}
interface Element {
  closest<Name extends keyof HTMLElementTagNameMap>(selectors: Name): HTMLElementTagNameMap[Name] | null;
  closest(selectors: string): HTMLElement | null;
}
/** Attributes of an element; those that begin with `on` are listeners. */
interface Attributes {
  onclick?: (event: MouseEvent) => unknown;
  onchange?: (event: { target: HTMLInputElement }) => unknown;
  oninput?: (event: { target: HTMLInputElement }) => unknown;
  onsubmit?: (event: SubmitEvent) => unknown;
  onload?: (event: globalThis.Event) => unknown;
  onerror?: () => unknown;
  [name: string]: any;
}
type TagOf<Name extends string> = Name extends `${infer Tag}.${string}` ? Tag : Name;
type ElementOf<Name extends string> =
  TagOf<Name> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[TagOf<Name>] : HTMLElement;

// ---- the web API ----------------------------------------------------------------------------------------------------------

type Steps<Path extends string> = Path extends `${infer Step}/${infer Rest}` ? [Step, ...Steps<Rest>] : [Path];
type IsStep<Given, Known> = Known extends `{${string}}` ? true : Known extends `${infer Name}{${string}` ? Given extends `${Name}${string}` ? true : false : string extends Given ? false : Given extends Known ? true : false;
type Fits<Given extends unknown[], Known extends unknown[]> =
  Given extends [infer One, ...infer Rest]
    ? Known extends [infer Other, ...infer Others] ? IsStep<One, Other> extends true ? Fits<Rest, Others> : false : false
    : Known extends [] ? true : false;
type Plain<Path extends string> = Path extends `${infer Before}?${string}` ? Before : Path;
/** What is answered to a path of `Routes` (Api.Gets, Api.Posts), whose ids are any text. */
type AnswerTo<Path extends string, Routes> =
  string extends Path ? any : { [Route in keyof Routes & string]: Fits<Steps<Plain<Path>>, Steps<Route>> extends true ? Routes[Route] : never }[keyof Routes & string];

type AnyCondition = Api.WaitSpec["until"];
/** A display with what goes on there (parts/displays.js). */
type Display = Api.DisplayInfo & { task?: Api.Task | null; watching?: number; unsure?: number; behind?: number };
type NamedRecording = Api.RecordingInfo & { name?: string };
/** The access token of this session. */
interface Me {
  kind: string;
  name: string;
  scope: string;
  displays: string[];
  tasks: string[];
}

// ---- the page -------------------------------------------------------------------------------------------------------------

interface Page {
  api: Gateway;
  bus: Bus;
  me: Me;
  go(path: string): void;
  may(scope: string): boolean;
  isLimited(): boolean;
}
type Stop = () => unknown;
/** A step of a plan with what was done for it; `item` null: what was done for the task as a whole. */
interface PlanRow {
  item: Api.PlanItem | null;
  actions: Api.ActionView[];
}
type Mount = (element: HTMLElement, page: Page, rest: string[], values: URLSearchParams) => Stop | Promise<Stop>;
interface LinkState {
  state: "connecting" | "up" | "down" | "over";
  error: any;
}
/** An event of the daemon, or of the page itself (`link`, `missed`), whose `n` is 0. */
interface BusEvent {
  n: number;
  topic: string;
  utc_s: number;
  subject: string;
  data: Record<string, any>;
}
/** An event in words; `href` is "" where there is nothing to open. */
interface EventWords {
  kind: string;
  who: string;
  words: string;
  href: string;
}
/** Several events that read the same are one row. */
type LogRow = BusEvent & { times: number; words: string };

/** A wake with what it is about. */
type NamedWake = Api.WakeInfo & { name: string; isUnrouted: boolean };
/** What a panel shows, and when it asks anew (parts/panel.js). */
interface PanelShape<Data = any> {
  load(signal: AbortSignal): Promise<Data>;
  show(body: HTMLElement, data: Data): unknown;
  isEmpty?(data: Data): boolean;
  empty?(data: Data): Nested;
  topics?: string[];
  hears?: ((event: BusEvent) => boolean) | null;
  everyMs?: number;
  soonMs?: number;
}
interface Facets {
  words: string;
  utcS: number;
  [name: string]: any;
}
interface BulkAct {
  words: string;
  title: string;
  verb: string;
  done: string;
  lines: string[];
  tone?: string;
  good(one: any): boolean;
  run(one: any): unknown;
}
/** What kind of rows a list has (parts/list.js): all at once, or page by page. */
type ListShape = WholeShape | PagedShape;
interface AnyShape {
  title: string;
  noun: string;
  kinds: string[][];
  kind: string;
  filters: string[];
  topics: string[];
  everyMs?: number;
  id(one: any): string;
  words(name: string, value: string): string;
  row(one: any): HTMLElement;
  empty(kind: string): Nested;
  mount(element: HTMLElement, page: Page, id: string, values: URLSearchParams): Stop;
  make?: { href: string; words: string; scope: string };
  bulk?: { scope: string; acts: BulkAct[] };
}
interface WholeShape extends AnyShape {
  page?: undefined;
  most: number;
  load(kind: string, limit: number, signal?: AbortSignal): Promise<{ rows: any[]; total: number }>;
  facets(one: any): Facets;
  beyond(rest: number): Nested;
}
interface PagedShape extends AnyShape {
  page(kind: string, values: Record<string, string>, offset: number, limit: number, signal?: AbortSignal): Promise<{ rows: any[]; total: number }>;
  choices(kind: string, signal?: AbortSignal): Promise<Record<string, any>[]>;
}
/** What the two kinds of rows are given of their list. */
interface ListView<Shape> {
  shape: Shape;
  bulk: Bulk;
  filters: Filters;
  mark(row: HTMLElement): void;
  kind(): string;
}
interface MadeRow {
  row: HTMLElement;
  item: any;
  top?: number;
  at?: number;
  of?: number;
}
interface Command {
  kind: string;
  title: string;
  more?: string;
  key?: string;
  run(): unknown;
}
interface Series {
  name: string;
  values: number[];
}

// ---- pictures -------------------------------------------------------------------------------------------------------------

interface Picture {
  title: string;
  node(): Nested;
}
/** A segment of a recording that shows a moment. */
interface Moment {
  film: Api.RecordingInfo;
  segment: Api.Segment;
}
/** A picture of a verdict: one that is kept (`src`), or a moment of a recording. */
interface Shot {
  thumb?: any;
  title: string;
  utcS: number;
  verdict: { answer: string; detail: string; code?: string; boxes?: Api.Rect[] };
  frame?: number;
  src?: string;
  size?: { width: number; height: number };
  moment?: Moment;
  boxes?: Api.Rect[];
  at?: number[];
  [more: string]: any;
}
type EvidencePart = [part: string, title: string, boxes?: Api.Rect[], size?: { width: number; height: number }];
/** A small picture of a recording's frame, where it is in the video, and whether it could be drawn already. */
interface Thumb {
  atMs: number;
  frame?: number;
  canvas: HTMLCanvasElement;
  seekS?: number;
  isDrawn?: boolean;
}
interface VerdictRun {
  from_ms: number;
  until_ms: number;
  answer: string;
  count: number;
}
interface LiveBlock {
  x: number;
  y: number;
  size: number;
  format: string;
  bytes: Uint8Array<ArrayBuffer>;
}
interface LiveFrame {
  frame: number;
  key: boolean;
  width: number;
  height: number;
  sent_ms: number;
  captured_ms: number;
  cursor: [number, number] | null;
  blocks: LiveBlock[];
}

// ---- the takeover ---------------------------------------------------------------------------------------------------------

type Direction = Api.Direction;
/** A segment with its frames, and where it lies on the time line (pages/replay_axis.js). */
type AxisSegment = Api.Segment & { rows: Api.FrameAt[]; begin: number; end: number };
type TakeoverAction = Api.ActionsBody["actions"][number];
