/* The mean objective along every parameter's values, with its 95 % interval: how much better a good value is. */
"use strict";
pedanova.means = (function () {
  const { make, svg, pane, short, percent } = pedanova;
  const FIRST = 9, MOST = 12; // plots before "show all", and up to how many all are shown
  const HEIGHT = 150, TOP = 8, BOTTOM = 124, LEFT = 46, RIGHT = 10;
  let piece = null, asking = null, held = null, shownFor = "", all = false;

  function mount(element) {
    piece = pane.piece("means", `Mean ${pedanova.facts.objective.name} by parameter value`, { csv: lines });
    element.append(piece.element);
    asking = pane.asker("marginal", piece.element, (found, how) => { held = { found, ...how }; draw(pedanova.state.get()); });
  }

  function show(state, answer) {
    asking.follow(state, answer);
    if (held && keyOf(state) !== shownFor) draw(state);
  }

  const keyOf = (state) => JSON.stringify([state.chosen, piece.body.clientWidth, all]);

  function draw(state) {
    const { found, moved, question } = held;
    shownFor = keyOf(state);
    if (pane.refuses(found, piece)) return;
    pane.said(piece.note, said(found, moved, question), moved ? "warned" : "");
    const known = found.parameters.filter((one) => pedanova.parameter(one.parameter).shape);
    const limit = all || known.length <= MOST ? known.length : FIRST, shown = known.filter((one, i) => i < limit || one.parameter === state.chosen);
    const grid = make("div", "grid means-grid"), more = pedanova.button(all ? "Show fewer" : `Show all ${known.length}`, "Change how many parameters are shown", () => { all = !all; pedanova.page.show(); });
    pane.clear(piece.body, key(), grid, known.length > MOST ? more : null, ...found.notes.map((note) => make("p", "pane-note", note)));
    const room = parseFloat(getComputedStyle(grid).gridTemplateColumns) - 2, y = scaleOf(found, known);
    grid.append(...shown.map((one) => plot(one, y, Math.max(180, Math.floor(room || 0)), state)));
  }

  function said(found, moved, question) {
    const { objective } = pedanova.facts, of = pane.bandWords(question.region, true), chosen = pane.selectionWords(question);
    const rows = `${of[0].toUpperCase()}${of.slice(1)}${chosen ? ` with ${chosen}` : ""}: ${pedanova.plural(found.rows, "row")}, mean ${short(found.mean)}, ${objective.direction === "minimize" ? "lower" : "higher"} is better.`;
    return `${moved ? "This file has no means for the current region. " : ""}${rows} The percentage next to each name is the part of the variance that this parameter explains on its own.`;
  }

  function key() {
    const mark = (kind) => make("i", `key-mark ${kind}`);
    return make("p", "key", mark("target"), "mean", mark("interval"), "95 % interval", mark("mean"), "mean of all these rows");
  }

  /* One scale for all, so that plots can be compared; wild intervals of few rows leave it. */
  function scaleOf(found, known) {
    const means = known.flatMap((one) => one.mean.filter((value) => value !== null)), low = Math.min(found.mean, ...means), high = Math.max(found.mean, ...means);
    if (pedanova.facts.objective.log && low > 0) return pedanova.scales.log([low / 1.1, high * 1.1], [BOTTOM - 4, TOP]);
    const room = 0.12 * (high - low) || Math.abs(high) * 0.1 || 1;
    return pedanova.scales.linear([low - room, high + room], [BOTTOM - 4, TOP]);
  }

  function plot(one, y, width, state) {
    const parameter = pedanova.parameter(one.parameter), scale = pedanova.scales.of(parameter, [LEFT, width - RIGHT]);
    const drawing = svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": spoken(one, parameter) });
    for (const tick of y.ticks(5)) {
      drawing.append(svg("line", { class: "grid-line", x1: LEFT, x2: width - RIGHT, y1: y.x(tick), y2: y.x(tick) }),
        svg("text", { class: "tick", x: LEFT - 5, y: y.x(tick), "text-anchor": "end", "dominant-baseline": "middle" }, short(tick)));
    }
    const mean = y.x(held.found.mean);
    drawing.append(svg("line", { class: "mean-all", x1: LEFT, x2: width - RIGHT, y1: mean, y2: mean }), marks(one, parameter, scale, y), pedanova.plot.axis({ parameter, scale, bottom: BOTTOM }));
    pedanova.tip(drawing, (event) => {
      const box = drawing.getBoundingClientRect(), x = (event.clientX - box.left) * (width / box.width);
      return x < LEFT || x > width - RIGHT ? "" : words(one, parameter, pedanova.plot.at(scale, parameter.shape, x));
    });
    const name = make("button", "card-name", pedanova.nameOf(one.parameter));
    pedanova.set(name, { type: "button", "aria-pressed": String(state.chosen === one.parameter) });
    name.addEventListener("click", () => pedanova.state.change({ chosen: pedanova.state.get().chosen === one.parameter ? null : one.parameter }));
    pedanova.tip(name, `${one.parameter}\n${parameter.words}`);
    const [rows, rest] = one.missing, without = rows ? make("p", "card-words", `without a value: ${pedanova.plural(rows, "row")}${rest === null ? "" : `, mean ${short(rest)}`}`) : "";
    return make("article", `mean-card${state.chosen === one.parameter ? " chosen" : ""}`, make("div", "card-top", name, make("span", "card-share", percent(Math.max(0, one.share)))), drawing, without);
  }

  /* A line in its band along a range; dots with whiskers at names and single values. */
  function marks(one, parameter, scale, y) {
    const inside = (value) => Math.min(BOTTOM - 4, Math.max(TOP, y.x(value))).toFixed(1), boxes = pedanova.plot.boxesOf(scale, parameter.shape);
    const middles = boxes.map(([from, to]) => ((from + to) / 2).toFixed(1)), group = svg("g", { class: "means" });
    if (scale.labels) {
      one.mean.forEach((value, i) => {
        if (value === null) return;
        if (one.low[i] !== null) group.append(svg("path", { class: "mean-whisker", d: `M${middles[i]} ${inside(one.low[i])}V${inside(one.high[i])}` }));
        group.append(svg("circle", { class: "mean-dot", cx: middles[i], cy: inside(value), r: 3.5 }));
      });
      return group;
    }
    for (const run of runs(one.low)) group.append(svg("path", { class: "mean-band", d: `M${run.map((i) => `${middles[i]} ${inside(one.low[i])}`).join("L")}L${run.map((i) => `${middles[i]} ${inside(one.high[i])}`).reverse().join("L")}Z` }));
    for (const run of runs(one.mean)) group.append(run.length > 1 ? svg("path", { class: "mean-line", d: `M${run.map((i) => `${middles[i]} ${inside(one.mean[i])}`).join("L")}` }) : svg("circle", { class: "mean-dot", cx: middles[run[0]], cy: inside(one.mean[run[0]]), r: 2 }));
    return group;
  }

  /* Neighbours that are known, run after run. */
  function runs(values) {
    const found = [];
    values.forEach((value, i) => {
      if (value === null) return;
      if (i && values[i - 1] !== null) found[found.length - 1].push(i);
      else found.push([i]);
    });
    return found;
  }

  const placeOf = ({ shape }, i) => (shape.labels && shape.labels[i] !== undefined ? shape.labels[i] : `${short(shape.edges[i])} – ${short(shape.edges[i + 1])}`);

  function words(one, parameter, i) {
    const mean = one.mean[i] === null ? "too few rows for a mean" : `mean ${short(one.mean[i])}`;
    const interval = one.mean[i] === null || one.low[i] === null ? "" : `, 95 % interval ${short(one.low[i])} to ${short(one.high[i])}`;
    return `${pedanova.nameOf(one.parameter)}: ${placeOf(parameter, i)}\n${mean}${interval}\n${pedanova.plural(one.rows[i], "row")}`;
  }

  /* For screen readers: where the mean is lowest, and where it is highest. */
  function spoken(one, parameter) {
    const order = one.mean.map((value, i) => [value, i]).filter(([value]) => value !== null).sort((a, b) => a[0] - b[0]);
    if (!order.length) return `${one.parameter}: too few rows for a mean`;
    const [low, high] = [order[0], order[order.length - 1]];
    return `${one.parameter}: the lowest mean is ${short(low[0])}, at ${placeOf(parameter, low[1])}; the highest mean is ${short(high[0])}, at ${placeOf(parameter, high[1])}`;
  }

  function lines() {
    const head = ["parameter", "value", "rows", "mean", "low", "high"];
    if (!held || held.found.refused) return [head];
    return [head, ...held.found.parameters.filter((one) => pedanova.parameter(one.parameter).shape).flatMap((one) => one.mean.map((mean, i) => [one.parameter, placeOf(pedanova.parameter(one.parameter), i), one.rows[i], mean, one.low[i], one.high[i]]))];
  }

  pedanova.register({ key: "means", title: "Mean objective", mount, show, when: (facts) => !facts.objective.several && (facts.live ? true : Boolean(facts.means)) });
  return {};
})();
