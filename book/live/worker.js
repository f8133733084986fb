// Python, in a thread of its own: the page stays alive whatever a program does, and Stop ends both.
// Messages in: { id, run | move }. Out: { progress }, { id, result }, { id, failure }.

const FOLDER = new URL("../python/", import.meta.url);
const download = self.fetch.bind(self);
let python;
let broken; // what went wrong with a file; Pyodide only says that something did

self.addEventListener("message", async ({ data: { id, run, move } }) => {
  let running = false;
  try {
    const kernel = await (python ??= explained(load()));
    if (run) await explained(prepare(kernel, run));
    running = true;
    const result = run
      ? kernel.ask("run", run.setup, run.source, run.texts, run.key, run.title)
      : kernel.ask("move", move.name, move.value, move.key, move.number);
    self.postMessage({ id, result });
  } catch (error) {
    python = undefined; // it may be dead; the next try begins anew, with the files that have arrived
    const last = String(error.message).trim().split("\n").at(-1);
    self.postMessage({ id, running, failure: running ? `The program ended Python itself: ${last}` : last });
  }
});

// All that wait for the same files hear what went wrong with them.
async function explained(work) {
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

async function load() {
  const files = await (await arrived(await download(new URL("files.json", FOLDER)))).json();
  const total = Object.values(files).reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  let done = 0;
  // What Pyodide fetches comes through here: counted, compared with its hash, and kept for the next visit.
  self.fetch = async (request, options) => {
    const url = new URL(request.url ?? request, FOLDER);
    const name = url.pathname.split("/").at(-1);
    const bytes = await whole(url, options, (more) => {
      done += more;
      self.postMessage({ progress: { name, done, total: Math.max(total, done) } });
    }, files[name]?.sha256).catch((error) => {
      throw (broken = error.message.includes(name) ? error : new Error(`${name}: ${error.message}`));
    });
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(bytes, { headers: { "Content-Type": type } });
  };
  await forget(Object.values(files).map((file) => file.sha256));
  const { loadPyodide } = await module("pyodide.mjs");
  const { default: createPyodideModule } = await module("pyodide.asm.mjs");
  const pyodide = await loadPyodide({
    createPyodideModule, indexURL: FOLDER.href, packageBaseUrl: FOLDER.href, packages: ["numpy", "autodiff-edu"],
  });
  self.postMessage({ progress: { name: "", done, total: done } });
  const source = await (await arrived(await download(new URL("kernel.py", import.meta.url)))).text();
  pyodide.FS.writeFile("kernel.py", source);
  const kernel = pyodide.runPython("import sys; sys.path.insert(0, '.'); from kernel import Kernel; Kernel()");
  return {
    pyodide,
    files: new Set(),
    ask(method, ...given) {
      const answer = kernel[method](...given.map((each) => pyodide.toPy(each)));
      const told = answer?.toJs?.({ dict_converter: Object.fromEntries, create_pyproxies: false }) ?? answer;
      answer?.destroy?.();
      return told;
    },
  };
}

// The bytes that were compared are those that run: imported by its address, a module would be fetched once more.
async function module(name) {
  const bytes = await (await self.fetch(new URL(name, FOLDER))).arrayBuffer();
  const address = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

// Matplotlib, where a program imports it, the contours that ad.descend draws, and the data files that are read.
async function prepare({ pyodide, files }, { setup, source, data }) {
  const program = `${setup}\n${source}`;
  if (/^\s*(import|from)\s.*\bmatplotlib\b/m.test(program)) await pyodide.loadPackage("matplotlib");
  if (/\bdescend\b/.test(program)) await pyodide.loadPackage("contourpy");
  for (const { name, url } of data.filter((file) => !files.has(file.name))) {
    const bytes = await (await arrived(await download(url))).arrayBuffer();
    if (name.includes("/")) pyodide.FS.mkdirTree(name.slice(0, name.lastIndexOf("/")));
    pyodide.FS.writeFile(name, new Uint8Array(bytes));
    files.add(name);
  }
}

// Files of an earlier edition of the book, which nothing will ask for again.
async function forget(current) {
  const kept = await self.caches?.open("autodiff_edu").catch(() => undefined);
  for (const { url } of (await kept?.keys()) ?? []) {
    const others = url.startsWith(FOLDER.origin) && !url.startsWith(FOLDER.href); // another book's
    if (!others && !current.includes(new URL(url).search.slice(1))) await kept.delete(url);
  }
}

async function whole(url, options, count, sha256) {
  const kept = await self.caches?.open("autodiff_edu").catch(() => undefined);
  const key = new URL(`?${sha256 ?? ""}`, url);
  const before = sha256 && (await kept?.match(key));
  if (before) {
    const bytes = await before.arrayBuffer();
    count(bytes.byteLength);
    return bytes;
  }
  // Browsers compute digests only where a page is safe from others: on https, and on this machine.
  const compared = sha256 && self.crypto.subtle;
  const { integrity, ...others } = options ?? {}; // the browser would compare too, and not say what is wrong
  const response = await arrived(await download(url, compared ? others : { ...others, integrity }));
  const reader = response.clone().body.getReader();
  for (let part; !(part = await reader.read()).done;) count(part.value.byteLength);
  const bytes = await response.arrayBuffer();
  if (compared) {
    const digest = new Uint8Array(await self.crypto.subtle.digest("SHA-256", bytes));
    const found = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    if (found !== sha256) throw new Error(`${url.pathname.split("/").at(-1)} was damaged or changed on the way`);
    await kept?.put(key, new Response(bytes)).catch(() => undefined); // the disk may be full
  }
  return bytes;
}

async function arrived(response) {
  if (!response.ok) throw new Error(`${new URL(response.url).pathname.split("/").at(-1)}: ${response.status}`);
  return response;
}
