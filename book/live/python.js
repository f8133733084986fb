// Python for a page, started by the first click that needs it. Programs wait for each other; Stop ends them all.
//
// It runs in a worker of a sandboxed frame, which has no origin: a program reaches neither this page nor what the
// browser keeps for it. A program that came by a link is a guest, and has a Python of its own: in the other one, which
// checks exercises, it has changed nothing.
import { makeReader } from "./files.js";

const PATIENCE = 10_000; // milliseconds for an empty page to answer
const LONG = 10_000; // milliseconds until a reader may think that a program does not end
const refused = "the security policy of this site forbids it; its host finds in the README what to allow";
const [worker, ...ours] = ["worker.js", "kernel.py", "earlier.py", "mathematics.py"].map(
  (name) => new URL(name, import.meta.url),
);
const data = new Map(ours.map((url) => [url.pathname.split("/").at(-1), url]));
const pythons = {};
const waiting = new Map();
let number = 0;
const watchers = new Set();

export class Stopped extends Error {}

export const isStarted = () => "own" in pythons;

// Ask Python for something; `tell` hears how the loading goes, and `see` gets what is shown on the way. Programs run
// one at a time, in the order asked; those of a link among themselves.
export function ask(message, tell, see) {
  const python = (pythons[message.guest ? "guest" : "own"] ??= start());
  const id = ++number;
  const isProgram = Boolean(message.run?.source || message.train); // nothing is run only to start Python
  if ([...waiting.values()].some((other) => other.python === python && other.isProgram)) tell?.({ waiting: true });
  else if (python.how) tell?.(python.how);
  const answer = new Promise((resolve, reject) => waiting.set(id, { resolve, reject, tell, see, python, isProgram }));
  if (tell) watchers.add(tell);
  for (const { name, url } of (message.run ?? message.train)?.data ?? []) data.set(name, url);
  python.port.postMessage({ id, ...message });
  return answer.finally(() => watchers.delete(tell));
}

// End what runs, whatever it is doing. Python starts again at the next click, from what the browser has kept.
export function stop(why = new Stopped("Stopped."), only = undefined) {
  const ends = (python) => !only || python === only;
  for (const [name, python] of Object.entries(pythons)) {
    if (!ends(python)) continue;
    const { frame, port, hear } = python;
    removeEventListener("message", hear);
    frame.remove(); // and with it its worker
    port.close();
    delete pythons[name];
  }
  const left = [...waiting].filter(([, { python }]) => ends(python));
  for (const [id, { reject, late, tell }] of left) {
    waiting.delete(id);
    watchers.delete(tell);
    clearTimeout(late);
    reject(why);
  }
}

// Why no program can run here, in a sentence; undefined where one can.
export function obstacle(built) {
  if (!built) return "This copy of the book was built without Python, so its programs can be watched but not edited.";
  if (typeof WebAssembly !== "object") return "This browser has no WebAssembly, which Python needs to run in a page.";
  return undefined;
}

// Where the data files are that a program reads.
export const placed = (files) => files.map((name) => ({ name, url: new URL(name, location.href).href }));

// How far the loading is, or the program, in a sentence.
export function progressOf({ name, done, total, seconds, waiting: waits, running }) {
  if (waits) return "Waiting for another program of this page to end …";
  if (running) return running < LONG ? "Running …" : "Still running. If this is an endless loop, Stop ends it.";
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  if (!name) return "Starting Python, which takes a few seconds …";
  // The first few files say nothing of the line.
  const left = seconds > 5 && done > total / 20 ? `, about ${Math.round(seconds)} seconds left` : "";
  return `Loading ${name}: ${megabytes(done)} of ${megabytes(total)} MB${left}`;
}

function start() {
  const frame = document.createElement("iframe");
  const { port1: port, port2 } = new MessageChannel();
  const python = { frame, port };
  const fail = (message) => {
    if (Object.values(pythons).includes(python)) stop(new Error(word(message)), python);
  };
  const bytesOf = makeReader(data, (how) => {
    python.how = how;
    for (const tell of watchers) tell(how);
  });
  port.onmessage = async ({ data: told }) => {
    python.begun = true; // what goes wrong from now on, the port tells; what a program throws later is its own affair
    if (told.forbidden) fail(refused);
    else if (told.call === undefined) settle(told, python);
    else {
      const { call, name } = told;
      try {
        const bytes = await bytesOf(name);
        port.postMessage({ call, bytes }, [bytes]);
      } catch (error) {
        port.postMessage({ call, failure: word(error.message) });
      }
    }
  };
  const text = fetch(worker).then((response) => response.text());
  frame.sandbox = "allow-scripts";
  frame.className = "live-python";
  frame.ariaHidden = "true";
  frame.tabIndex = -1;
  frame.title = "Python";
  frame.src = new URL("python.html", import.meta.url).href;
  frame.addEventListener("load", async () => {
    const late = setTimeout(fail, PATIENCE, refused);
    python.hear = ({ source, data: told }) => {
      if (source !== frame.contentWindow) return;
      clearTimeout(late);
      if (told?.broken && !python.begun) fail(told.broken === true ? refused : told.broken);
    };
    addEventListener("message", python.hear);
    try {
      frame.contentWindow.postMessage(await text, "*", [port2]);
    } catch (error) {
      fail(error.message);
    }
  }, { once: true });
  document.body.append(frame);
  return python;
}

const word = (message) => (navigator.onLine ? message : "this device is offline");

function settle({ id, begun, picture, result, failure, running }, python) {
  const asked = waiting.get(id);
  if (asked?.python !== python) return;
  python.how = undefined;
  if (begun) {
    const others = asked.isProgram ? [...waiting.values()].filter((other) => other.python === python) : [];
    for (const other of others) other.tell?.({ waiting: true });
    asked.tell?.({ running: 1 });
    asked.late = setTimeout(() => asked.tell?.({ running: LONG }), LONG);
    return;
  }
  if (picture) {
    asked.see(picture);
    return;
  }
  waiting.delete(id);
  clearTimeout(asked.late);
  if (failure === undefined) asked.resolve(result);
  else asked.reject(Object.assign(new Error(failure === true ? refused : failure), { running }));
}
