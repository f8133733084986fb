// What a reader typed and solved, kept in this browser alone. Where it may keep nothing, everything else works.

const PLACE = "autodiff_edu";

export function kept(key) {
  try {
    return JSON.parse(localStorage.getItem(`${PLACE} ${key}`));
  } catch {
    return null;
  }
}

export function keep(key, value) {
  try {
    if (value === null) localStorage.removeItem(`${PLACE} ${key}`);
    else localStorage.setItem(`${PLACE} ${key}`, JSON.stringify(value));
  } catch { /* the browser keeps nothing */ }
}
