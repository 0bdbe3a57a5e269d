// How Sphinx's search orders what it found: how-to pages first; pages about pytriton's own code last, and long lists
// behind the pages that explain a subject. A page that is found by its whole title stays in front.
const HOW_TO = /^(tuning|debugging|porting|legacy|pytorch|gradients|several-gpus|threads|notebook|editors|launching)$/;
const LISTS = /^(errors\/|cases$|derivatives$|mutation$|promises$)/;

var Scorer = {
  score: ([docname, , anchor, , score, , kind]) => {
    if (HOW_TO.test(docname)) return score * 1.2;
    if (kind === "title" && !anchor) return score;
    if (docname.startsWith("inside/")) return score - 1000; // Architecture, Changelog and others
    return LISTS.test(docname) ? score * 0.3 : score;
  },
  // The rest is Sphinx's own.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
