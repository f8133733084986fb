// Python, in a worker of a frame that has no origin: the page stays alive whatever a program does, and Stop ends both.
//
// All that the page is told goes through one port, which no program can find: it is known in this module alone, and
// what reads and writes it was taken before the first program ran. What a program posts itself, nobody hears.
// Messages in: { id, run | move | train | older }, { call, bytes | failure }. Out: { call, name }, { id, begun },
// { id, picture }, { id, result }, { id, failure }.

const FOLDER = "https://python.invalid/"; // no address: what Pyodide fetches from here, the page sends
const dataOf = Function.prototype.call.bind(Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data").get);
const calls = new Map();
const FORBIDDEN = new Error("by the policy of the site"); // the page has the words
let send;
let python;
let broken; // what went wrong with a file; Pyodide only says that something did

export function begin(port) {
  send = port.postMessage.bind(port);
  port.onmessage = (event) => hear(dataOf(event));
}

function hear(message) {
  if (message.call === undefined) answer(message);
  else if (message.bytes) calls.get(message.call).resolve(message.bytes);
  else calls.get(message.call).reject((broken = new Error(message.failure)));
}

async function answer({ id, run, move, train, older }) {
  let running = false;
  try {
    const kernel = await (python ??= explain(load()));
    if (run ?? train) await explain(prepare(kernel, run ?? train));
    running = true;
    if (run) send({ id, begun: true });
    let result;
    if (run) result = kernel.ask("run", run.above, run.source, run.texts, run.key, run.title);
    else if (move) result = kernel.ask("move", move.name, move.value, move.key, move.number);
    else if (older) result = kernel.ask("list_older", older.cells, older.pairs);
    else kernel.ask("train", train.above, train.source, (picture) => send({ id, picture }));
    send({ id, result });
  } catch (error) {
    python = undefined; // it may be dead; the next try begins anew, with the files that have arrived
    send({ id, running, failure: error === FORBIDDEN || (running ? describeEnd(error) : lastLine(error)) });
  }
}

const lastLine = (error) => String(error.message).trim().split("\n").at(-1);

function describeEnd(error) {
  if (/MemoryError|out of memory/.test(error.message)) {
    return "The program needs more memory than a page may have, which ended Python.";
  }
  const deep = /call stack|recursion/i.test(error.message);
  return deep ? "A function called itself too many times, and Python crashed. Is there a case where it stops?"
    : `The program ended Python itself: ${lastLine(error)}`;
}

// All that wait for the same files hear what went wrong with them.
async function explain(work) {
  try {
    const done = await work;
    if (broken) throw broken; // Pyodide goes on without a package that did not arrive
    return done;
  } catch (error) {
    throw broken ?? error;
  } finally {
    broken = undefined;
  }
}

function request(name) {
  const call = calls.size;
  return new Promise((resolve, reject) => {
    calls.set(call, { resolve, reject });
    send({ call, name });
  });
}

async function load() {
  if (!mayRun()) throw FORBIDDEN;
  self.fetch = async (asked) => {
    const name = new URL(asked.url ?? asked, FOLDER).pathname.split("/").at(-1);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(await request(name), { headers: { "Content-Type": type } });
  };
  const { loadPyodide } = await module("pyodide.mjs");
  const { default: createPyodideModule } = await module("pyodide.asm.mjs");
  const pyodide = await loadPyodide({
    createPyodideModule, indexURL: FOLDER, packageBaseUrl: FOLDER, packages: ["numpy", "autodiff-edu"],
  });
  for (const name of ["earlier.py", "mathematics.py", "kernel.py"]) {
    pyodide.FS.writeFile(name, new Uint8Array(await request(name)));
  }
  const kernel = pyodide.runPython("import sys; sys.path.insert(0, '.'); from kernel import Kernel; Kernel()");
  return {
    pyodide,
    files: new Set(),
    ask(method, ...given) {
      const answered = kernel[method](...given.map((each) => pyodide.toPy(each)));
      const told = answered?.toJs?.({ dict_converter: Object.fromEntries, create_pyproxies: false }) ?? answered;
      answered?.destroy?.();
      return told;
    },
  };
}

// Pyodide makes functions of text, and under a policy that forbids it would wait for ever.
function mayRun() {
  try {
    new Function("");
    return true;
  } catch {
    return false;
  }
}

// The bytes that were compared are those that run.
async function module(name) {
  const address = URL.createObjectURL(new Blob([await request(name)], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

// Matplotlib, where a program imports it, the contours that ad.descend draws, and the data files that are read: by the
// program, or by what it needs of the cells above.
async function prepare({ pyodide, files, ask }, { above, source, data }) {
  const program = `${ask("setup", above, source)}\n${source}`;
  if (/^\s*(import|from)\s.*\bmatplotlib\b/m.test(program)) await pyodide.loadPackage("matplotlib");
  if (/\bdescend\b/.test(program)) await pyodide.loadPackage("contourpy");
  for (const { name } of data) {
    if (files.has(name) || (name.includes("/") && !program.includes(name))) continue; // the other is a course's own
    const bytes = await request(name);
    if (name.includes("/")) pyodide.FS.mkdirTree(name.slice(0, name.lastIndexOf("/")));
    pyodide.FS.writeFile(name, new Uint8Array(bytes));
    files.add(name);
  }
}
