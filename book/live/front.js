// The front page: a slider for x, which needs no Python, and a field for a function of the reader's own, which does.
import { barOf, read } from "./kept.js";
import { isLink } from "./linked.js";
import { ask, obstacle } from "./python.js";
import { play as playFrame } from "./shown.js";

const { built, programs: [program] } = JSON.parse(document.querySelector("#live-programs").textContent);
const front = document.querySelector(".front");
const cell = document.querySelector(".live-program");
const [slider, number, form, field, said] = ["[type=range]", "output", "form", "[type=text]", ".front-said"]
  .map((place) => front.querySelector(place));
const FUNCTIONS = /(?<![\w.])(sin|cos|tan|exp|log|sqrt|tanh|sinh|cosh|abs|arctan|maximum|minimum|pi)\b/g;
const NOTHING = { above: [], source: "", texts: {}, key: "", data: [], title: "" };

let own = false; // whether the player shows the reader's function
const size = `Play it loads Python: ${built} MB, once.`;
const kept = "Play it starts Python, which your browser has.";
said.textContent = obstacle(built) ?? (await isKept() ? kept : size);
form.querySelector("button").disabled = obstacle(built) !== undefined;

// ---- the slider

let wanted;
let drawing = false;
let values; // what the player shows for each place of the slider
const load = () => (values ??= fetch(new URL("front.bin", import.meta.url)).then(async (response) => {
  if (!response.ok) throw new Error(`front.bin: ${response.status}`);
  return new Response(response.body.pipeThrough(new DecompressionStream("gzip"))).json();
}));
for (const name of ["pointerenter", "focus"]) slider.addEventListener(name, () => load().catch(() => {}));

slider.addEventListener("input", async () => {
  number.textContent = String(slider.valueAsNumber).replace("-", "−");
  wanted = slider;
  if (own || drawing) return;
  drawing = true;
  try {
    for (const traces = await load(); wanted; ) {
      wanted = undefined;
      await draw(traces[Math.round((slider.valueAsNumber - slider.min) / slider.step)]);
    }
  } catch {
    said.textContent = "What the slider shows could not be loaded. Reload the page to try again.";
    values = undefined;
  }
  drawing = false;
});
slider.addEventListener("change", () => {
  if (own) play();
});

// A player of the same function with another number takes the place of the one that is there, at the same step.
async function draw({ trace, layout }) {
  const before = cell.querySelector("[data-autodiff-player]");
  const root = before?.shadowRoot;
  if (!root) return;
  const css = root.querySelector("style").textContent;
  const text = JSON.stringify({ tables: [], root: ["v", [{ trace: splitSentences(trace), layout, css }]] });
  const packed = new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip")));
  const bytes = new Uint8Array(await packed.arrayBuffer());
  const content = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const after = before.cloneNode(false);
  const script = document.createElement("script");
  script.type = "application/json";
  script.textContent = JSON.stringify({ version: trace.version, content });
  after.append(script);
  after.dataset.start = root.querySelector(".player").dataset.step;
  after.style.cssText = `position: absolute; visibility: hidden; width: ${before.offsetWidth}px`;
  root.querySelector(".player").ariaLabel = null; // the next one has the name
  before.before(after);
  const drawn = new Promise((resolve) => after.addEventListener("autodiff-mounted", resolve, { once: true }));
  for (const [build, mount] of Object.entries(globalThis.autodiffPlayers)) (await mount)(build);
  await drawn;
  after.style.cssText = "";
  before.remove();
}

// A page holds each sentence in parts, and one that is whole is one part.
const splitSentences = (trace) => ({ ...trace, steps: trace.steps.map((step) => ({ ...step, text: [step.text] })) });

// ---- the field

async function isKept() {
  return (await self.caches?.has("autodiff_edu").catch(() => false)) ?? false;
}

// Where nothing is left to download, Python may start while the reader types.
field.addEventListener("focus", async () => {
  if (!obstacle(built) && await isKept()) ask({ run: NOTHING }).catch(() => {});
}, { once: true });

form.addEventListener("submit", (event) => {
  event.preventDefault();
  play();
});
field.addEventListener("keydown", (event) => event.stopPropagation()); // the theme has keys of its own

function play() {
  if (!field.value.trim()) {
    said.textContent = "Type a function of x first, such as x * np.sin(x).";
    return;
  }
  const value = field.value.trim().replaceAll("^", "**").replace(FUNCTIONS, "np.$1");
  const x = Number.isInteger(slider.valueAsNumber) ? slider.valueAsNumber.toFixed(1) : slider.value;
  cell.dispatchEvent(new CustomEvent("open"));
  const status = cell.querySelector(".live-form .live-status");
  watch(status);
  cell.dispatchEvent(new CustomEvent("own", { detail: `def f(x):\n    return ${value}\n\n\nad.play(f, ${x})` }));
}

let watched;
function watch(status) {
  if (watched === status) return;
  watched = status;
  new MutationObserver(() => (said.textContent = status.textContent)).observe(status, { childList: true });
}

// ---- one program: that of the editor, once it was edited; the field holds it if it can, and a bar says whose it is

const OWN = /^def f\(x\):\n {4}return (.+)\n\n\nad\.play\(f, (-?\d+(?:\.\d+)?)\)$/;
const [example] = [field.value];
const bar = barOf("This program is yours. ");
const reset = Object.assign(document.createElement("button"), { type: "button", textContent: "Reset" });
reset.addEventListener("click", () => cell.querySelector(".live-reset").click());
bar.append(reset);
bar.classList.add("live-yours");
cell.prepend(bar);

function settle(source) {
  const isBooks = source === program.source;
  // A link's function is not the reader's: neither the slider nor the field may run it as such.
  const isGuest = cell.querySelector(".live-offers .live-linked") !== null;
  const [, value, x] = (!isGuest && OWN.exec(source)) || [];
  own = value !== undefined;
  if (own) slider.value = x;
  if (!field.matches(":focus")) field.value = isBooks ? example : value ?? "";
  field.placeholder = example;
  number.textContent = String(slider.valueAsNumber).replace("-", "−");
  front.classList.toggle("edited", !own && !isBooks); // the slider knows nothing of it
  bar.hidden = isBooks || isGuest;
  if (isBooks) front.classList.remove("yours");
}

cell.addEventListener("changed", ({ detail }) => {
  if (detail !== undefined) settle(detail);
});
const left = isLink() ? program.source : read(`text ${program.id}`)?.source;
settle(cell.querySelector(".live-form") && left !== undefined ? left : program.source);
front.classList.toggle("yours", !bar.hidden); // the book's player would be of another program

// What the reader's function does is shown at once, as the page's own is.
cell.addEventListener("replayed", () => {
  front.classList.remove("yours");
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const frame = cell.querySelector("iframe.live-player");
  if (frame) playFrame(frame);
});
