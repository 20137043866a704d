/* Single trials on the plane of two parameters: a box or a lasso around some of them selects, by pointer or by keys. */
"use strict";
pedanova.scatter = (function () {
  const { make, svg, set, pane } = pedanova;
  const LIMIT = 1000, LEFT = 74, TOP = 12, RIGHT = 14, FOOT = 52, APART = 5, MOST = 300, CLICK = 4;
  let place = null, pair = null, found = null, wanted = "", drawn = "", tool = "box", axes = null, layer = null, overlay = null, draft = null, cursor = null;

  /* The rows that the plane itself does not choose among: brushes on it stay visible from outside. */
  function around(question, [x, y]) {
    const { [x]: _, [y]: __, ...selection } = question.selection;
    return { ...question, selection, lasso: (question.lasso || []).filter((one) => !isHere(one, [x, y])) };
  }

  const isHere = (one, [x, y]) => (one.x === x && one.y === y) || (one.x === y && one.y === x);

  function show(piece, state, answer, chosen) {
    place = piece;
    pair = chosen;
    const question = around(pedanova.asked(state), pair), key = `${pane.age()} ${pedanova.source.keyOf("points", question, { pair })}`;
    if (key !== wanted && !(answer.pending && found && key === wanted)) {
      wanted = key;
      ask(question, key);
    }
    if (found && drawn !== JSON.stringify([key, place.body.clientWidth, pedanova.theme.name(), tool])) build(key);
    if (found && !found.refused && axes) paint(state);
  }

  async function ask(question, key) {
    place.element.setAttribute("aria-busy", "true");
    try {
      const given = await pedanova.source.ask("points", question, { x: pair[0], y: pair[1], limit: LIMIT });
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
    drawn = JSON.stringify([key, place.body.clientWidth, pedanova.theme.name(), tool]);
    if (found.refused) { pane.clear(place.body, make("p", "refused", found.refused)); return; }
    const rows = pane.rowsOf(found), room = pane.width(place.body, 280, 720), high = Math.min(440, Math.max(260, room * 0.62)), ratio = window.devicePixelRatio || 1;
    axes = [pane.axisOf(pair[0], rows.map((row) => row.values[pair[0]]), [LEFT + 8, room - RIGHT]), pane.axisOf(pair[1], rows.map((row) => row.values[pair[1]]), [high - FOOT - 8, TOP])];
    axes.rows = rows;
    layer = set(make("canvas", "scatter-points"), { width: Math.round(room * ratio), height: Math.round(high * ratio), "aria-hidden": "true" });
    layer.style.width = `${room}px`;
    layer.style.height = `${high}px`;
    layer.getContext("2d").scale(ratio, ratio);
    overlay = svg("svg", { class: "scatter-over", width: room, height: high, viewBox: `0 0 ${room} ${high}` });
    const stage = make("div", "scatter-stage", layer, overlay);
    stage.style.height = `${high}px`;
    frame(room, high);
    pane.clear(place.body, tools(), stage, make("p", "pane-note", `${pedanova.plural(rows.length, "row")}${found.total > rows.length ? ` of ${pedanova.count(found.total)}, drawn at random` : ""}; good ones filled. Values that are missing lie at the edge.`));
  }

  function tools() {
    const one = (key, label, title) => set(pedanova.button(label, title, () => { tool = key; draft = cursor = null; drawn = ""; pedanova.page.show(); }), { "aria-pressed": String(tool === key), "data-tool": key });
    const clear = set(pedanova.button("Clear", "Clear what is selected on this plane", erase), { "data-tool": "clear" });
    const free = axes.every((axis) => !axis.labels && !axis.values);
    if (!free && tool === "lasso") tool = "box";
    return make("div", "scatter-tools", one("box", "Box", "Drag a box; or move the edges on both axes by arrow keys"), free ? one("lasso", "Lasso", "Draw a line around rows; by keys: arrows move, Enter sets a corner, Enter on the first closes") : "", clear);
  }

  function erase() {
    const question = pedanova.state.get().question, selection = { ...question.selection };
    pair.forEach((name) => delete selection[name]);
    pedanova.state.ask({ selection, lasso: (question.lasso || []).filter((one) => !isHere(one, pair)) });
  }

  function frame(room, high) {
    const [x, y] = axes, bottom = high - FOOT;
    const area = svg("rect", { class: `scatter-area ${tool}`, x: LEFT, y: TOP - 6, width: room - LEFT - RIGHT + 6, height: bottom - TOP + 6 });
    const stage = svg("g", { class: "scatter-draw" }, area);
    overlay.append(stage);
    const label = (axis, at, words, horizontal) => svg("text", horizontal ? { class: "tick", x: at, y: bottom + 27, "text-anchor": "middle" } : { class: "tick", x: LEFT - 18, y: at, "text-anchor": "end", "dominant-baseline": "middle" }, words);
    const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
    if (x.labels) x.labels.forEach((words, i) => overlay.append(label(x, x.scale.middle(i), cut(words, Math.floor(x.scale.step / 6.4)), true)));
    else ticksOf(x, 6).forEach((tick) => overlay.append(label(x, x.at(tick), pedanova.short(tick), true)));
    if (y.labels) y.labels.forEach((words, i) => overlay.append(label(y, y.scale.middle(i), cut(words, 9), false)));
    else ticksOf(y, 5).forEach((tick) => overlay.append(label(y, y.at(tick), pedanova.short(tick), false)));
    overlay.append(pedanova.pairs.fitted(svg("text", { class: "axis-name", x: (LEFT + room) / 2, y: high - 6, "text-anchor": "middle" }), x.name, room), pedanova.pairs.fitted(svg("text", { class: "axis-name", x: 2, y: 12 }), y.name, LEFT + 60));
    edges(x, { top: bottom + 2, vertical: false });
    edges(y, { top: LEFT - 14, vertical: true });
    stage.addEventListener("pointerdown", (event) => (tool === "box" ? dragBox(event, stage) : dragLasso(event, stage)));
    stage.addEventListener("pointermove", pedanova.eachFrame(hover));
    stage.addEventListener("pointerleave", () => pedanova.hover.set(pedanova.trials ? pedanova.trials.pinned() : null));
    stage.addEventListener("dblclick", erase);
    if (tool === "lasso") byKeys(stage, room, bottom);
  }

  /* A few values along an axis, all where they are few. */
  const ticksOf = (axis, many) => (axis.values ? axis.values.filter((_, i) => i % Math.ceil(axis.values.length / (2 * many)) === 0) : axis.scale.ticks(many));

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
    const move = (live) => (next) => {
      const to = pointOf(next);
      if (Math.hypot(to[0] - from[0], to[1] - from[1]) < CLICK) return;
      take(from, to, { live });
    };
    const follow = pedanova.eachFrame(move(true));
    stage.addEventListener("pointermove", follow);
    const end = (next) => { stage.removeEventListener("pointermove", follow); requestAnimationFrame(() => move(false)(next)); };
    stage.addEventListener("pointerup", end, { once: true });
  }

  /* A box is two brushes. */
  function take(from, to, how) {
    const question = pedanova.state.get().question, selection = { ...question.selection };
    axes.forEach((axis, i) => {
      const brush = brushOf(axis, Math.min(from[i], to[i]), Math.max(from[i], to[i]));
      if (brush) selection[axis.name] = brush;
    });
    pedanova.state.change({ question: { ...question, selection } }, how);
  }

  function brushOf(axis, least, most) {
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

  /* --- the lasso ---------------------------------------------------------------------------------------------- */

  function dragLasso(event, stage) {
    if (event.button !== 0) return;
    event.preventDefault();
    stage.setPointerCapture(event.pointerId);
    draft = [pointOf(event)];
    const move = (next) => {
      const to = pointOf(next), last = draft[draft.length - 1];
      if (Math.hypot(to[0] - last[0], to[1] - last[1]) >= APART && draft.length < MOST) { draft.push(to); outline(pedanova.state.get()); }
    };
    stage.addEventListener("pointermove", move);
    stage.addEventListener("pointerup", () => { stage.removeEventListener("pointermove", move); close(); }, { once: true });
  }

  function close() {
    const points = draft || [];
    draft = cursor = null;
    if (points.length < 3) { outline(pedanova.state.get()); return; }
    const exact = (value) => Number(value.toPrecision(4));
    const corners = points.map(([px, py]) => [exact(axes[0].scale.value(px)), exact(axes[1].scale.value(py))]);
    const question = pedanova.state.get().question;
    pedanova.state.ask({ lasso: [...(question.lasso || []).filter((one) => !isHere(one, pair)), { x: pair[0], y: pair[1], points: corners }] });
  }

  /* Arrows move a cross, Enter sets a corner (on the first one: closes), Backspace takes one back, Esc leaves. */
  function byKeys(stage, room, bottom) {
    set(stage, { tabindex: 0, role: "application", "aria-label": "Lasso: arrows move, Enter sets a corner, Enter on the first corner closes, Backspace takes one back, Escape leaves" });
    stage.addEventListener("keydown", (event) => {
      const far = event.shiftKey ? 2 : 12, steps = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, -far], ArrowDown: [0, far] };
      if (!(event.key in steps) && !["Enter", "Backspace", "Escape"].includes(event.key)) return;
      event.preventDefault();
      cursor = cursor || [(LEFT + room) / 2, (TOP + bottom) / 2];
      if (event.key in steps) cursor = [Math.min(room - RIGHT, Math.max(LEFT, cursor[0] + steps[event.key][0])), Math.min(bottom, Math.max(TOP, cursor[1] + steps[event.key][1]))];
      else if (event.key === "Backspace") draft = (draft || []).slice(0, -1);
      else if (event.key === "Escape") draft = cursor = null;
      else if (draft && draft.length > 2 && Math.hypot(cursor[0] - draft[0][0], cursor[1] - draft[0][1]) < 10) { close(); return; }
      else draft = [...(draft || []), cursor];
      outline(pedanova.state.get());
    });
  }

  /* --- drawing ------------------------------------------------------------------------------------------------ */

  /* Spread of rows that share a name, the same each time. */
  const jitter = (row, k) => ((Math.imul(row.row + 1, k ? 2654435761 : 40503) >>> 8) % 1000) / 1000 - 0.5;

  function spotOf(row) {
    return axes.map((axis, i) => {
      const at = axis.at(row.values[axis.name]);
      if (at === null) return i ? axis.scale.start + 6 : axis.scale.start - 6;
      return axis.labels || axis.values ? at + jitter(row, i) * Math.abs(axis.scale.step) * 0.7 : at;
    });
  }

  const isIn = (row, question) => pair.every((name) => within(row.values[name], pedanova.brushOf(question, name)))
    && (question.lasso || []).filter((one) => isHere(one, pair)).every((one) => inPolygon(row, one));

  function within(value, brush) {
    if (!brush) return true;
    if (value === null || value === undefined) return false;
    if (brush.labels) return brush.labels.includes(String(value));
    return (brush.range[0] === null || value >= brush.range[0]) && (brush.range[1] === null || value <= brush.range[1]);
  }

  const corners = (one) => one.points.map(([px, py]) => (one.x === pair[0] ? [px, py] : [py, px])).map(([px, py]) => [axes[0].scale.x(px), axes[1].scale.x(py)]);

  function inPolygon(row, one) {
    const [x, y] = axes.map((axis) => axis.at(row.values[axis.name]));
    if (x === null || y === null) return false;
    let odd = false;
    corners(one).forEach(([x1, y1], i, all) => {
      const [x2, y2] = all[(i + 1) % all.length];
      if ((y1 > y) !== (y2 > y) && x < x1 + ((y - y1) * (x2 - x1)) / (y2 - y1)) odd = !odd;
    });
    return odd;
  }

  function paint(state) {
    const pen = layer.getContext("2d"), colour = pedanova.theme.colour, question = pedanova.asked(state);
    pen.clearRect(0, 0, layer.width, layer.height);
    const kinds = [[false, false, 0.28], [true, false, 0.35], [false, true, 0.75], [true, true, 1]]; // good, selected, how strong
    for (const [good, chosen, strength] of kinds) {
      pen.globalAlpha = strength;
      pen.fillStyle = colour(good ? "target" : "region");
      pen.strokeStyle = colour("ground");
      for (const row of axes.rows) {
        if ((row.in === "target") !== good || isIn(row, question) !== chosen) continue;
        const [x, y] = spotOf(row);
        pen.beginPath();
        pen.arc(x, y, good ? 4 : 2.6, 0, 2 * Math.PI);
        pen.fill();
        if (good) pen.stroke();
      }
    }
    pen.globalAlpha = 1;
    axes.forEach((axis) => { if (axis.brush) { const brush = pedanova.brushOf(question, axis.name); axis.brush.show(brush && brush.range ? brush.range : null); } });
    outline(state);
    trace(pedanova.hover.row);
  }

  /* The box, the lassos, and what is being drawn. */
  function outline(state) {
    overlay.querySelectorAll(".outline").forEach((one) => one.remove());
    const question = state.question, path = (points, closed) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("") + (closed ? "Z" : "");
    const spans = axes.map((axis) => spanOf(axis, pedanova.brushOf(question, axis.name)));
    if (spans.some(Boolean)) {
      const [[x1, x2], [y1, y2]] = spans.map((span, i) => span || (i ? [TOP - 6, axes[1].scale.start + 8] : [LEFT, axes[0].scale.stop + 6]));
      overlay.prepend(svg("rect", { class: "outline box", x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) }));
    }
    for (const one of (question.lasso || []).filter((each) => isHere(each, pair))) overlay.prepend(svg("path", { class: "outline lasso", d: path(corners(one), true) }));
    if (draft) overlay.append(svg("path", { class: "outline draft", d: path(cursor ? [...draft, cursor] : draft, false) }), ...draft.map(([x, y]) => (cursor ? svg("circle", { class: "outline corner", cx: x, cy: y, r: 3 }) : svg("g", { class: "outline" }))));
    if (cursor) overlay.append(svg("path", { class: "outline cross", d: `M${cursor[0] - 8} ${cursor[1]}h16M${cursor[0]} ${cursor[1] - 8}v16` }));
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
  return { show };
})();
