/* Several objectives: a plot of the good rows and the Pareto front, and the importances for each objective. */
"use strict";
pedanova.front = (function () {
  const { make, set, svg, pane } = pedanova;
  let plane = null, table = null, asking = null, held = null, shownFor = "", axes = { across: 0, up: 1 };

  function mount(element) {
    plane = pane.piece("goals", "Good rows and the Pareto front", { csv: planeLines, drawing: () => plane.body.querySelector("svg") });
    table = pane.piece("goal-importance", "What matters for each objective", { csv: tableLines });
    const both = make("div", "pairs-grid pane", plane.element, table.element);
    element.append(both);
    asking = pane.asker("objectives", both, draw);
  }

  function show(state, answer) {
    asking.follow(state, answer, axes);
    const key = JSON.stringify([state.chosen, plane.body.clientWidth]);
    if (held && key !== shownFor) redraw(state);
  }

  function draw(found, { moved, question }) {
    held = { found, moved, question };
    redraw(pedanova.state.get());
  }

  function redraw(state) {
    const { found, moved, question } = held;
    shownFor = JSON.stringify([state.chosen, plane.body.clientWidth]);
    if (pane.refuses(found, plane, table.note, table.body)) return;
    const target = pane.bandWords(question.target, true);
    pane.said(plane.note, moved ? `Shown for ${pane.questionWords(question)}. This file has no figure for the current question.` : `Filled circles: ${target}. ${found.best}`, moved ? "warned" : "");
    pane.clear(plane.body, found.names.length > 2 ? picks(found.names) : null, picture(found.plane, found.names.length), legend(target, found.names.length));
    pane.said(table.note, `Importances for all objectives together, and for each objective alone (${target}).`);
    pane.clear(table.body, pane.scroll(importances(found.importances, state)));
  }

  /* Which two of the objectives are drawn; of a file, which two it has. */
  function picks(names) {
    const many = pedanova.source.isLive() ? names.length : Math.min(names.length, 4);
    const pick = (axis, label) => {
      const list = set(make("select", ""), { "aria-label": label });
      names.slice(0, many).forEach((name, i) => list.append(Object.assign(make("option", "", name), { value: i, selected: axes[axis] === i })));
      list.addEventListener("change", () => {
        const other = axis === "across" ? "up" : "across", at = Number(list.value);
        const next = { ...axes, [axis]: at, ...(axes[other] === at ? { [other]: axes[axis] } : {}) };
        axes = pedanova.source.isLive() || next.across < next.up ? next : { across: next.up, up: next.across };
        asking.follow(pedanova.state.get(), null, axes);
      });
      return make("label", "", `${label} `, list);
    };
    return make("p", "plane-picks", pick("across", "x axis"), pick("up", "y axis"));
  }

  function legend(target, many) {
    return make("p", "key-line", make("span", "goal-key good", target), make("span", "goal-key all", "other rows"), make("span", `goal-key front${many === 2 ? "" : " rings"}`, "the front: rows that no other row dominates"));
  }

  function picture(found, many) {
    const room = pane.width(plane.body, 280, 640), left = 58, foot = 40, top = 24, high = Math.min(420, room * 0.7), right = 12;
    const [across, up] = found.axes;
    const scaleOf = (axis, range) => pedanova.scales[axis.log ? "log" : "linear"]([axis.edges[0], axis.edges[axis.edges.length - 1]], range);
    const x = scaleOf(across, [left, room - right]), y = scaleOf(up, [top + high, top]);
    const drawing = svg("svg", { width: room, height: top + high + foot, viewBox: `0 0 ${room} ${top + high + foot}`, role: "img", "aria-label": inWords(found) });
    for (const tick of y.ticks(5)) {
      drawing.append(svg("line", { class: "grid-line", x1: left, x2: room - right, y1: y.x(tick), y2: y.x(tick) }),
        svg("text", { class: "tick", x: left - 6, y: y.x(tick), "text-anchor": "end", "dominant-baseline": "middle" }, pedanova.short(tick)));
    }
    for (const tick of x.ticks(5)) drawing.append(svg("text", { class: "tick", x: x.x(tick), y: top + high + 16, "text-anchor": "middle" }, pedanova.short(tick)));
    const middle = (axis, scale, i) => (scale.x(axis.edges[i]) + scale.x(axis.edges[i + 1])) / 2;
    const step = Math.min((room - left - right) / (across.edges.length - 1), high / (up.edges.length - 1));
    const most = Math.max(...found.cells.map((cell) => cell[2])), size = (many) => Math.max(1.4, (step / 2) * Math.sqrt(many / most) * 1.15);
    for (const [i, j, all, good] of found.cells) drawing.append(dot(found, [i, j, all, good], middle(across, x, i), middle(up, y, j), size));
    const at = (cell) => [middle(across, x, cell[0]), middle(up, y, cell[1])];
    if (many === 2) drawing.append(frontOf(found, at));
    else drawing.append(...found.cells.filter((cell) => cell[4] > 0).map(at).map(([cx, cy]) => svg("circle", { class: "goal-front", cx, cy, r: 5 }))); // no line joins them
    drawing.append(name(across, (left + room - right) / 2, top + high + foot - 8, "middle", room - left), name(up, 2, 11, "start", room));
    return drawing;
  }

  function name(axis, x, y, anchor, room) {
    const text = svg("text", { class: "axis-name", x, y, "text-anchor": anchor });
    text.append(`${axis.name} ${axis.direction === "minimize" ? "↓" : "↑"}`.slice(0, Math.floor(room / 6)));
    return pedanova.tip(text, `${axis.name}: ${axis.direction === "minimize" ? "lower" : "higher"} is better`);
  }

  function dot(found, [i, j, all, good], x, y, size) {
    const group = svg("g", { class: "goal-dot" }, svg("circle", { class: "all", cx: x, cy: y, r: size(all) }));
    if (good) group.append(svg("circle", { class: "good", cx: x, cy: y, r: size(good) }));
    const [a, b] = found.axes, range = (axis, at) => `${axis.name} ${pedanova.short(axis.edges[at])} … ${pedanova.short(axis.edges[at + 1])}`;
    return pedanova.tip(group, `${range(a, i)}\n${range(b, j)}\n${pedanova.plural(all, "row")}, ${pedanova.count(good)} good`);
  }

  /* Stairs through the cells of the front, from one end to the other. */
  function frontOf(found, middle) {
    const points = found.cells.filter((cell) => cell[4] > 0).map(middle).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const step = found.axes[0].direction === "minimize" ? ([px, py]) => `H${px.toFixed(1)}V${py.toFixed(1)}` : ([px, py]) => `V${py.toFixed(1)}H${px.toFixed(1)}`;
    const d = points.map((point, i) => (i ? step(point) : `M${point[0].toFixed(1)} ${point[1].toFixed(1)}`)).join("");
    return svg("path", { class: "goal-front", d });
  }

  function inWords(found) {
    const front = found.cells.reduce((sum, cell) => sum + cell[4], 0), good = found.cells.reduce((sum, cell) => sum + cell[3], 0);
    return `x: ${found.axes[0].name}, y: ${found.axes[1].name}; ${pedanova.plural(good, "good row")}, ${pedanova.count(front)} on the front`;
  }

  function importances(by, state) {
    const keys = Object.keys(by), first = by[keys[0]], found = Object.fromEntries(keys.map((key) => [key, new Map(by[key].map((row) => [row.parameter, row]))]));
    const most = Math.max(0.02, ...keys.flatMap((key) => by[key].map((row) => row.share)));
    const cell = (row) => {
      const fill = make("i");
      fill.style.width = `${(100 * Math.max(0, row.share)) / most}%`;
      return make("span", row.significant === false ? "goal-bar unsure" : "goal-bar", make("span", "bar", fill), make("span", "value", `${row.significant === false ? "~ " : ""}${pedanova.percent(row.share)}`));
    };
    const lines = first.map((one) => [pedanova.tip(make("span", "", pedanova.nameOf(one.parameter)), one.parameter), ...keys.map((key) => cell(found[key].get(one.parameter)))]);
    return pane.table("goal-table", ["parameter", ...keys], lines);
  }

  function planeLines() {
    const found = held && held.found.plane;
    if (!found) return [[]];
    const [a, b] = found.axes;
    return [[`${a.name} from`, `${a.name} to`, `${b.name} from`, `${b.name} to`, "rows", "good", "front"],
      ...found.cells.map(([i, j, ...many]) => [a.edges[i], a.edges[i + 1], b.edges[j], b.edges[j + 1], ...many])];
  }

  function tableLines() {
    const by = held && held.found.importances;
    if (!by) return [[]];
    const keys = ["share", "ratio", "low", "high", "p_adjusted", "significant"];
    return [["objective", "parameter", ...keys], ...Object.entries(by).flatMap(([goal, rows]) => rows.map((row) => [goal, row.parameter, ...keys.map((key) => row[key])]))];
  }

  pedanova.register({ key: "objectives", title: "Objectives", mount, show, when: (facts) => facts.objective.several });
  return {};
})();
