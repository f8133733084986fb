// Outputs that were made after other cells above than those that stand there now turn grey, as those of a cell do whose
// own text was edited. Python knows whether something else would run before them now; without it, any change counts.
import { ask, isStarted } from "./python.js";

const PAUSE = 300; // milliseconds without a key

// `above` returns the cells above a program, as the page has them or, if asked, as the book has them. What is returned
// hears after which cells a program has run, and its source; without them, that its output is the book's.
export function olderOutputs(programs, cells, above) {
  const ofBook = (program) => ({ above: above(program, true), source: program.source });
  const made = new Map(programs.map((program) => [program, ofBook(program)]));
  const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  let timer;

  async function look() {
    const started = timer;
    const changed = programs.filter((program) => !isSame(above(program), made.get(program).above));
    const asks = changed.length && isStarted();
    const older = asks ? await choose(changed).catch(() => changed) : changed; // Stop ends this, too
    if (timer === started) for (const program of programs) mark(program, older.includes(program));
  }

  async function choose(changed) {
    const numbers = new Map(); // of the cells that are sent, each once
    const numberOf = (cell) => {
      const key = JSON.stringify(cell);
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      return numbers.get(key);
    };
    const pairs = changed.map((program) => {
      const { above: then, source } = made.get(program);
      return [then.map(numberOf), above(program).map(numberOf), source];
    });
    const older = await ask({ older: { cells: [...numbers.keys()].map((key) => JSON.parse(key)), pairs } });
    return changed.filter((_, k) => older[k]);
  }

  function mark(program, isOlder) {
    for (const output of cells[program.cell]?.querySelectorAll(".cell_output") ?? []) {
      output.classList.toggle("live-older", isOlder);
      output.title = isOlder ? "A cell above has changed since this ran." : "";
    }
  }

  return (program, now) => {
    if (program) made.set(program, now ?? ofBook(program));
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
  };
}
