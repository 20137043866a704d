/* Importance along a budget: a line with its band for each parameter, and from where on the ranking is the full one. */
"use strict";
pedanova.along = (function () {
  const { make, svg, pane } = pedanova;
  const LINES = 6; // with a name; what is noise everywhere is pale
  const FOOT = 46, TOP = 16, LEFT = 46, LOG = 8;
  let chartPiece = null, tablePiece = null, asking = null, held = null, shownFor = "";

  function mount(element) {
    chartPiece = pane.piece("along", "Importance by budget", { csv: shareLines, drawing: () => chartPiece.body.querySelector("svg") });
    tablePiece = pane.piece("along-ranking", "Same ranking as at the full budget?", { csv: rankLines });
    const both = make("div", "pane", chartPiece.element, tablePiece.element);
    element.append(both);
    asking = pane.asker("along", both, (found, { moved }) => { held = { found, moved }; draw(pedanova.state.get()); });
  }

  /* The selection does not change this answer; the target does. */
  function show(state, answer) {
    const { target, baseline, of } = pedanova.asked(state);
    const plain = { ...pedanova.state.first().question, target, baseline, of, region: { part: [0, 1] }, selection: {} };
    asking.follow({ ...state, question: plain, hidden: [] }, answer);
    if (held && keyOf(state) !== shownFor) draw(state);
  }

  const keyOf = (state) => JSON.stringify([state.chosen, chartPiece.body.clientWidth]);

  function draw(state) {
    const { found, moved } = held;
    shownFor = keyOf(state);
    if (pane.refuses(found, chartPiece, tablePiece.note, tablePiece.body)) return;
    const whose = moved ? "These results are for the first target of this file, not for the current target. " : "";
    pane.said(chartPiece.note, `${whose}${found.summary} This card ignores the selection and uses all trials.`);
    pane.clear(chartPiece.body, chart(found, state), ...found.notes.map((note) => make("p", "pane-note", note)));
    pane.clear(tablePiece.body, pane.scroll(ranking(found)));
  }

  const shareOf = (row) => Math.max(0, (row && row.share) || 0);
  const isSure = (row) => Boolean(row) && row.significant !== false;

  /* Parameters with a clear effect at any budget come first; sorted by their largest share. */
  function ranked(found) {
    const by = found.steps.map((step) => new Map(step.importances.map((row) => [row.parameter, row])));
    const names = found.steps[found.steps.length - 1].importances.map((row) => row.parameter);
    return names.map((name) => {
      const rows = by.map((step) => step.get(name));
      return { name, rows, sure: rows.some(isSure), most: Math.max(...rows.map(shareOf)) };
    }).sort((a, b) => b.sure - a.sure || b.most - a.most);
  }

  function chart(found, state) {
    const room = pane.width(chartPiece.body, 280, 1180), right = room < 520 ? 96 : 150, high = room < 520 ? 220 : 300;
    const budgets = found.steps.map((step) => step.budget), order = ranked(found), named = order.filter((one) => one.sure).slice(0, LINES);
    const top = Math.max(0.05, ...named.flatMap((one) => one.rows.map((row) => row.high ?? shareOf(row))), ...order.map((one) => one.most)) * 1.04;
    const ends = [budgets[0], budgets[budgets.length - 1]], log = ends[0] > 0 && ends[1] / ends[0] > LOG;
    const x = budgets.length > 1 ? pedanova.scales[log ? "log" : "linear"](ends, [LEFT + 14, room - right]) : { x: () => (LEFT + room - right) / 2 };
    const y = pedanova.scales.linear([0, top], [TOP + high, TOP]);
    const drawing = svg("svg", { width: room, height: TOP + high + FOOT, viewBox: `0 0 ${room} ${TOP + high + FOOT}`, role: "img", "aria-label": `Importance by ${found.name}. ${found.summary}` });
    drawing.append(...pane.gridLines(y, LEFT, room - right));
    drawing.append(...ticks(found, x, high, log));
    if (found.since !== null) drawing.append(svg("line", { class: "along-since", x1: x.x(found.since), x2: x.x(found.since), y1: TOP, y2: TOP + high }));
    order.filter((one) => !named.includes(one)).forEach((one) => drawing.append(curve(found, one, x, y, -1, state)));
    named.slice().reverse().forEach((one) => drawing.append(curve(found, one, x, y, named.indexOf(one), state)));
    const wanted = named.map((one, place) => ({ name: one.name, place, y: y.x(shareOf(one.rows[one.rows.length - 1])) }));
    drawing.append(...pane.endLabels(wanted, TOP + high, room - right, right, state));
    drawing.append(svg("text", { class: "axis-name", x: (LEFT + room - right) / 2, y: TOP + high + FOOT - 6, "text-anchor": "middle" }, found.name));
    return drawing;
  }

  /* Budgets as ticks, those left out that would overlap; the tip of each says what is known there. */
  function ticks(found, x, high) {
    let free = -Infinity;
    return found.steps.map((step) => {
      const at = x.x(step.budget), group = svg("g", { class: "target-step" });
      group.append(svg("rect", { class: "catch", x: at - 7, y: TOP, width: 14, height: high + 22 }), svg("line", { class: "at", x1: at, x2: at, y1: TOP, y2: TOP + high }));
      if (at >= free) {
        const words = pedanova.short(step.budget);
        group.append(svg("text", { class: "tick", x: at, y: TOP + high + 15, "text-anchor": "middle" }, words));
        free = at + 7 * words.length + 8;
      }
      return pedanova.tip(group, () => `${found.name} ${pedanova.short(step.budget)}: ${pedanova.plural(step.rows, "row")}\n${step.importances.slice(0, LINES).map((row) => `${pedanova.nameOf(row.parameter)} ${pedanova.percent(shareOf(row))}${isSure(row) ? "" : " ~"}`).join("\n")}`);
    });
  }

  function curve(found, one, x, y, place, state) {
    const group = svg("g", { class: `target-line ${place < 0 ? "pale" : `line-${place}`}${state.chosen === one.name ? " chosen" : ""}` });
    const points = found.steps.map((step, i) => [x.x(step.budget), one.rows[i]]);
    const line = (height) => points.map(([px, row]) => `${px.toFixed(1)} ${y.x(height(row)).toFixed(1)}`);
    group.append(svg("path", { d: `M${line(shareOf).join("L")}` }));
    if (place < 0) return group;
    if (one.rows.every((row) => row && row.low !== null)) {
      group.append(svg("path", { class: "along-band", d: `M${line((row) => row.low).join("L")}L${line((row) => row.high).reverse().join("L")}Z` }));
    }
    points.forEach(([px, row]) => group.append(svg("circle", { class: isSure(row) ? "marker" : "marker hollow", cx: px.toFixed(1), cy: y.x(shareOf(row)).toFixed(1), r: 4 })));
    return group;
  }

  const two = (value) => (value === null ? "" : value.toFixed(2).replace("-", "−"));

  function ranking(found) {
    const lines = found.steps.map((step) => [pedanova.short(step.budget), pedanova.count(step.rows), step.cost === null ? "" : pedanova.percent(step.cost), two(step.spearman), step.low === null ? "" : `${two(step.low)} … ${two(step.high)}`, step.ranking]);
    return pane.table("along-table", [found.name, "rows", "cost", "Spearman", "95 % interval", "ranking"], lines);
  }

  function shareLines() {
    if (!held || held.found.refused) return [[]];
    const keys = ["share", "ratio", "low", "high", "p_adjusted", "significant"];
    return [["budget", "rows", "parameter", ...keys], ...held.found.steps.flatMap((step) => step.importances.map((row) => [step.budget, step.rows, row.parameter, ...keys.map((key) => row[key])]))];
  }

  function rankLines() {
    if (!held || held.found.refused) return [[]];
    const keys = ["budget", "rows", "cost", "spearman", "low", "high", "ranking"];
    return [keys, ...held.found.steps.map((step) => keys.map((key) => step[key]))];
  }

  pedanova.register({ key: "along", title: "Budgets", mount, show, when: (facts) => Boolean(facts.budget) });
  return {};
})();
