// One Python for a page, started by the first click that needs it. Programs wait for each other; Stop ends them all.

let worker;
let waiting = new Map();
let number = 0;
let watchers = new Set();

export class Stopped extends Error {}

// Ask Python for something; `tell` hears how the loading goes. Only one program runs at a time, in the order asked.
export function ask(message, tell) {
  worker ??= start();
  const id = ++number;
  const answer = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  if (tell) watchers.add(tell);
  worker.postMessage({ id, ...message });
  return answer.finally(() => watchers.delete(tell));
}

// End what runs, whatever it is doing. Python starts again at the next click, from what the browser has kept.
export function stop(why = new Stopped("Stopped.")) {
  worker?.terminate();
  worker = undefined;
  const left = [...waiting.values()];
  waiting = new Map();
  watchers = new Set();
  for (const { reject } of left) reject(why);
}

// Why no program can run here, in a sentence; undefined where one can.
export function obstacle(built) {
  if (!built) return "This copy of the book was built without Python, so its programs can be watched but not edited.";
  if (typeof WebAssembly !== "object") return "This browser has no WebAssembly, which Python needs to run in a page.";
  return undefined;
}

function start() {
  const made = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  made.addEventListener("message", ({ data }) => {
    if (data.progress) for (const tell of watchers) tell(data.progress);
    const asked = waiting.get(data.id);
    if (!asked) return;
    waiting.delete(data.id);
    if ("result" in data) asked.resolve(data.result);
    else asked.reject(Object.assign(new Error(data.failure), { running: data.running }));
  });
  made.addEventListener("error", (event) => {
    event.preventDefault();
    stop(new Error(event.message || "its files cannot be reached, or this page may not run them"));
  });
  return made;
}
