// What Python is made of: fetched by the page, counted, compared with its digest, and kept for the next visit.

const FOLDER = new URL("../python/", import.meta.url);

// A function that returns the bytes of a file; `tell` hears how far all of them are, and `data` has the addresses of
// the files that programs read, by their names.
export function makeReader(data, tell) {
  const listing = list();
  const began = performance.now();
  let done = 0;
  return async (name) => {
    if (data.has(name)) return (await check(await fetch(data.get(name)))).arrayBuffer();
    const files = await listing;
    if (!Object.hasOwn(files, name)) throw new Error(`${name} is not a file of this book`);
    const total = Object.values(files).reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
    const count = (more) => {
      done += more;
      const seconds = ((performance.now() - began) / 1000) * (total / done - 1);
      tell({ name: done < total ? name : "", done, total: Math.max(total, done), seconds });
    };
    try {
      return await read(new URL(files[name].address ?? name, FOLDER), files[name].sha256, count);
    } catch (error) {
      throw error.message.includes(name) ? error : new Error(`${name}: ${error.message}`);
    }
  };
}

async function list() {
  const files = await (await check(await fetch(new URL("files.json", FOLDER)))).json();
  await forget(Object.values(files).map((file) => file.sha256));
  return files;
}

// Files of an earlier edition of the book, which nothing will ask for again.
async function forget(current) {
  const kept = await cache();
  for (const { url } of (await kept?.keys()) ?? []) {
    const others = url.startsWith(FOLDER.origin) && !url.startsWith(FOLDER.href); // another book's
    if (!others && !current.includes(new URL(url).search.slice(1))) await kept.delete(url);
  }
}

async function read(url, sha256, count) {
  const kept = await cache();
  const key = new URL(`?${sha256}`, url);
  const before = await (await kept?.match(key))?.arrayBuffer();
  // Whatever runs at this address may write into the cache, so what comes from there is compared as well.
  if (before && (await digest(before)) === sha256) {
    count(before.byteLength);
    return before;
  }
  // Browsers compute digests only where a page is safe from others: on https, and on this machine. Elsewhere they
  // compare what they fetch, but do not say what is wrong.
  const response = await check(await fetch(url, crypto.subtle ? {} : { integrity: `sha256-${base64(sha256)}` }));
  const reader = response.clone().body.getReader();
  for (let part; !(part = await reader.read()).done;) count(part.value.byteLength);
  const bytes = await response.arrayBuffer();
  if (crypto.subtle && (await digest(bytes)) !== sha256) {
    throw new Error(`${url.pathname.split("/").at(-1)} was damaged or changed on the way`);
  }
  await kept?.put(key, new Response(bytes)).catch(() => undefined); // the disk may be full
  return bytes;
}

const cache = () => globalThis.caches?.open("autodiff_edu").catch(() => undefined);
const letter = (byte) => String.fromCharCode(Number.parseInt(byte, 16));
const base64 = (hexadecimal) => btoa(hexadecimal.replace(/../g, letter));

async function digest(bytes) {
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...found].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function check(response) {
  if (!response.ok) throw new Error(`${new URL(response.url).pathname.split("/").at(-1)}: ${response.status}`);
  return response;
}
