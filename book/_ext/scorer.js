// What Sphinx's search does not do by itself: weights, questions in a learner's words, words with a typing error.
/* global ABSTRACTS, Search, Stemmer -- of finishing.py and of Sphinx's scripts, which run before this one */
/* eslint no-var: "off", no-unused-vars: "off" -- Sphinx's own script reads Scorer */
var asked = "";
const BEHIND = /^(contributing|made)\/|^(rule-source|teaching)$/; // read for other reasons than a question
const ANSWERS = [
  [/\bnone\b|no gradient/, "why-none"],
  [/\bnan\b|\binf(inity)?\b|overflow|not a number|\bclip/, "chapters/12-not-a-number"],
  [/detach|(stop|cut|block|freeze).*\bgradients?\b|stop_gradient/, "chapters/09-stop-gradient"],
  [/no_grad|stop.*record|pause/, "chapters/08-stop-recording"],
  [/retain_graph|persistent|second time|(backward|gradient).*twice/, "chapters/08-stop-recording"],
  [/zero_grad|\.grad\b|accumulat/, "chapters/C-pytorch-and-jax", "dictionary"],
  [/requires_grad|\bleaf\b|\bwatch/, "chapters/06-watched-or-none", "dictionary"],
  [/pytorch|torch\.|\bjax\b/, "frameworks", "chapters/C-pytorch-and-jax"],
  [/tensorflow|\btf\./, "chapters/A-tensorflow", "dictionary"],
  [/vanish|explod|doesn.?t (learn|train)|not (learn|train)ing/, "chapters/20-training"],
  [/train.*(network|model)|neural/, "chapters/05-a-network", "chapters/20-training"],
  [/out of memory|\bmemory\b/, "chapters/22-memory"],
  [/\bloops?\b/, "chapters/07-control-flow"],
  [/backprop|chain rule|reverse mode/, "chapters/02-backward"],
  [/(partial )?derivative$|\bslope$/, "chapters/00-derivatives"],
  [/\bcorner|\bkink|\brelu\b.*(0|zero)|subgradient/, "corners"],
  [/install|\bpip\b|download/, "index"],
  [/^(np|numpy)\.[\w.]+$|matrix (multiply|product)|matmul|supported (functions|operations)/, "rule-book"],
];
/* What a question matches, and the pages that stand first then. */

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  // A title that holds the words of the question stands above a text that does.
  score: ([page, title, anchor, , score]) => {
    const words = asked.match(/[\w.]+/g) ?? [];
    const held = words.length > 0 && words.every((word) => title.toLowerCase().includes(word));
    return score + (held ? (anchor ? 50 : 100) : 0) - (BEHIND.test(page) ? 20 : 0);
  },
};

const { query: ask, _performSearch: find } = Search;
Search.query = (question) => {
  asked = mend(question.toLowerCase().trim());
  const list = Search.output;
  list.appendChild = (result) => { // Sphinx calls this; results from the reference have a description
    const page = result.querySelector("a").getAttribute("href").replace(/\.html.*/, "");
    const told = result.querySelector("span") ? "" : ABSTRACTS[page];
    if (told) result.append(Object.assign(document.createElement("p"), { className: "context", textContent: told }));
    list.append(result);
  };
  ask(asked);
  if (asked === question.toLowerCase().trim()) return;
  const note = document.createElement("p");
  note.textContent = `Nothing says “${question}”. These are results for “${asked}”.`;
  document.querySelector("#search-results > h2").after(note);
};
Search._performSearch = (question, ...terms) => {
  const found = find(question, ...terms); // the best is the last
  const { docnames, titles, filenames } = Search._index;
  for (const page of ANSWERS.flatMap(([words, ...pages]) => (words.test(question) ? pages : [])).reverse()) {
    const [number, place] = [docnames.indexOf(page), found.findIndex(([name, , anchor]) => name === page && !anchor)];
    if (place >= 0) found.push(...found.splice(place, 1));
    else if (number >= 0) found.push([page, titles[number], "", null, 0, filenames[number]]);
  }
  return found;
};

// A question in which a word that the book does not have is the nearest that it has.
function mend(question) {
  const { terms, titleterms, alltitles, indexentries } = Search._index;
  const whole = Object.keys({ ...alltitles, ...indexentries }).join(" ").toLowerCase();
  const stems = Object.keys({ ...terms, ...titleterms });
  const words = [...new Set(whole.match(/[a-z]{4,}/g)), ...stems];
  const stemmer = new Stemmer();
  return question.replace(/(?<![\w.])[a-z]{5,}(?![\w.])/g, (word) => {
    const stem = stemmer.stemWord(word);
    if (whole.includes(word) || stems.some((other) => other.includes(stem))) return word;
    let [nearest, least] = [word, word.length < 8 ? 1.5 : 2.5];
    for (const other of words) {
      const distance = Math.abs(other.length - word.length) < least ? apart(word, other) : least;
      if (distance < least) [nearest, least] = [other, distance];
    }
    return nearest;
  });
}

// How many letters are wrong, missing, too many, or have changed places.
function apart(a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? rows[i - 2][j - 2] + 1 : Infinity;
      const wrong = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      rows[i][j] = Math.min(wrong, swapped, rows[i - 1][j] + 1, rows[i][j - 1] + 1);
    }
  }
  return rows[a.length][b.length];
}
