/* Notes on the data and on this answer, and what the words mean. */
"use strict";
pedanova.notes = (function () {
  const { make, pane } = pedanova;
  let ofAnswer = null, ofData = null, words = null;

  const WORDS = [
    ["target", "The good rows: by default the best 10 %. Rows with equal objective values are all in the target or all outside it."],
    ["region", "The rows that the target is compared with: by default all rows (with a selection: all selected rows)."],
    ["selection", "The cards use only the selected rows. The limit for good rows stays the same, unless you choose \"best of these rows\"."],
    ["importance", "How well the parameter alone explains whether a row is in the target, beyond chance: 0 % is not at all, 100 % is completely."],
    ["ratio", "The importance divided by the sum of all importances. The ratios of all parameters add up to 100 %."],
    ["interval", "In 95 of 100 studies, the interval contains the true importance."],
    ["no clear effect", "Chance alone would give an importance this large in more than 5 of 100 cases (adjusted for the number of parameters), or the importance is below 0.5 %."],
    ["more often", "Values that are more frequent in the target than in the region. The difference is larger than chance alone would explain."],
    ["interaction", "What two parameters explain together, beyond what each explains alone."],
    ["counts, model", "With few rows, the answer comes from a model of the objective; with many rows, it comes from counts. Each answer says which of the two was used."],
  ];
  const SEVERAL = ["the best 10 %", "With several objectives, rows are ordered by Pareto fronts, then by crowding distance; the best 10 % are the first rows in that order."];

  function mount(element) {
    [ofAnswer, ofData, words] = [["answer", "About this answer"], ["data", "About the data"], ["words", "What the words mean"]].map(([key, title]) => pane.piece(`notes-${key}`, title));
    const list = pedanova.facts.objective.several ? [SEVERAL, ...WORDS] : WORDS;
    words.body.append(make("dl", "words", ...list.flatMap(([word, meaning]) => [make("dt", "", word), make("dd", "", meaning)])));
    fill(ofData, pedanova.facts.notes.map((note) => [note.text, note.severity]), "There are no notes on these data.");
    pane.coding(words.element, () => ({ python: "a.notes" }));
    element.append(make("div", "notes-grid", make("div", "", ofAnswer.element, ofData.element), words.element));
  }

  function fill(piece, notes, nothing) {
    pane.clear(piece.body, notes.length
      ? make("ul", "remarks", ...notes.map(([text, severity]) => make("li", severity === "warning" ? "doubt" : "", pedanova.page.plain(text))))
      : make("p", "pane-note", nothing));
  }

  const BY = { counts: "Answered by counting the rows.", surrogate: "Answered by a model of the objective, because there are few rows." };

  function show(state, answer) {
    const notes = answer.refused ? [answer.refused] : [...((answer.notes || []).some((one) => one.startsWith("answered by")) ? [] : [BY[answer.by]]), ...(answer.notes || [])].filter(Boolean);
    fill(ofAnswer, notes.map((text) => [text, ""]), "There are no notes.");
  }

  pedanova.register({ key: "notes", title: "Notes", mount, show });
  return {};
})();
