/* Single trials on a plane of two columns: a box around some of them selects, by pointer or by keys. `card` is what
   answers, and `extraOf` its further arguments; of a history, a drag selects along the x axis only. */
"use strict";
pedanova.scatter = function (card, extraOf, words) {
  const { make, svg, set, pane } = pedanova;
  const LIMIT = 1000, LEFT = 74, TOP = 12, RIGHT = 14, FOOT = 52, CLICK = 4;
  let place = null, colouring = null, pair = null, found = null, wanted = "", drawn = "", axes = null, layer = null, overlay = null;

  /* The rows that the plane itself does not choose among: brushes on it stay visible from outside. */
  function around(question, [x, y]) {
    const { [x]: _, [y]: __, ...selection } = question.selection;
    return { ...question, selection };
  }

  function show(piece, state, answer, chosen) {
    place = piece;
    pair = chosen;
    const question = around(pedanova.asked(state), pair), key = `${pane.age()} ${pedanova.source.keyOf(card, question, { pair, colour: state.colour })}`;
    if (key !== wanted && !(answer.pending && found && key === wanted)) {
      wanted = key;
      ask(question, key, state.colour);
    }
    if (found && !pedanova.drag.isOn() && drawn !== JSON.stringify([key, place.body.clientWidth, pedanova.theme.name()])) build(key);
    if (found && !found.refused && axes) paint(state);
  }

  async function ask(question, key, colour) {
    place.element.setAttribute("aria-busy", "true");
    try {
      const given = await pedanova.source.ask(card, question, { ...extraOf(pair), limit: LIMIT, ...(colour ? { names: [colour] } : {}) });
      if (key !== wanted) return;
      [found, drawn] = [given, ""];
      place.element.removeAttribute("aria-busy");
      place.element.classList.remove("moved");
      pedanova.page.show();
    } catch (error) {
      if (error !== pedanova.STALE) throw error;
    }
  }

  function build(key) {
    drawn = JSON.stringify([key, place.body.clientWidth, pedanova.theme.name()]);
    if (pane.refuses(found, place)) return;
    const rows = pane.rowsOf(found), room = pane.width(place.body, 280, 720), high = Math.min(440, Math.max(260, room * 0.62)), ratio = window.devicePixelRatio || 1;
    axes = [pane.axisOf(pair[0], rows.map((row) => row.values[pair[0]]), [LEFT + 8, room - RIGHT], card === "history"), pane.axisOf(pair[1], rows.map((row) => row.values[pair[1]]), [high - FOOT - 8, TOP], card === "history")];
    axes.rows = rows;
    layer = set(make("canvas", "scatter-points"), { width: Math.round(room * ratio), height: Math.round(high * ratio), "aria-hidden": "true" });
    layer.style.width = `${room}px`;
    layer.style.height = `${high}px`;
    layer.getContext("2d").scale(ratio, ratio);
    overlay = svg("svg", { class: "scatter-over", width: room, height: high, viewBox: `0 0 ${room} ${high}` });
    const stage = make("div", "scatter-stage", layer, overlay);
    stage.style.height = `${high}px`;
    frame(room, high);
    colouring = pane.colouring();
    pane.clear(place.body, tools(), colouring.key, stage, make("p", "pane-note", `${found.total > rows.length ? `A random sample of ${pedanova.count(rows.length)} of ` : ""}${pedanova.plural(found.total, "row")}. ${words}`));
  }

  const tools = () => make("div", "scatter-tools", set(pedanova.button("Clear", "Clear the selection along both axes", erase), { "data-tool": "clear" }), colouring.list);

  function erase() {
    const selection = { ...pedanova.state.get().question.selection };
    pair.forEach((name) => delete selection[name]);
    pedanova.state.ask({ selection });
  }

  function frame(room, high) {
    const [x, y] = axes, bottom = high - FOOT;
    const area = svg("rect", { class: "scatter-area", x: LEFT, y: TOP - 6, width: room - LEFT - RIGHT + 6, height: bottom - TOP + 6 });
    const stage = svg("g", { class: "scatter-draw" }, area);
    overlay.append(stage);
    const label = (axis, at, words, horizontal) => svg("text", horizontal ? { class: "tick", x: at, y: bottom + 27, "text-anchor": "middle" } : { class: "tick", x: LEFT - 18, y: at, "text-anchor": "end", "dominant-baseline": "middle" }, words);
    const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
    if (x.labels) x.labels.forEach((words, i) => overlay.append(label(x, x.scale.middle(i), cut(words, Math.floor(x.scale.step / 6.4)), true)));
    else pane.ticksOf(x, 6).forEach((tick) => overlay.append(label(x, x.at(tick), pedanova.short(tick), true)));
    if (y.labels) y.labels.forEach((words, i) => overlay.append(label(y, y.scale.middle(i), cut(words, 9), false)));
    else pane.ticksOf(y, 5).forEach((tick) => overlay.append(label(y, y.at(tick), pedanova.short(tick), false)));
    overlay.append(pedanova.pairs.fitted(svg("text", { class: "axis-name", x: (LEFT + room) / 2, y: high - 6, "text-anchor": "middle" }), x.name, room), pedanova.pairs.fitted(svg("text", { class: "axis-name", x: 2, y: 12 }), y.name, LEFT + 60));
    edges(x, { top: bottom + 2, vertical: false });
    edges(y, { top: LEFT - 14, vertical: true });
    stage.addEventListener("pointerdown", (event) => dragBox(event, stage));
    stage.addEventListener("pointermove", pedanova.eachFrame(hover));
    stage.addEventListener("pointerleave", () => pedanova.hover.set(pedanova.trials ? pedanova.trials.pinned() : null));
    stage.addEventListener("dblclick", erase);
  }

  /* A brush along each axis: the box by arrow keys. */
  function edges(axis, { top, vertical }) {
    if (axis.labels || !axis.parameter || axis.parameter.brush !== "range") return;
    const select = (range, how) => pedanova.state.select(axis.name, range ? { range } : null, how);
    axis.brush = pedanova.brush.range({ svg: overlay, ...(axis.line ? { axis: axis.line } : { scale: axis.scale }), top, height: 12, vertical, name: axis.name, onChange: (range) => select(range, { live: true }), onEnd: (range) => select(range) });
  }

  function pointOf(event) {
    const box = overlay.getBoundingClientRect(), [wide, high] = [overlay.viewBox.baseVal.width, overlay.viewBox.baseVal.height];
    return [((event.clientX - box.left) * wide) / box.width, ((event.clientY - box.top) * high) / box.height];
  }

  /* --- the box ------------------------------------------------------------------------------------------------ */

  function dragBox(event, stage) {
    if (event.button !== 0) return;
    event.preventDefault();
    const from = pointOf(event);
    stage.setPointerCapture(event.pointerId);
    pedanova.drag.begin();
    const move = (live) => (next) => {
      const to = pointOf(next);
      if (Math.hypot(to[0] - from[0], to[1] - from[1]) < CLICK) return;
      take(from, to, { live });
    };
    const follow = pedanova.eachFrame(move(true));
    stage.addEventListener("pointermove", follow);
    const end = (next) => {
      ["pointerup", "pointercancel"].forEach((kind) => stage.removeEventListener(kind, end));
      stage.removeEventListener("pointermove", follow);
      requestAnimationFrame(() => { pedanova.drag.end(); move(false)(next); });
    };
    ["pointerup", "pointercancel"].forEach((kind) => stage.addEventListener(kind, end));
  }

  /* A box is two brushes. */
  function take(from, to, how) {
    const question = pedanova.state.get().question, selection = { ...question.selection };
    axes.slice(0, card === "history" ? 1 : 2).forEach((axis, i) => {
      const brush = brushOf(axis, Math.min(from[i], to[i]), Math.max(from[i], to[i]));
      if (brush) selection[axis.name] = brush;
    });
    pedanova.state.change({ question: { ...question, selection } }, how);
  }

  function brushOf(axis, least, most) {
    if (!axis.parameter || !axis.parameter.brush) return null;
    if (axis.labels) {
      const inside = axis.labels.filter((_, i) => axis.scale.middle(i) >= least && axis.scale.middle(i) <= most);
      return inside.length ? { labels: inside } : null;
    }
    if (axis.values) {
      const inside = axis.values.filter((value) => axis.at(value) >= least && axis.at(value) <= most);
      return inside.length ? { range: [Math.min(...inside), Math.max(...inside)] } : null;
    }
    const tidy = (value) => (axis.parameter.whole ? Math.round(value) : Number(value.toPrecision(3)));
    const ends = [axis.scale.value(least), axis.scale.value(most)].map(tidy).sort((a, b) => a - b);
    return { range: ends };
  }

  /* --- drawing ------------------------------------------------------------------------------------------------ */

  /* Spread of rows that share a name, the same each time. */
  const jitter = (row, k) => ((Math.imul(row.row + 1, k ? 2654435761 : 40503) >>> 8) % 1000) / 1000 - 0.5;

  function spotOf(row) {
    return axes.map((axis, i) => {
      const at = axis.at(row.values[axis.name]);
      if (at === null) return !i ? axis.scale.start - 6 : found.direction === "minimize" ? axis.scale.stop + 2 : axis.scale.start + 6;
      return axis.labels || axis.values ? at + jitter(row, i) * Math.abs(axis.scale.step) * 0.7 : at;
    });
  }

  const isIn = (row, question) => pair.every((name) => within(row.values[name], pedanova.brushOf(question, name)));

  function within(value, brush) {
    if (!brush) return true;
    if (value === null || value === undefined) return false;
    if (brush.labels) return brush.labels.includes(String(value));
    return (brush.range[0] === null || value >= brush.range[0]) && (brush.range[1] === null || value <= brush.range[1]);
  }

  function paint(state) {
    const pen = layer.getContext("2d"), colour = pedanova.theme.colour, ink = pane.colours(state, axes.rows, colouring), question = pedanova.asked(state);
    pen.clearRect(0, 0, layer.width, layer.height);
    const kinds = [[false, false, 0.28], [true, false, 0.35], [false, true, 0.75], [true, true, 1]]; // good, selected, how strong
    for (const [good, chosen, strength] of kinds) {
      pen.globalAlpha = strength;
      pen.strokeStyle = colour("ground");
      for (const row of axes.rows) {
        if ((row.in === "target") !== good || isIn(row, question) !== chosen) continue;
        const [x, y] = spotOf(row);
        pen.fillStyle = ink(row);
        mark(pen, row, x, y, good);
      }
    }
    pen.globalAlpha = 1;
    if (found.order === pair[0]) soFar(pen);
    axes.forEach((axis) => { if (axis.brush) { const brush = pedanova.brushOf(question, axis.name); axis.brush.show(brush && brush.range ? brush.range : null); } });
    outline(state);
    trace(pedanova.hover.row);
  }

  const SHAPES = { pruned: [[-3.5, -3], [3.5, -3], [0, 3.5], [-3.5, -3]], gone: [[-3, -3], [3, 3], null, [-3, 3], [3, -3]] };

  /* A dot; an open triangle for a pruned trial, and a cross where there is no value. */
  function mark(pen, row, x, y, good) {
    const shape = row.state && (row.values[pair[1]] === null ? SHAPES.gone : SHAPES[row.state]);
    pen.beginPath();
    if (!shape) {
      pen.arc(x, y, good ? 4 : 2.6, 0, 2 * Math.PI);
      pen.fill();
      if (good) pen.stroke();
      return;
    }
    shape.forEach((to, i) => to && (i && shape[i - 1] ? pen.lineTo(x + to[0], y + to[1]) : pen.moveTo(x + to[0], y + to[1])));
    pen.strokeStyle = pedanova.theme.colour(shape === SHAPES.gone ? "warning" : "B");
    pen.stroke();
    pen.strokeStyle = pedanova.theme.colour("ground");
  }

  /* The best so far, as stairs. */
  function soFar(pen) {
    const steps = axes.rows.filter((row) => row.best !== null).map((row) => [axes[0].at(row.values[pair[0]]), axes[1].at(row.best)]);
    pen.beginPath();
    steps.forEach(([x, y], i) => { if (i) pen.lineTo(x, steps[i - 1][1]); pen.lineTo(x, y); });
    pen.strokeStyle = pedanova.theme.colour("target");
    pen.lineWidth = 2;
    pen.stroke();
    pen.lineWidth = 1;
  }

  /* The box. */
  function outline(state) {
    overlay.querySelectorAll(".outline").forEach((one) => one.remove());
    const spans = axes.map((axis) => spanOf(axis, pedanova.brushOf(state.question, axis.name)));
    if (spans.some(Boolean)) {
      const [[x1, x2], [y1, y2]] = spans.map((span, i) => span || (i ? [TOP - 6, axes[1].scale.start + 8] : [LEFT, axes[0].scale.stop + 6]));
      overlay.prepend(svg("rect", { class: "outline", x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) }));
    }
  }

  function spanOf(axis, brush) {
    if (!brush) return null;
    if (brush.labels) {
      const at = (axis.labels || []).map((label, i) => (brush.labels.includes(label) ? i : -1)).filter((i) => i >= 0);
      return at.length && at[at.length - 1] - at[0] === at.length - 1 ? [axis.scale.middle(at[0]) - axis.scale.step / 2, axis.scale.middle(at[at.length - 1]) + axis.scale.step / 2] : null;
    }
    if (axis.values) return [axis.line.low(brush.range[0] ?? axis.line.least), axis.line.high(brush.range[1] ?? axis.line.most)];
    return [axis.scale.x(brush.range[0] ?? axis.scale.low), axis.scale.x(brush.range[1] ?? axis.scale.high)];
  }

  function hover(event) {
    if (event.buttons || !axes) return;
    const [px, py] = pointOf(event);
    let best = null, least = 10;
    for (const row of axes.rows) {
      const [x, y] = spotOf(row), away = Math.hypot(x - px, y - py);
      if (away < least) { least = away; best = row; }
    }
    pedanova.hover.set(best || (pedanova.trials ? pedanova.trials.pinned() : null));
  }

  function trace(row) {
    if (!overlay || !axes) return;
    overlay.querySelectorAll(".hovered-spot").forEach((one) => one.remove());
    if (!row || !row.values || !pair.every((name) => name in row.values)) return;
    const [cx, cy] = spotOf(row);
    overlay.append(svg("circle", { class: "hovered-spot", cx, cy, r: 7 }));
  }

  pedanova.hover.subscribe((row) => { if (layer && layer.isConnected) trace(row); });
  return { show, found: () => found };
};
