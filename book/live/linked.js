// A program in an address: "#program-1.", the name of its cell, and its text, compressed. Opening it shows the program,
// which has not run. Anybody may have written what stands in an address: it is checked before it is shown.

const MARK = "#program-";
const MOST = 8000; // characters of the part after #, which mail and chat programs still pass on
const LONGEST = 100_000; // bytes of a program; a few characters can be packed that unpack to millions
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\u2800]/u; // they can make a program look like another

export const isLink = () => location.hash.startsWith(MARK);

// The program of this page's address, and that whose place it takes; undefined if the address has none. A link that is
// not as it should be is an error with a sentence.
export async function programOf(programs) {
  if (!isLink()) return undefined;
  if (location.hash.length > MOST) throw new Error("The program of this link is too long to be opened.");
  const [, version, place, packed] = /^#program-(\d+)\.([\w-]+)\.([\w-]+)$/.exec(location.hash) ?? [];
  if (!packed) throw new Error("The program of this link is damaged: part of the address may be missing.");
  if (version !== "1") throw new Error("The program of this link was written for another edition of the book.");
  const program = programs.find((each) => nameOf(each) === place && each.kind === "play");
  if (!program) {
    throw new Error("This page has no place for the program of this link. Another edition of the book may have it.");
  }
  let bytes;
  try {
    bytes = await pass(new DecompressionStream("deflate-raw"), bytesOf(packed));
  } catch {
    throw new Error("The program of this link is damaged: part of the address may be missing.");
  }
  if (!bytes) throw new Error("The program of this link is too long to be opened.");
  return { program, source: check(textOf(bytes)) };
}

const nameOf = ({ id }) => id.split("/").at(-1); // the page has the rest

// The address of this page with a program in it.
async function addressOf(program, source) {
  const packed = await pass(new CompressionStream("deflate-raw"), new TextEncoder().encode(check(source)));
  const fragment = packed && `${MARK}1.${nameOf(program)}.${base64(packed)}`;
  if (!packed || fragment.length > MOST) throw new Error("This program is too long for a link. Send its text instead.");
  return `${location.origin}${location.pathname}${fragment}`;
}

// A button that copies that address.
export function linkButton(program, fields, say) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "live-link";
  button.textContent = "Copy link";
  button.addEventListener("click", async () => {
    try {
      const address = await addressOf(program, fields.source());
      const copied = await navigator.clipboard?.writeText(address).then(() => true, () => false);
      if (!copied) history.replaceState(null, "", address);
      say(copied ? "Copied. Anyone who opens the link sees this program, and can play it."
        : "The address of this page now holds the program: copy it from there.");
    } catch (error) {
      say(error.message);
    }
  });
  return button;
}

// Nothing of the link is left in the address: what is shown from now on is the reader's.
export function settleLink() {
  if (isLink()) history.replaceState(null, "", `${location.pathname}${location.search}`);
}

addEventListener("hashchange", () => {
  if (isLink()) location.reload(); // a link that is pasted into the address of an open page
});

function check(source) {
  if (source === undefined) throw new Error("The program of this link is damaged: it is not text.");
  if (!UNSEEN.test(source)) return source;
  throw new Error("A link passes on no program with characters that cannot be seen: they could hide what it does.");
}

// What comes out of a stream, unless it is too much.
async function pass(stream, bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (let part; !(part = await reader.read()).done;) {
    parts.push(part.value);
    size += part.value.length;
    if (size > LONGEST) {
      await reader.cancel();
      return undefined;
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

// An address passes on - and _, where base64 has + and /.
const base64 = (bytes) =>
  btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
