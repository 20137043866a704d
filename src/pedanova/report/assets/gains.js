/* The gains of tuning for the current selection; in a file, for the first question, with a notice. */
"use strict";
pedanova.gains = (function () {
  const { make, pane } = pedanova;
  const HEAD = ["parameter", "default", "best", "gain", "95 % interval", "largest loss if left at the default", "verdict"];
  const STEPS = ["change", "from", "to", "gain", "95 % interval", "objective"];
  let panel = null, asking = null, held = null;

  function mount(element) {
    panel = pane.piece("gains", "Gains from tuning", { csv: lines });
    element.append(panel.element);
    asking = pane.asker("gains", panel.element, draw);
  }

  const span = (row) => `${pedanova.short(row.low)} to ${pedanova.short(row.high)}`;
  const value = (one) => (typeof one === "number" ? pedanova.short(one) : one === null ? "" : typeof one === "boolean" ? (one ? "True" : "False") : String(one));

  function draw(found, { moved }) {
    held = found;
    if (pane.refuses(found, panel)) return;
    const about = `Gain over the default, in units of ${pedanova.facts.objective.name}; positive means better.`;
    pane.said(panel.note, moved ? `${about} These gains are for the first question of this file, not for the current question.` : about, moved ? "warned" : "");
    const rows = found.rows.map((row) => [pedanova.nameOf(row.name), value(row.default), value(row.best), value(row.gain), span(row), value(row.left_high), row.verdict]);
    const steps = found.path.map((row) => [pedanova.nameOf(row.name), value(row.before), value(row.after), value(row.gain), span(row), value(row.objective)]);
    pane.clear(panel.body,
      make("p", "gains-summary", found.summary),
      pane.scroll(pane.table("gains-table", HEAD, rows)),
      steps.length ? make("h4", "", "Steps from the default to the best configuration") : null,
      steps.length ? pane.scroll(pane.table("gains-path", STEPS, steps)) : null,
      pane.remarks(found.notes));
  }

  function lines() {
    const keys = ["name", "default", "best", "gain", "low", "high", "left_high", "verdict"];
    return [keys, ...(held && held.rows ? held.rows.map((row) => keys.map((key) => row[key])) : [])];
  }

  pedanova.register({ key: "gains", title: "Gains", mount, show: (state, answer) => asking.follow(state, answer), when: (facts) => !facts.objective.several && pedanova.source.can("gains") });
  return { draw };
})();
