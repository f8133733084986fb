// What a reader typed and solved, kept in this browser alone. Where it may keep nothing, everything else works.

const { course } = JSON.parse(document.querySelector("#live-programs").textContent);
const PLACE = ["autodiff_edu", course].filter(Boolean).join(" "); // two courses may stand at one address

export function kept(key) {
  try {
    return JSON.parse(localStorage.getItem(`${PLACE} ${key}`));
  } catch {
    return null;
  }
}

// What was typed into a program: into this edition of it, and the text typed into an earlier one.
export function typed(key, edition) {
  const found = kept(key);
  if (!found) return {};
  if (found.edition === edition) return { before: found, earlier: found.earlier };
  const edited = found.source !== found.edition || Object.keys(found.texts).length > 0;
  const earlier = edited ? found.source : found.earlier;
  return { earlier: earlier === edition ? undefined : earlier };
}

export function keep(key, value) {
  try {
    if (value === null) localStorage.removeItem(`${PLACE} ${key}`);
    else localStorage.setItem(`${PLACE} ${key}`, JSON.stringify(value));
  } catch { /* the browser keeps nothing */ }
}
