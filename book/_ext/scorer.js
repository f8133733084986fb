// Sphinx's own weights; besides, a title that holds the words of the question stands above a text that does.
// eslint-disable-next-line no-var, no-unused-vars -- Sphinx's own script reads it
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([, title, anchor, , score]) => {
    const words = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().match(/[\w.]+/g) ?? [];
    const held = words.length > 0 && words.every((word) => title.toLowerCase().includes(word));
    return score + (held ? (anchor ? 50 : 100) : 0);
  },
};
