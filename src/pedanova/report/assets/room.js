"use strict";
/* Room for the longest text that the sliders can bring, so that no card moves when a shorter one is shown. */
pedanova.room = (function () {
  const { data, state, make, byId } = pedanova;
  const NEARLY = 0.6; // a text shorter than this part of the longest takes no more lines
  const MOST = 300; // texts that are measured

  const lengthOf = (content) => content.reduce((sum, text) => sum + text.length, 0);

  /* Those that may be the tallest, each once; a content is a list of texts. */
  function longest(contents) {
    const known = new Map(contents.map((content) => [content.join("\n"), content]));
    const sorted = [...known.values()].sort((a, b) => lengthOf(b) - lengthOf(a));
    return sorted.filter((content) => lengthOf(content) >= NEARLY * lengthOf(sorted[0])).slice(0, MOST);
  }

  /* The element as high as its tallest content. */
  function keep(element, contents) {
    if (!element || !contents.length) return;
    const items = element.tagName === "UL";
    const probes = longest(contents).map((content) => {
      const probe = element.cloneNode(false);
      ["id", "role", "hidden", "style"].forEach((name) => probe.removeAttribute(name));
      probe.classList.add("probe");
      probe.style.width = `${element.getBoundingClientRect().width || element.parentElement.clientWidth}px`;
      probe.append(...(items ? content.map((text) => make("li", "", text)) : content));
      return probe;
    });
    element.after(...probes);
    const most = Math.max(...probes.map((probe) => probe.getBoundingClientRect().height));
    probes.forEach((probe) => probe.remove());
    element.style.minHeight = `${Math.ceil(most)}px`;
  }

  /* The questions that the sliders reach. */
  const asked = data.questions.filter((one) => one.rungs);
  const shown = asked.length ? asked : data.questions;

  /* For the chosen parameter alone: room for what is said of any would be a hole below most. */
  function reserveDensity() {
    keep(byId("density-note"), shown.map((one) => [pedanova.cards.densityNote(one, state.chosen)]));
  }

  /* Every answer against the present baseline. */
  function reserve() {
    const { cards, pairs } = pedanova;
    const answers = shown.map((one) => one.answers[state.baseline]);
    const every = data.questions.flatMap((one) => Object.values(one.answers));
    keep(byId("summary"), every.map((found) => [pedanova.summaryOf(found)]));
    keep(byId("importance-note"), answers.map((found) => [cards.importanceNote(found)]));
    keep(byId("remarks"), answers.map(cards.remarksOf));
    const refused = answers.map((found) => found.refused).filter(Boolean);
    byId("importance-refused").parentElement.style.minHeight = "";
    if (refused.length) {
      keep(byId("importance-refused"), refused.map((text) => [text]));
      byId("importance-refused").parentElement.style.minHeight = byId("importance-refused").style.minHeight;
    }
    reserveDensity();
    keep(byId("profile-note"), data.rungs.flatMap((rung) => data.names.map((name) => [cards.profileNote(rung, name)])));
    keep(byId("objective-note"), asked.map((one) => [cards.objectiveNote(one.rungs.map((place) => data.rungs[place]))]));
    const paired = shown.filter((one) => one.pairs && one.pairs.rows);
    keep(byId("pairs-note"), paired.map((one) => [pairs.pairsNote(one)]));
    keep(byId("plane-note"), paired.flatMap((one) => one.pairs.rows.map((row) => [pairs.planeNote(row, one)])));
  }

  return { reserve, reserveDensity };
})();
