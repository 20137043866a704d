/* Every trial: over the order in which they were run, or over a parameter, and its intermediate values. */
"use strict";
pedanova.history = (function () {
  const { make, set, svg, pane } = pedanova;
  const WORDS = "Good rows are large dots. Triangles are pruned trials, crosses are failed trials and trials without a value.";
  let piece = null, across = null, up = null, scatter = null;

  const options = (list, names) => list.append(...names.map(([value, words]) => set(make("option", "", words), { value })));
  const order = () => pedanova.facts.objective.order;

  function mount(element) {
    const { goals } = pedanova.facts.objective, several = goals.length > 1;
    piece = pane.piece("history", "History", { csv: lines, drawing: () => piece.body.querySelector("canvas"), vector: false });
    across = set(make("select", ""), { "aria-label": "x axis" });
    up = set(make("select", ""), { "aria-label": "y axis" });
    options(across, [["", "order of the trials"], ...[...pedanova.byName.keys()].filter((name) => pedanova.byName.get(name).shape && name !== order() && !goals.includes(name)).map((name) => [name, pedanova.nameOf(name)])]);
    options(up, goals.map((name) => [name, name]));
    across.addEventListener("change", () => pedanova.state.change({ slice: across.value || null }));
    up.addEventListener("change", () => show(pedanova.state.get(), pedanova.page.answer() || {}));
    piece.note.before(make("div", "plane-picks", make("label", "", "x axis ", across), several ? make("label", "", "y axis ", up) : ""));
    element.append(piece.element);
    scatter = pedanova.scatter("history", ([x, y]) => ({ ...(x === order() ? {} : { x }), objective: y }), WORDS);
    pane.coding(piece.element, () => scatter.found() && scatter.found().lines);
    if (pedanova.facts.objective.curves) curves.mount(element);
  }

  function show(state, answer) {
    across.value = state.slice || "";
    scatter.show(piece, state, answer, [state.slice || order(), up.value]);
    if (pedanova.facts.objective.curves) curves.show(state, answer);
  }

  function lines() {
    const found = scatter.found(), names = found ? Object.keys(found.columns) : [];
    return [names, ...(found ? found.columns[found.own.row].map((_, i) => names.map((name) => found.columns[name][i])) : [])];
  }

  /* --- intermediate values ------------------------------------------------------------------------------------ */

  const curves = (function () {
    const LIMIT = 200, LEFT = 58, TOP = 10, RIGHT = 14, FOOT = 40;
    let card = null, asking = null, held = null, size = 0;

    function mount(element) {
      card = pane.piece("curves", "Intermediate values", { csv: () => [["row", "state", "step", "value"], ...((held && held.trials) || []).flatMap((one) => one.steps.map((step, i) => [one.row, one.state, step, one.values[i]]))], drawing: () => card.body.querySelector("svg") });
      element.append(card.element);
      asking = pane.asker("curves", card.element, (found) => { held = found; draw(); });
      pedanova.hover.subscribe((row) => card.body.querySelectorAll(".curve").forEach((one) => one.classList.toggle("hovered", Boolean(row) && one.dataset.row === String(row.row))));
    }

    function show(state, answer) {
      if (!asking.follow(state, answer, { objective: up.value, limit: LIMIT }) && held && card.body.clientWidth !== size) draw();
    }

    function draw() {
      size = card.body.clientWidth;
      if (pane.refuses(held, card)) return;
      const room = pane.width(card.body, 280, 720), high = Math.min(360, Math.max(220, room * 0.5)), { trials } = held;
      const all = trials.flatMap((one) => one.values).filter((value) => value !== null), ends = (list) => [Math.min(...list), Math.max(...list)];
      const [low, top] = ends(all), x = pedanova.scales.linear(ends(trials.flatMap((one) => one.steps)), [LEFT, room - RIGHT]);
      const y = pedanova.scales[low > 0 && top / low > 50 ? "log" : "linear"](low < top ? [low, top] : [low - 0.5, low + 0.5], [high - FOOT, TOP]);
      const drawing = svg("svg", { width: room, height: high, viewBox: `0 0 ${room} ${high}`, role: "img", "aria-label": `${held.objective} of ${pedanova.plural(trials.length, "trial")} over the steps` });
      for (const tick of y.ticks(5)) drawing.append(svg("line", { class: "grid-line", x1: LEFT, x2: room - RIGHT, y1: y.x(tick), y2: y.x(tick) }), svg("text", { class: "tick", x: LEFT - 6, y: y.x(tick), "text-anchor": "end", "dominant-baseline": "middle" }, pedanova.short(tick)));
      for (const tick of x.ticks(6)) drawing.append(svg("text", { class: "tick", x: x.x(tick), y: high - FOOT + 16, "text-anchor": "middle" }, pedanova.short(tick)));
      for (const one of [...trials].sort((a, b) => (a.in === "target") - (b.in === "target"))) drawing.append(curve(one, x, y));
      drawing.append(svg("text", { class: "axis-name", x: (LEFT + room) / 2, y: high - 6, "text-anchor": "middle" }, "step"));
      pane.said(card.note, `${held.objective} of ${trials.length < held.total ? `${pedanova.count(trials.length)} of ` : ""}${pedanova.plural(held.total, "trial")} over the steps. Good trials are blue, pruned trials are dashed.`);
      pane.clear(card.body, drawing);
    }

    function curve(one, x, y) {
      const d = one.steps.map((step, i) => (one.values[i] === null ? "" : `${x.x(step).toFixed(1)} ${y.x(one.values[i]).toFixed(1)}`)).filter(Boolean).join("L");
      const path = svg("path", { class: `curve${one.in === "target" ? " good" : ""}${one.state === "complete" ? "" : " ended"}`, d: d && `M${d}`, "data-row": one.row });
      return pedanova.tip(path, `${one.trial === one.row ? "trial" : "row"} ${one.row}, ${one.state}\n${held.objective} ${pedanova.short(one.values[one.values.length - 1])} at step ${pedanova.short(one.steps[one.steps.length - 1])}`);
    }

    return { mount, show };
  })();

  pedanova.register({ key: "history", title: "History", mount, show, when: (facts) => Boolean(facts.live) && pedanova.source.can("history") });
  return {};
})();
