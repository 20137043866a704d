/* Compare two questions: the pinned question is A, and the current one is B; differences have intervals. */
"use strict";
pedanova.compare = (function () {
  const { make, set, pane } = pedanova;
  const bar = pedanova.byId("compare"); // above the cards, while a question is pinned
  pane.coding(bar, () => found && found.lines);
  let asked = "", found = null, by = new Map();
  const isPinned = () => pedanova.state.get().pinned !== null;
  const pin = () => pedanova.state.change({ pinned: isPinned() ? null : pedanova.asked() });
  const differs = (state) => state.pinned !== null && pedanova.source.keyOf("answer", state.pinned) !== pedanova.source.keyOf("answer", pedanova.asked(state));

  pedanova.tool({ key: "pin", label: "A|B", title: "Pin this question as A, and compare other questions with it", press: pin, pressed: isPinned });

  pedanova.on("shown", (answer) => show(pedanova.state.get(), answer));

  function show(state, answer) {
    if (state.pinned === null) {
      bar.hidden = true;
      asked = "";
      if (by.size) { by = new Map(); found = null; pedanova.page.show(); }
      return;
    }
    bar.hidden = false;
    const key = JSON.stringify([pane.age(), pedanova.source.keyOf("answer", state.pinned), pedanova.source.keyOf("answer", pedanova.asked(state))]);
    if (key === asked) return;
    bar.setAttribute("aria-busy", "true");
    if (!differs(state)) { asked = key; [found, by] = [null, new Map()]; draw(state); return; }
    if (answer.pending) { if (!bar.firstChild) draw(state); return; }
    asked = key;
    ask(state, key);
  }

  async function ask(state, key) {
    const now = pedanova.asked(state);
    try {
      const given = pedanova.source.isLive() ? await pedanova.source.ask("difference", now, { other: state.pinned }) : await inFile(now, state.pinned);
      if (key !== asked) return;
      found = given;
      by = new Map((given.rows || []).map((row) => [row.parameter, row]));
      draw(pedanova.state.get());
      pedanova.page.show();
    } catch (error) {
      if (error !== pedanova.STALE) throw error;
    }
  }

  /* From the two answers of a file, as `recovered` in measures/studies/study_difference.py puts their intervals together. */
  async function inFile(now, other) {
    const [one, two] = await Promise.all([now, other].map((question, i) => pedanova.source.ask("answer", question, { sure: true }, { slot: `compare ${i}` })));
    const refused = one.refused || two.refused;
    if (refused) return { refused };
    const before = new Map(two.importances.map((row) => [row.parameter, row]));
    const rows = one.importances.filter((row) => before.has(row.parameter)).map((row) => recovered(row, before.get(row.parameter)));
    rows.sort((a, b) => Number(b.clear) - Number(a.clear) || Math.abs(b.difference) - Math.abs(a.difference));
    return { refused: null, rows, lines: { python: `pa.difference(${one.lines.python}, ${two.lines.python})` } };
  }

  function recovered(one, two) {
    const gap = one.share - two.share, known = [one.low, one.high, two.low, two.high].every((end) => end !== null && end !== undefined);
    const [below, above] = [(row) => Math.max(0, row.share - row.low), (row) => Math.max(0, row.high - row.share)];
    const [low, high] = known ? [gap - Math.hypot(below(one), above(two)), gap + Math.hypot(above(one), below(two))] : [null, null];
    return { parameter: one.parameter, share: one.share, other: two.share, difference: gap, low, high, clear: known && (low > 0 || high < 0) };
  }

  const signed = (part) => `${part < 0 ? "−" : "+"}${pedanova.percent(Math.abs(part))}`;
  const points = (part) => `${part < 0 ? "−" : ""}${pedanova.percent(Math.abs(part)).replace(/[\s\u00a0]%$/, "")}`;
  const interval = (row) => (row.low === null ? "" : `${points(row.low)} … ${points(row.high)}`);

  function draw(state) {
    bar.removeAttribute("aria-busy");
    const line = (letter, question) => make("p", `compare-line ${letter}`, make("b", "", letter), " ", pane.questionWords(question));
    const tools = make("span", "compare-tools",
      pedanova.button("Swap", "Swap A and B", swap), pedanova.button("Back to A", "Show A again", () => pedanova.state.change({ question: state.pinned, hidden: [] })), pedanova.button("Unpin", "Stop comparing", pin));
    const said = !differs(state) ? "This is A. Change the selection, the target or the region to see B." : found ? found.refused || sentence() : "";
    const open = bar.querySelector("details") ? bar.querySelector("details").open : false;
    pane.clear(bar, make("div", "compare-head", make("div", "", line("A", state.pinned), differs(state) ? line("B", pedanova.asked(state)) : ""), tools),
      said ? set(make("p", found && found.refused ? "refused" : "compare-said", said), { role: "status" }) : null, found && found.rows && differs(state) ? table(open) : null);
  }

  function sentence() {
    const clear = found.rows.filter((row) => row.clear);
    if (!clear.length) return found.rows.some((row) => row.low !== null) ? "No importance clearly differs between A and B." : "These importances come from counts without intervals, so a difference may be chance.";
    const row = clear[0];
    return `${row.parameter} matters ${row.difference > 0 ? "more" : "less"} in B than in A: ${signed(row.difference)} (95 % interval ${interval(row)}).`;
  }

  function swap() {
    const state = pedanova.state.get();
    pedanova.state.change({ question: state.pinned, pinned: pedanova.asked(state), hidden: [] });
  }

  function table(open) {
    const rows = found.rows.map((row) => [
      pedanova.tip(make("span", "", pedanova.nameOf(row.parameter)), row.parameter), pedanova.percent(row.other), pedanova.percent(row.share),
      make("span", row.clear ? "clear" : "unclear", signed(row.difference)), interval(row), row.low === null ? "" : row.clear ? "clear" : "may be chance",
    ]);
    const save = pedanova.exports.buttons({ key: "difference", what: "the differences", csv: lines });
    const details = make("details", "compare-all", make("summary", "", "All differences"), make("div", "scroll", pane.table("compare-table", ["parameter", "importance in A", "importance in B", "B minus A", "95 % interval", ""], rows)), save);
    details.open = open;
    return details;
  }

  function lines() {
    const keys = ["parameter", "other", "share", "difference", "low", "high", "clear"];
    return [["parameter", "share A", "share B", "difference", "low", "high", "clear"], ...found.rows.map((row) => keys.map((key) => row[key]))];
  }

  /* A column in the ranking. */
  pedanova.ranking.extra = (row, state) => {
    const one = by.get(row.parameter);
    if (!one || !differs(state)) return null;
    const cell = make("span", one.clear ? "difference clear" : "difference unclear", signed(one.difference));
    return pedanova.tip(cell, `B minus A: ${signed(one.difference)}${one.low === null ? "" : `\n95 % interval ${interval(one)}${one.clear ? "" : "\nmay be chance"}`}`);
  };

  return {};
})();
