/* Studies side by side: the importances in each study and their mean. A click shows one study on every card. */
"use strict";
pedanova.groups = (function () {
  const { make, svg, set, pane } = pedanova;
  const ROOM = 74, WIDE = 136, HIGH = 22; // pixels of a cell, which has a bar and a number
  const COLUMNS = 12; // parameters that are drawn; the file has all
  const ORDERS = { name: "by name", size: "the largest first", disagreement: "the most unusual first" };
  let piece = null, asking = null, held = null, about = null, order = null, limit = 0, shownFor = "";

  function mount(element) {
    const { group } = pedanova.facts;
    piece = pane.piece("groups", `Studies side by side (column ${group})`, { csv: lines });
    order = make("select", "chip-choice groups-order");
    set(order, { "aria-label": "Which studies come first" });
    for (const [key, words] of Object.entries(ORDERS)) order.append(set(make("option", "", words), { value: key }));
    order.addEventListener("change", () => pedanova.page.show());
    if (pedanova.source.isLive()) piece.tools.prepend(order);
    element.append(piece.element);
    asking = pane.asker("groups", piece.element, (found, { question }) => { [held, about] = [found, question]; draw(pedanova.state.get()); });
  }

  function show(state, answer) {
    const { study, ...question } = state.question;
    asking.follow({ ...state, question }, answer, { order: order.value, ...(limit ? { limit } : {}) });
    if (held && keyOf(state) !== shownFor) draw(state);
  }

  const chosen = (state) => (state.question.study ? state.question.study.name : null);
  const keyOf = (state) => JSON.stringify([chosen(state), state.chosen]);

  function draw(state) {
    shownFor = keyOf(state);
    if (pane.refuses(held, piece)) return;
    const lost = held.left_out ? ` ${pedanova.plural(held.left_out, "study", "studies")} could not be analysed: the notes say why.` : "";
    const which = pedanova.source.isLive() ? "" : `For ${pane.questionWords(about)}. `;
    pane.said(piece.note, `${which}${held.summary} A target such as the best 10 % is chosen within each study. ◆ marks an importance that clearly differs from the mean of the other studies.${lost}`);
    pane.clear(piece.body, pane.scroll(matrix(state)), more(), pane.remarks(held.notes));
  }

  /* One line for all studies, then one for each study; columns are parameters, sorted by their mean share. */
  function matrix(state) {
    const columns = held.parameters.slice(0, COLUMNS), ends = held.studies.flatMap((study) => study.importances.map((row) => row.high ?? row.share));
    const top = Math.max(0.05, ...columns.map((row) => row.high ?? row.share), ...ends);
    const header = [held.column, "rows", ...columns.map((row) => head(row.parameter, state)), "agreement"];
    const all = make("tr", "groups-all", set(make("th", "", "all studies"), { scope: "row" }), make("td", "number", ""),
      ...columns.map((row) => make("td", "", bar(row, top, `${row.parameter} over ${pedanova.plural(row.studies, "study", "studies")}`, false))), make("td", ""));
    const table = pane.table("groups-table", header, []);
    table.tBodies[0].append(all, ...held.studies.map((study) => line(study, columns, top, state)));
    return table;
  }

  function head(name, state) {
    const button = pedanova.button(pedanova.nameOf(name), name, () => pedanova.state.change({ chosen: name }), "groups-name");
    button.classList.toggle("chosen", state.chosen === name);
    return button;
  }

  function line(study, columns, top, state) {
    const rows = new Map(study.importances.map((row) => [row.parameter, row])), here = chosen(state) === study.name;
    const name = pedanova.source.isLive() ? chooser(study.name, here) : study.name;
    const odd = study.differs.length ? make("span", "groups-odd", " ◆") : null;
    if (odd) pedanova.tip(odd, `differs from the other studies in the importance of ${study.differs.join(", ")}`);
    const cells = columns.map(({ parameter }) => {
      const row = rows.get(parameter), differs = study.differs.includes(parameter);
      return make("td", differs ? "groups-differs" : "", row && row.varied !== false ? bar(row, top, `${parameter} in ${study.name}`, differs) : "–");
    });
    const agreement = study.agreement === null ? "" : study.agreement.toFixed(2).replace("-", "−");
    return make("tr", here ? "chosen" : "", set(make("th", "", name, odd), { scope: "row" }), make("td", "number", pedanova.count(study.rows)), ...cells, make("td", "number", agreement));
  }

  function chooser(name, here) {
    const button = pedanova.button(name, here ? "Show all rows again" : "Show only this study, on every card", () => choose(here ? null : name), "groups-name");
    return set(button, { "aria-pressed": String(here) });
  }

  function choose(name) {
    const { study, ...rest } = pedanova.state.get().question;
    pedanova.state.change({ question: name === null ? rest : { ...rest, study: { column: held.column, name } } });
  }

  /* A share as a bar with its interval and number; ◆ if it differs from the other studies. */
  function bar(row, top, what, differs) {
    const at = (share) => (ROOM * Math.min(top, Math.max(0, share))) / top;
    const words = `${pedanova.percent(Math.max(0, row.share))}${differs ? " ◆" : ""}`, known = row.low !== null && row.low !== undefined;
    const told = `${what}: ${pedanova.percent(row.share)}${known ? `\n95 % interval ${pedanova.percent(row.low)} … ${pedanova.percent(row.high)}` : ""}${row.significant === false ? `\n${pedanova.unclear(row.share)}` : ""}`;
    const drawing = svg("svg", { class: "groups-cell", width: WIDE, height: HIGH, viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": told.replace(/\n/g, ", ") });
    drawing.append(svg("rect", { class: row.significant === false ? "bar noise" : "bar", x: 0, y: 5, width: at(row.share).toFixed(1), height: 12 }));
    if (known) drawing.append(svg("line", { class: "interval", x1: at(row.low).toFixed(1), x2: at(row.high).toFixed(1), y1: 11, y2: 11 }));
    drawing.append(svg("text", { x: ROOM + 6, y: 15 }, words));
    return pedanova.tip(drawing, told);
  }

  function more() {
    const left = held.total - held.studies.length, parameters = held.parameters.length - COLUMNS, said = [];
    if (left > 0) said.push(`${pedanova.plural(left, "more study", "more studies")}`);
    if (parameters > 0) said.push(`${pedanova.plural(parameters, "more parameter", "more parameters")} in the CSV`);
    if (!said.length) return null;
    const place = make("p", "pane-note groups-more", `${said.join(" · ")} `);
    if (left > 0 && pedanova.source.isLive()) place.append(pedanova.button(`Show ${Math.min(left, 16)} more`, "Show more studies", () => { limit = held.studies.length + 16; pedanova.page.show(); }));
    return place;
  }

  function lines() {
    if (!held || held.refused) return [[]];
    const keys = ["share", "ratio", "low", "high", "p_adjusted", "significant"];
    const pooled = held.parameters.map((row) => ["", "", row.parameter, row.share, "", row.low, row.high, "", "", ""]);
    const each = held.studies.flatMap((study) => study.importances.map((row) => [study.name, study.rows, row.parameter, ...keys.map((key) => row[key]), study.differs.includes(row.parameter)]));
    return [[held.column, "rows", "parameter", ...keys, "differs"], ...pooled, ...each];
  }

  /* One study alone: its own objective lies in the strip above. */
  let whole = null, own = "";
  pedanova.on("news", (facts) => { [whole, own] = [facts, ""]; });
  pedanova.on("ranked", ({ about }) => {
    const key = about ? JSON.stringify(about) : "";
    if (key === own) return;
    whole = whole || pedanova.facts;
    own = key;
    pedanova.facts = { ...whole, ...(about || {}) };
    pedanova.emit("study", about);
    pedanova.page.show();
  });

  pedanova.register({ key: "groups", title: "Studies", mount, show, when: (facts) => (facts.group ? pedanova.source.can("groups") : false) });
  return { choose };
})();
