/** The types of what a player draws: the document of trace/document.py and player/extra_parts.py, and where its graph goes. */

/** An object has only the keys of its type, so the keys that are listed have types too. */
interface ObjectConstructor {
  entries<T extends object>(some: T): [keyof T & string, T[keyof T]][];
  keys<T extends object>(some: T): (keyof T & string)[];
}

/** What a page or a widget holds; player.js describes it. */
interface Content {
  trace: Trace;
  layout: Layout;
  css: string;
  ask?: Ask;
  drill?: { trace: Trace; layout: Layout; ask: Ask }[];
}

type Data = number | boolean | string | null | Data[];

interface NDArray<D = Data> {
  shape: number[];
  dtype: string;
  text: string;
  data: D;
  every?: number[];
  norm?: number;
}

interface Where {
  code: number;
  line: number;
  columns: [number, number] | null;
}

interface Tensor {
  name: string;
  unnamed?: true;
  kind: "watched" | "variable" | "constant" | "computed";
  value: NDArray;
}

/** A formula: a leaf ("g", "y" or an argument's index), or a head and its parts; program/formulas.py describes it. */
type Tree = Leaf | [head: string, ...parts: any[]];
type Leaf = number | "g" | "y";

interface Entry {
  number: number | null;
  operation: string;
  text: string;
  arguments: (number | string)[];
  inputs: number[];
  output: number;
  formula: number;
  contributions: (number | null)[];
  tapes: number[];
  scope: string[];
  turns?: [loop: number, number: number][];
  where: Where | null;
  broadcast?: number[];
  aliases?: (string | null)[];
  pushes?: (number | null)[];
  call?: number;
}

/** A step has the parts of its kind, and no others. */
interface Step {
  kind: string;
  text: string;
  tape: number | null;
  where: Where | null;
  memory: number | null;
  call?: number;
  passed?: [number, number][];
  left_out?: [number, number];
  born?: OddKind;
  entry?: number;
  tensor?: number;
  pass?: number;
  cotangent?: NDArray;
  argument?: number;
  before?: NDArray | null;
  contribution?: NDArray;
  after?: NDArray;
  unfolded?: NDArray;
  corner?: Corner;
  count?: number;
  of?: number;
  tangent?: NDArray;
  contributions?: (NDArray | null)[];
  value?: NDArray;
  from?: number;
  formula?: number;
  within?: number;
  in_numbers?: number;
  numbers?: string[];
  how?: string;
  what?: string;
  targets?: number[];
  gradient?: NDArray | null;
  word?: string;
  lesson?: string[];
  message?: string;
}

interface Corner {
  element: number[];
  left: string;
  right: string;
  slope: string;
  others: number;
}

/** What a step changes in the picture; document.py describes it. */
interface State {
  backward?: boolean;
  pass?: number | null;
  tangents?: boolean;
  update?: boolean;
  over?: boolean;
  values?: number[];
  flow?: "after" | "cotangent" | "tangent";
  fate?: "recorded" | "cut" | "skip" | "pulled" | "pushed";
  paused?: number[];
  lanes?: [entry: number, tape: number, what: string][];
  unconnected?: number[];
}

/** A step of a walk over contours. */
interface Iterate extends Step {
  number: number;
  point: NDArray<number[]>;
  value: NDArray<number>;
  gradient: NDArray<number[]>;
  hessian: NDArray<number[][]>;
  newton: NDArray<number[]> | null;
  eigenvalues: NDArray<number[]> | null;
  step: NDArray<number[]> | null;
  next: NDArray<number[]> | null;
  next_value: NDArray<number> | null;
  halvings?: NDArray<number>;
  digits?: number;
}

type OddKind = "nan" | "inf" | "-inf";

interface Nudge {
  tensor: number;
  target: number;
  element?: number[];
  along?: boolean;
  from?: number;
  size: number;
  slope?: number;
  moved?: (number | null)[];
  reasons?: string[];
  why?: string;
}

interface Trace {
  version: number;
  title: string;
  code: { place: string; first_line: number; lines: string[] }[];
  tapes: { name: string; persistent: boolean; reruns?: string }[];
  tensors: Tensor[];
  formulas: Tree[];
  entries: Entry[];
  calls?: { text: string; function: number; caller?: number; given?: number[]; method?: true }[];
  steps: Step[];
  states: State[];
  causes?: { text: string; step: number }[];
  begins?: { name: string; step: number; array: NDArray; tensor?: number }[];
  nudges?: Nudge[];
  program?: { lines: string[]; steps: (number | null)[] };
  sweep?: Sweep;
  patches?: Patches;
  contours?: Contours;
  compiling?: Stage[];
}

/** A trace with `contours`. */
interface Walk extends Trace {
  contours: Contours;
  steps: Iterate[];
}

interface Sweep {
  target: string;
  source: string;
  rows: string[];
  columns: string[];
  jacobian: NDArray<Data[][]>;
  passes: { first: number; last: number; rows?: number[]; columns?: number[]; stack: boolean }[];
}

interface Patches {
  target: string;
  source: string;
  full: NDArray<number[][][][]>;
  folded: NDArray<number[][][]>;
  made: number;
  folds: number[];
  begun: number;
  done: number;
}

type Point = [number, number];

interface Contours {
  width: number;
  height: number;
  frame: [number, number, number, number];
  names: [string, string];
  ranges: [Point, Point];
  ticks: { at: number; text: string }[][];
  levels: { text: string; path: string; area: string; label?: Point }[];
  iterates: { at: Point; gradient: Point | null; newton: Point | null; model: string; lengthened?: true; trials?: Point[] }[];
}

interface Stage {
  name: string;
  purpose: string;
  count: number;
  constants: string[];
  lines: { text: string; remark: string; state?: "gone" | "changed" | "new"; why?: string }[];
}

/** Where layout.py puts the graph. */
interface Layout {
  width: number;
  height: number;
  folded: number;
  open: boolean;
  tensors: Box[];
  links: Link[];
  entries: number[][];
  groups: Group[];
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  plain: boolean;
  group: number;
  heading: string;
  operation: string;
  art?: { x: number; top: number; strip: number; width: number; value: number; cotangent: number; ends: Ends; rows?: true };
  limits?: { value: number; cotangent: number };
}

interface Ends {
  value: string;
  cotangent: string;
}

interface Link {
  points: [x: number, top: number, bentX: number, bent: number, bottom: number];
  parent: number;
  entry: number;
  group: number;
  out_of?: number;
  into?: number;
}

interface Group {
  kind: "scope" | "call" | "pass" | "push" | "rerun" | "loop" | "turn";
  title: string;
  count: number;
  parent: number;
  name?: string;
  given?: number[];
  times?: number;
  number?: number;
  x: number;
  y: number;
  width: number;
  height: number;
  side: "left" | "right";
  folded: { x: number; width: number };
}

/** A question of predict mode; questions/index.js describes it. */
interface Question {
  asks: "number" | "shape" | "choice";
  prompt?: string;
  right: Answer;
  shown: string;
  options?: string[];
  mistakes?: Mistake[];
  hint?: string;
  why?: string;
  within?: number;
}

type Answer = number | number[] | string | null;
type Mistake = [wrong: Answer | undefined, hint: string | false | null | undefined];

/** What a drill asks of a program; player/drill.py describes it. */
interface Ask {
  step: number;
  kind: string;
  subject?: string;
  target?: string;
  result?: string;
}

/** What anywidget gives a widget: what the kernel and the page share. */
interface HTMLElement {
  autodiffPlayer?: import("./player.js").Player;
}

interface Model {
  get(name: string): any;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, callback: (message: any) => void): void;
  off(event: string, callback: (message: any) => void): void;
}

/** What happened to a tensor at a step: a value, cotangent or tangent that it has from then on. */
interface Change {
  step: number;
  array: NDArray;
  fate?: string;
}
