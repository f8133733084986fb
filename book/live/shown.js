// What a program shows, as a notebook would: players, text, errors, and what `check` answers.
//
// Text and pictures are put into the page. HTML is a program's own, and may have scripts: it is shown in a sandboxed
// frame, which has no origin and so reaches neither the page nor what is kept for it. That holds for players too, since
// any program can write what looks like one.

const MOST = 20; // frames of one program; each is a page of its own
const MOST_OUTPUTS = 1100; // Python shows fewer, but a program can change what Python says
const LONGEST = 300_000; // letters of one of them
const MESSAGES = 50_000; // letters of all that `check` answers
const LONGEST_NAME = 200; // letters
const OFTEN = 2000; // messages of a frame in a second; a player sends one for each picture on the screen
const KINDS = ["html", "picture", "error", "text"];
const TALLEST = 20_000; // pixels
const LOOK = [
  ...["background", "border", "link", "surface", "text-base", "text-muted"].map((name) => `--pst-color-${name}`),
  "--pst-font-family-base", "--pst-font-family-monospace",
];
const contents = new WeakMap(); // by frame, the HTML that it shows
const heard = new WeakMap(); // by frame, the second in which it sent its last message, and how many in that

// Python shows less than what a program can make it say.
export const short = (text, most = LONGEST_NAME) => (typeof text === "string" ? text.slice(0, most) : "");

export function shown({ outputs, answers }) {
  const box = document.createElement("div");
  box.className = "live-output";
  let frames = 0;
  for (const [said, text] of outputs.slice(0, MOST_OUTPUTS)) {
    const kind = KINDS.find((each) => each === said) ?? "text";
    const output = document.createElement("div");
    output.className = `output live-${kind}`;
    if (kind === "picture") output.append(picture(JSON.parse(text)));
    else if (kind !== "html") output.append(pre(text));
    else if (++frames <= MOST) output.append(makeFrame(text));
    else output.append(`Only the first ${MOST} of these are shown.`);
    output.hidden = frames > MOST + 1 && kind === "html";
    box.append(output);
  }
  let room = MESSAGES;
  for (const { exercise, right, message } of answers.slice(0, MOST_OUTPUTS)) {
    const said = short(message, room);
    room -= said.length;
    const answer = document.createElement("p");
    answer.className = right ? "live-right" : "live-wrong";
    const verdict = document.createElement("strong");
    verdict.textContent = `${short(exercise)}: ${right ? "Right." : "Not yet."} `;
    answer.append(verdict, ...coded(said));
    box.append(answer);
  }
  return box;
}

// ---- HTML, in a frame

export function makeFrame(html) {
  confine();
  const frame = document.createElement("iframe");
  frame.className = "live-frame";
  frame.title = "what the program shows";
  frame.sandbox = "allow-scripts";
  frame.allow = "fullscreen";
  frame.srcdoc = DOCUMENT;
  const plays = html.includes("data-autodiff-player");
  frame.classList.toggle("live-player", plays);
  frame.style.height = plays ? "40rem" : "3rem"; // until it says how tall it is
  frame.addEventListener("load", () => {
    send(frame, { html: contents.get(frame), plays: "plays" in frame.dataset, ...look() });
  });
  contents.set(frame, html);
  return frame;
}

// Play the player that a frame shows, as soon as it is there.
export function play(frame) {
  frame.dataset.plays = "";
}

// Show something else in a frame, which keeps its place and its size.
export function reframe(frame, html) {
  contents.set(frame, html);
  send(frame, { html });
}

const send = (frame, message) => frame.contentWindow?.postMessage(message, "*");
const all = () => [...document.querySelectorAll("iframe.live-frame")];

function look() {
  const style = getComputedStyle(document.documentElement);
  const tall = Math.min(Math.max(innerHeight - 150, 440), 720); // as in the player, where a frame would ask itself
  const variables = LOOK.map((name) => [name, style.getPropertyValue(name)]);
  return {
    scheme: document.documentElement.dataset.theme,
    variables: Object.fromEntries([...variables, ["--autodiff-tall", `${tall}px`]]),
  };
}

addEventListener("message", ({ source, data }) => {
  const frame = source && all().find((each) => each.contentWindow === source);
  if (!frame) return;
  if (floods(frame)) {
    frame.replaceWith("This output was removed, because it sent too many messages to the page.");
    return;
  }
  if (data === "settled") frame.dispatchEvent(new CustomEvent("autodiff-settled", { bubbles: true }));
  if (Number.isFinite(data)) frame.style.height = `${Math.min(Math.max(data, 20), TALLEST)}px`;
});

function floods(frame) {
  const second = Math.floor(performance.now() / 1000);
  const before = heard.get(frame);
  const count = before?.second === second ? before.count + 1 : 1;
  heard.set(frame, { second, count });
  return count > OFTEN;
}

new MutationObserver(() => {
  for (const frame of all()) send(frame, look());
}).observe(document.documentElement, { attributeFilter: ["data-theme"] });

// A frame without an origin could still go to another address, and take along what it shows.
function confine() {
  if (document.querySelector("meta[data-live]")) return;
  const policy = document.createElement("meta");
  policy.dataset.live = "";
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "frame-src 'self'";
  document.head.append(policy);
}

// This function is not called here: its text is the script of each frame.
function inside() {
  const [root, place] = [document.documentElement, document.querySelector("#shown")];
  const tell = () => parent.postMessage(Math.ceil(place.getBoundingClientRect().height), "*");
  addEventListener("message", ({ source, data: { html, plays, scheme, variables } }) => {
    if (source !== parent) return;
    if (plays) {
      addEventListener("autodiff-mounted", ({ target }) => {
        target.shadowRoot.querySelector('[data-action="play"]')?.click();
      }, { once: true });
    }
    if (variables) {
      root.style.colorScheme = root.dataset.theme = scheme;
      for (const [name, value] of Object.entries(variables)) root.style.setProperty(name, value);
    }
    if (html === undefined) return;
    place.innerHTML = html;
    for (const script of place.querySelectorAll("script:not([type='application/json'])")) {
      const made = document.createElement("script"); // those that arrive as text don't run; made anew, they do
      made.type = script.type;
      made.textContent = script.textContent;
      script.replaceWith(made);
    }
  });
  addEventListener("autodiff-settled", () => parent.postMessage("settled", "*"));
  new ResizeObserver(tell).observe(place);
}

const DOCUMENT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src \
'unsafe-inline'; img-src data: blob:; font-src data:">
<title>What the program shows</title>
<style>
  body { margin: 0; background: var(--pst-color-background); color: var(--pst-color-text-base); }
  #shown { display: flow-root; overflow-x: auto; font: 1rem/1.65 var(--pst-font-family-base, sans-serif); }
  a { color: var(--pst-color-link); }
  img { max-width: 100%; }
  pre, code { font-family: var(--pst-font-family-monospace, monospace); }
  table { border-collapse: collapse; margin-bottom: 1rem; }
  th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid var(--pst-color-border); text-align: start; }
</style>
<div id="shown"></div>
<script>(${inside})();</script>
</html>`;

// ---- what the page itself shows

function picture({ alt, png }) {
  const image = document.createElement("img");
  image.alt = alt;
  image.src = `data:image/png;base64,${png}`;
  return image;
}

function pre(text) {
  const element = document.createElement("pre");
  element.textContent = short(text, LONGEST);
  element.tabIndex = 0; // it may scroll, and then the keyboard needs a way in
  return element;
}

// A hint writes code between backticks.
function coded(text) {
  return text.split("`").map((part, k) => {
    if (k % 2 === 0) return document.createTextNode(part);
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });
}
