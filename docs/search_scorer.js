// How search results are ordered: Sphinx's own scores, and then by what a page is for.
const FOLDERS = [
  ["reference/methods/", 8],
  ["reference/", 5],
  ["how-to/", 6],
  ["explanation/", -10],
  ["measurements/", -15],
  ["decisions/", -15],
];

var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const found = FOLDERS.find(([folder]) => docname.startsWith(folder));
    return score + (found ? found[1] : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
