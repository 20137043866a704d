/* The smaller space for the current target and selection; in a file, for the first question, with a notice. */
"use strict";
pedanova.space = (function () {
  const { make, pane } = pedanova;
  const WORDS = { keep: "keep", narrow: "narrow", widen: "widen", drop: "drop", undecided: "undecided" };
  let panel = null, asking = null, held = null;

  function mount(element) {
    panel = pane.piece("space", "A smaller space", { csv: lines });
    element.append(panel.element);
    asking = pane.asker("space", panel.element, draw);
  }

  function draw(found, { moved, question }) {
    held = found;
    if (pane.refuses(found, panel)) return;
    const about = `Suggested space for reaching ${pane.questionWords(question, false)}.`;
    pane.said(panel.note, moved ? `${about} This file has no suggested space for the current question.` : about, moved ? "warned" : "");
    const rows = found.rows.map((row) => [nameOf(row.name), verdict(row.advice), row.now, row.suggested || "unchanged", row.why]);
    pane.clear(panel.body,
      make("p", "space-summary", found.summary),
      make("div", "scroll", pane.table("space-table", ["parameter", "verdict", "now", "suggested", "why"], rows)),
      pane.remarks(found.notes),
      codes(found));
  }

  const nameOf = (name) => pedanova.tip(make("span", "", pedanova.nameOf(name)), name);

  const verdict = (advice) => make("span", `verdict ${WORDS[advice] ? advice : ""}`, WORDS[advice] || advice);

  /* Code for other tools, each under its name. */
  function codes(found) {
    const all = found.codes || (found.code ? { Optuna: found.code } : {});
    const parts = Object.entries(all).filter(([, code]) => code).map(([tool, code], i) => {
      const text = pedanova.set(make("pre", "", code), { tabindex: 0, role: "region", "aria-label": `Code for ${tool}` });
      const copy = pedanova.button("Copy", `Copy the code for ${tool}`, async () => {
        await navigator.clipboard.writeText(code);
        copy.textContent = "Copied";
      });
      const details = make("details", "code", make("summary", "", `Code for ${tool}`), copy, text);
      details.open = i === 0;
      return details;
    });
    return parts.length ? make("div", "codes", ...parts) : null;
  }

  function lines() {
    const keys = ["name", "advice", "now", "suggested", "why"];
    return [["parameter", "verdict", "now", "suggested", "why"], ...(held && held.rows ? held.rows.map((row) => keys.map((key) => row[key])) : [])];
  }

  pedanova.register({ key: "space", title: "Smaller space", mount, show: (state, answer) => asking.follow(state, answer), when: () => pedanova.source.can("space") });
  return { draw };
})();
