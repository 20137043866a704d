/* Parallel coordinates of a sample: one line a trial, good ones on top; each axis can be brushed. */
"use strict";
pedanova.parallel = (function () {
  const { make, svg, set, pane } = pedanova;
  const LIMIT = 1000, TOP = 34, HIGH = 300, FOOT = 26, SIDE = 46, LEAST = 86; // LEAST: pixels between two axes
  let piece = null, colouring = null, asking = null, held = null, layers = null, axes = [], rows = [], first = [], drawn = "", resting = true;

  function mount(element) {
    piece = pane.piece("parallel", "Parallel coordinates", { csv: lines, drawing: () => whole(), vector: false });
    colouring = pane.colouring();
    piece.tools.prepend(colouring.list);
    piece.note.after(colouring.key);
    element.append(piece.element);
    asking = pane.asker("parallel", piece.element, (found) => { held = found; drawn = ""; show(pedanova.state.get(), pedanova.page.answer() || {}); });
    pedanova.hover.subscribe(trace);
  }

  function show(state, answer) {
    asking.follow(state, answer, { limit: LIMIT, ...pane.some([...Object.keys(state.question.selection), ...(state.colour ? [state.colour] : [])]) });
    if (!held) return;
    if (pane.refuses(held, piece)) return;
    const key = JSON.stringify([piece.body.clientWidth, pedanova.theme.name(), state.colour, order(answer)]);
    if (key !== drawn && !pedanova.drag.isOn()) { drawn = key; build(state, answer); }
    axes.forEach((axis) => axis.brush && resting && axis.brush.show(rangeOf(state, axis.name)));
    axes.forEach((axis) => axis.labels && markLabels(state, axis));
    words(answer);
  }

  function words() {
    const shown = rows.length, good = rows.filter((row) => row.in === "target").length;
    pane.said(piece.note, `${shown < held.total ? `A random sample of ${pedanova.count(shown)} of ${pedanova.plural(held.total, "row")}` : pedanova.plural(shown, "row")}; ${pedanova.count(good)} in the target (coloured). Drag along an axis to select.${pane.cut()}`);
  }

  /* The most important parameters first, the objective at the right end. The first order stays, so that no axis runs
     away from the pointer. */
  function order(answer) {
    if (!first.length) first = (answer.importances || []).map((row) => row.parameter);
    const ranked = first.filter((name) => held.parameters.includes(name)), rest = held.parameters.filter((name) => !ranked.includes(name));
    return [...ranked, ...rest, ...held.objectives];
  }

  function build(state, answer) {
    const names = order(answer), wide = Math.max(pane.width(piece.body, 280), SIDE * 2 + LEAST * (names.length - 1));
    rows = pane.rowsOf(held);
    const step = names.length > 1 ? (wide - 2 * SIDE) / (names.length - 1) : 0, ratio = window.devicePixelRatio || 1;
    axes = names.map((name, i) => axisOf(name, SIDE + i * step));
    const high = TOP + HIGH + FOOT;
    layers = ["all", "over"].map((kind) => {
      const canvas = set(make("canvas", `parallel-${kind}`), { width: Math.round(wide * ratio), height: Math.round(high * ratio), "aria-hidden": "true" });
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${high}px`;
      canvas.getContext("2d").scale(ratio, ratio);
      return canvas;
    });
    const drawing = svg("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "group", "aria-label": "Parallel coordinates" });
    axes.forEach((axis, i) => drawing.append(frame(axis, i, step, state)));
    const stage = make("div", "parallel-stage", ...layers, drawing);
    stage.style.width = `${wide}px`;
    stage.style.height = `${high}px`;
    drawing.addEventListener("pointermove", pedanova.eachFrame((event) => near(event)));
    drawing.addEventListener("pointerleave", () => pedanova.hover.set(pedanova.trials ? pedanova.trials.pinned() : null));
    pane.clear(piece.body, set(make("div", "scroll parallel-scroll", stage), { tabindex: 0, role: "region", "aria-label": "Parallel coordinates" }));
    paint(state);
  }

  /* An axis: values to pixels from below, categories at even places, what is missing at the foot. */
  function axisOf(name, x) {
    const axis = pane.axisOf(name, rows.map((row) => row.values[name]), [TOP + HIGH - 22, TOP]);
    return { ...axis, x, y: axis.at };
  }

  const foot = TOP + HIGH;

  function frame(axis, i, step, state) {
    const group = svg("g", { class: "parallel-axis" });
    const ends = i === 0 ? { x: 2, "text-anchor": "start" } : i === axes.length - 1 ? { x: axis.x + SIDE - 2, "text-anchor": "end" } : { x: axis.x, "text-anchor": "middle" };
    const title = svg("text", { class: "axis-name", y: i % 2 && step < 110 ? 28 : 14, ...ends });
    group.append(pedanova.pairs.fitted(title, axis.name, step < 110 ? step * 1.8 : step - 8),
      svg("line", { class: "axis-line", x1: axis.x, x2: axis.x, y1: TOP, y2: TOP + HIGH - 22 }),
      svg("circle", { class: "axis-foot", cx: axis.x, cy: foot, r: 2.5 }));
    const room = step ? step - 12 : 80;
    if (axis.labels) axis.labels.forEach((label, at) => group.append(category(axis, label, at, room)));
    else {
      for (const tick of pane.ticksOf(axis, 4)) group.append(svg("text", { class: "tick", x: axis.x - 10, y: axis.at(tick), "text-anchor": "end", "dominant-baseline": "middle" }, pedanova.short(tick)));
      if (axis.parameter && axis.parameter.brush === "range") brushed(axis, group, state);
    }
    if (rows.some((row) => axis.y(row.values[axis.name]) === null)) group.append(svg("text", { class: "tick", x: axis.x, y: foot + 16, "text-anchor": "middle" }, "none"));
    return group;
  }

  function category(axis, label, at, room) {
    const y = axis.scale.middle(at), fits = Math.max(3, Math.floor(room / 6.2));
    const group = set(svg("g", { class: "parallel-label", "data-label": label }), axis.parameter ? { role: "button", tabindex: 0, "aria-pressed": "false", "aria-label": `${axis.name} ${label}` } : {});
    group.append(svg("rect", { x: axis.x - 7, y: y - 7, width: 14, height: 14, rx: 3 }),
      svg("text", { class: "tick", x: axis.x - 10, y, "text-anchor": "end", "dominant-baseline": "middle" }, label.length > fits ? `${label.slice(0, fits - 1)}…` : label));
    if (!axis.parameter) return group;
    const toggle = () => pedanova.densities.toggle(axis.parameter, label);
    group.addEventListener("click", toggle);
    group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); } });
    return pedanova.tip(group, label);
  }

  function markLabels(state, axis) {
    if (!axis.parameter) return;
    const brush = pedanova.brushOf(state.question, axis.name), chosen = brush && brush.labels ? brush.labels : null;
    piece.body.querySelectorAll(".parallel-label").forEach((one) => {
      if (one.getAttribute("aria-label") !== `${axis.name} ${one.dataset.label}`) return;
      one.setAttribute("aria-pressed", String(Boolean(chosen) && chosen.includes(one.dataset.label)));
    });
  }

  function brushed(axis, group) {
    const select = (range, how) => pedanova.state.select(axis.name, range ? { range } : null, how);
    axis.brush = pedanova.brush.range({
      svg: group, ...(axis.line ? { axis: axis.line } : { scale: axis.scale }), vertical: true, top: axis.x - 9, height: 18, name: axis.name,
      onChange: (range) => { resting = false; select(range, { live: true }); },
      onEnd: (range) => { resting = true; select(range); },
    });
  }

  function rangeOf(state, name) {
    const brush = pedanova.brushOf(state.question, name);
    return brush && brush.range ? brush.range : null;
  }

  const colour = (name) => pedanova.theme.colour(name);

  function paint(state) {
    const ink = pane.colours(state, rows, colouring), pen = layers[0].getContext("2d");
    pen.clearRect(0, 0, layers[0].width, layers[0].height);
    const good = rows.filter((row) => row.in === "target"), others = rows.filter((row) => row.in !== "target");
    pen.lineWidth = 1;
    pen.globalAlpha = Math.min(0.5, Math.max(state.colour ? 0.3 : 0.08, 30 / Math.max(1, others.length)));
    others.forEach((row) => { pen.strokeStyle = ink(row); stroke(pen, row); });
    pen.lineWidth = 1.3;
    pen.globalAlpha = Math.min(0.9, Math.max(0.3, 40 / Math.max(1, good.length)));
    good.forEach((row) => { pen.strokeStyle = ink(row); stroke(pen, row); });
    pen.globalAlpha = 1;
    trace(pedanova.hover.row);
  }

  function stroke(pen, row) {
    pen.beginPath();
    axes.forEach((axis, i) => {
      const y = axis.y(row.values[axis.name]) ?? foot;
      if (i) pen.lineTo(axis.x, y); else pen.moveTo(axis.x, y);
    });
    pen.stroke();
  }

  /* The hovered trial, thick and on top. */
  function trace(row) {
    if (!layers) return;
    const pen = layers[1].getContext("2d");
    pen.clearRect(0, 0, layers[1].width, layers[1].height);
    if (!row || !row.values) return;
    pen.lineWidth = 5;
    pen.strokeStyle = colour("ground");
    stroke(pen, row);
    pen.lineWidth = 2.5;
    pen.strokeStyle = colour("ink");
    stroke(pen, row);
  }

  /* The line nearest to the pointer, between two axes. */
  function near(event) {
    if (!resting || event.buttons) return;
    const box = layers[0].getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
    const right = axes.findIndex((axis) => axis.x >= px);
    if (right <= 0) return;
    const [a, b] = [axes[right - 1], axes[right]], part = (px - a.x) / (b.x - a.x || 1);
    let best = null, least = 9;
    for (const row of rows) {
      const [from, to] = [a.y(row.values[a.name]) ?? foot, b.y(row.values[b.name]) ?? foot];
      const away = Math.abs(from + part * (to - from) - py) + (row.in === "target" ? 0 : 1);
      if (away < least) { least = away; best = row; }
    }
    pedanova.hover.set(best || (pedanova.trials ? pedanova.trials.pinned() : null));
  }

  /* Lines and axes as one picture, on the ground of the page. */
  function whole() {
    const canvas = make("canvas"), pen = canvas.getContext("2d");
    [canvas.width, canvas.height] = [layers[0].width, layers[0].height];
    pen.fillStyle = colour("ground");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(layers[0], 0, 0);
    const ratio = window.devicePixelRatio || 1;
    pen.scale(ratio, ratio);
    pen.fillStyle = colour("ink");
    pen.strokeStyle = colour("soft");
    pen.font = "12px system-ui, sans-serif";
    piece.body.querySelectorAll(".axis-line").forEach((line) => { pen.beginPath(); pen.moveTo(Number(line.getAttribute("x1")), TOP); pen.lineTo(Number(line.getAttribute("x1")), Number(line.getAttribute("y2"))); pen.stroke(); });
    piece.body.querySelectorAll("text").forEach((text) => { pen.textAlign = text.getAttribute("text-anchor") === "end" ? "right" : "center"; pen.fillText(text.textContent, Number(text.getAttribute("x")), Number(text.getAttribute("y")) + 4); });
    return canvas;
  }

  function lines() {
    const names = held && held.columns ? Object.keys(held.columns) : [];
    return [names, ...(names.length ? held.columns[held.own.row].map((_, i) => names.map((name) => held.columns[name][i])) : [])];
  }

  pedanova.register({ key: "parallel", title: "Parallel", mount, show, when: (facts) => Boolean(facts.live) && pedanova.source.can("parallel") });
  return {};
})();
