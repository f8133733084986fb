// Sphinx's own weights; besides, a title that holds the words of the question stands above a text that does, and a
// function of NumPy is looked up in the rule book.
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
  score: ([page, title, anchor, , score]) => {
    const question = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().trim();
    if (page === "rule-book" && /^(np|numpy)\.[\w.]+$/.test(question)) return score + 100;
    const words = question.match(/[\w.]+/g) ?? [];
    const held = words.length > 0 && words.every((word) => title.toLowerCase().includes(word));
    return score + (held ? (anchor ? 50 : 100) : 0);
  },
};
