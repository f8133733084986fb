// Outputs that were made after other cells above than those that stand there now turn grey, as those of a cell do whose
// own text was edited. A cell above leaves the same to those below if only its players were changed: Python says so.
import { ask, isStarted } from "./python.js";

const PAUSE = 300; // milliseconds without a key
const lasting = new Map(); // by cell, what it leaves to those below
const keyOf = ({ source, texts }) => JSON.stringify([source, texts]);
const left = (cell) => lasting.get(keyOf(cell)) ?? keyOf(cell); // without Python, any change counts

// `above` returns the cells above a program, as the page has them or, if asked, as the book has them. What is returned
// hears after which cells a program has run, and whether it takes nothing of them; of nothing, that it is the book's.
export function olderOutputs(programs, cells, above) {
  const ofBook = (program) => ({ above: above(program, true), alone: program.alone });
  const made = new Map(programs.map((program) => [program, ofBook(program)]));
  let timer;

  function mark() {
    for (const program of programs) {
      const { alone, above: then } = made.get(program);
      const isOlder = !alone && above(program).some((cell, k) => left(cell) !== left(then[k]));
      for (const output of cells[program.cell]?.querySelectorAll(".cell_output") ?? []) {
        output.classList.toggle("live-older", isOlder);
        output.title = isOlder ? "A cell above was changed after this was made." : "";
      }
    }
  }

  async function look() {
    const changed = programs.flatMap((program) => {
      const { above: then } = made.get(program);
      return above(program).flatMap((cell, k) => (keyOf(cell) === keyOf(then[k]) ? [] : [cell, then[k]]));
    });
    const unknown = new Map(changed.map((cell) => [keyOf(cell), cell]).filter(([key]) => !lasting.has(key)));
    if (!lasting.size || !isStarted()) mark(); // it may take a while until Python answers
    if (unknown.size && isStarted()) {
      const told = await ask({ cells: [...unknown.values()] }).catch(() => []); // Stop ends this, too
      for (const [k, key] of [...unknown.keys()].entries()) if (typeof told[k] === "string") lasting.set(key, told[k]);
    }
    mark();
  }

  return (program, now) => {
    if (program) made.set(program, now ?? ofBook(program));
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
  };
}
