/** Has Node import the player's modules as esbuild does: each .js is a module, and a .json exports its keys. */

import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url); // the hook below runs in a thread of its own

export async function load(url, context, next) {
  if (!url.endsWith(".json")) return next(url, url.endsWith(".js") ? { ...context, format: "module" } : context);
  const keys = JSON.parse(await readFile(new URL(url), "utf8"));
  const source = Object.entries(keys).map(([key, value]) => `export const ${key} = ${JSON.stringify(value)};`);
  return { format: "module", shortCircuit: true, source: source.join("\n") };
}
