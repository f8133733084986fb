// Runs a Python file in Pyodide, in Node, after loading what a live page loads: node pyodide.mjs FILE GIVEN.
// GIVEN is JSON: "core" is the folder with Pyodide, "mounts" are folders of this computer by their names inside, and
// the whole is the Python file's variable `given`. Its variable `code` is the exit code.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [file, text] = process.argv.slice(2);
const given = JSON.parse(text);

try {
  const { loadPyodide } = await import(pathToFileURL(`${given.core}/pyodide.mjs`));
  const python = await loadPyodide({ indexURL: given.core, env: { HOME: "/home", PYTHONDONTWRITEBYTECODE: "1" } });
  await python.loadPackage("autodiff-edu", { messageCallback: () => {} });
  for (const [inside, outside] of Object.entries(given.mounts)) {
    python.FS.mkdirTree(inside);
    python.FS.mount(python.FS.filesystems.NODEFS, { root: outside }, inside);
  }
  python.globals.set("given", python.toPy(given));
  python.runPython(readFileSync(file, "utf8"), { filename: file });
  process.exitCode = python.globals.get("code");
} catch (error) {
  // uncaught, Node would show the line of the error: the whole of Pyodide, which is one line
  process.stderr.write(`${error.name}: ${error.message}\n`);
  process.exitCode = 70;
}
