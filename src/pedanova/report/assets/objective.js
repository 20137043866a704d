/* The strip of the objective: how its values are spread, and the edges of target and region to drag. */
"use strict";
pedanova.objective = (function () {
  const { svg: draw, set, byId, short, percent } = pedanova;
  const HEIGHT = 56, TOP = 14, BOTTOM = 40, SIDE = 12;
  const NICE = [0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
  let root = null, spread = null, handles = {}, width = 0, drawn = "", drawnOf = null;

  /* The part of the rows that is at least as good as a value, and back, from points of the distribution. */
  function spreadOf(objective) {
    const points = objective.reached.filter(([x]) => x !== null);
    if (objective.several || points.length < 3) return null;
    const better = objective.direction === "minimize" ? 1 : -1;
    const sorted = [...points].sort((a, b) => better * (a[0] - b[0]));
    const to = objective.log ? Math.log : (v) => v, from = objective.log ? Math.exp : (v) => v;
    sorted.unshift([from(to(sorted[0][0]) - ahead(sorted.map(([x, y]) => [to(x), y]))), 0]);
    const xs = sorted.map(([x]) => x), parts = sorted.map(([, y]) => y);
    const between = (v, a, b, one, other) => (a === b ? other : one + ((v - a) / (b - a)) * (other - one));
    return {
      low: Math.min(...xs), high: Math.max(...xs),
      part(value) {
        const v = better * to(value), at = xs.findIndex((x) => better * to(x) >= v);
        if (at === 0) return parts[0];
        return at < 0 ? parts[parts.length - 1] : between(v, better * to(xs[at - 1]), better * to(xs[at]), parts[at - 1], parts[at]);
      },
      value(part) {
        const at = parts.findIndex((y) => y >= part);
        if (at === 0) return xs[0];
        return at < 0 ? xs[xs.length - 1] : from(between(part, parts[at - 1], parts[at], to(xs[at - 1]), to(xs[at])));
      },
    };
  }

  /* How far the best rows lie ahead of the first point: as if they were spread like those behind it. */
  function ahead(points) {
    const [[x, part], [next, more]] = points, span = points[points.length - 1][0] - x;
    const even = ((next - x) * part) / Math.max(1e-9, more - part);
    return Math.sign(span) * Math.min(Math.max(Math.abs(even), Math.abs(span) * 0.02), Math.abs(span) * 0.25);
  }

  /* From values (or, for several objectives, parts) to pixels. */
  function scaleOf(objective) {
    const range = [SIDE, Math.max(SIDE + 50, width - SIDE)];
    if (!spread) return pedanova.scales.log([Math.min(0.01, ...pedanova.facts.rungs.map((rung) => rung.part)), 1], range);
    const make = objective.log ? pedanova.scales.log : pedanova.scales.linear;
    return make([spread.low, spread.high], range);
  }

  /* The outer end of a band of rows as a part of all. */
  function partOf(band) {
    if (band.part) return band.part[1];
    if (!spread) return 1;
    const end = band.value[pedanova.facts.objective.direction === "minimize" ? 1 : 0];
    return end === null ? 1 : spread.part(end);
  }

  function xOf(part, scale) {
    if (!spread) return scale.x(Math.max(scale.low, part));
    if (part >= 1) return pedanova.facts.objective.direction === "minimize" ? scale.stop : scale.start;
    const rung = pedanova.facts.rungs.find((one) => one.part === part);
    const value = rung && rung.end !== null ? rung.end : spread.value(part);
    return Math.min(scale.stop, Math.max(scale.start, scale.x(value)));
  }

  function mount() {
    const { objective } = pedanova.facts;
    spread = spreadOf(objective);
    root = draw("svg", { height: HEIGHT, class: "strip" });
    set(root, { role: "group", "aria-label": `Objective ${objective.name}: edges of target and region` });
    byId("strip").append(root);
    for (const event of ["news", "study"]) pedanova.on(event, () => { spread = spreadOf(pedanova.facts.objective); });
    new ResizeObserver(() => pedanova.page.show()).observe(byId("strip"));
  }

  function show(state, answer) {
    const { objective } = pedanova.facts;
    width = byId("strip").clientWidth;
    if (!width) return;
    const scale = scaleOf(objective);
    set(root, { width, viewBox: `0 0 ${width} ${HEIGHT}` });
    const ends = { target: xOf(partOf(state.question.target), scale), region: xOf(partOf(state.question.region), scale) };
    if (!handles.target) build();
    const look = JSON.stringify([width, ends]);
    if (look !== drawn || spread !== drawnOf) paint(scale, ends, objective);
    [drawn, drawnOf] = [look, spread];
    for (const which of ["region", "target"]) place(which, ends[which], state.question[which], answer);
  }

  function build() {
    root.append(draw("g", { class: "ground", "aria-hidden": "true" }));
    for (const which of ["region", "target"]) {
      const word = draw("text", { class: "edge-word", y: 10 });
      word.textContent = which;
      const handle = draw("g", { class: `edge-of ${which}`, role: "slider", tabindex: 0, "data-edge": which, "aria-label": `Edge of the ${which}` },
        draw("rect", { class: "edge-catch", x: -12, y: 0, width: 24, height: HEIGHT }),
        draw("line", { y1: TOP - 2, y2: BOTTOM + 2 }), draw("circle", { r: 5, cy: BOTTOM - 2 }), word);
      handle.addEventListener("pointerdown", (event) => press(event, which));
      handle.addEventListener("keydown", (event) => keys(event, which));
      root.append(handle);
      handles[which] = handle;
    }
  }

  /* The distribution, filled where the target and the region lie. */
  function paint(scale, ends, objective) {
    const ground = root.querySelector(".ground");
    const parts = [];
    const down = objective.direction === "minimize" || !spread;
    const from = down ? scale.start : scale.stop;
    if (spread) {
      const outline = curve(scale, objective);
      for (const which of ["all", "region", "target"]) {
        const end = which === "all" ? (down ? scale.stop : scale.start) : ends[which];
        parts.push(draw("path", { class: `mass ${which}`, d: clipped(outline, from, end) }));
      }
    } else {
      for (const which of ["region", "target"]) {
        parts.push(draw("rect", { class: `mass ${which}`, x: from, y: BOTTOM - 8, width: Math.max(0, ends[which] - from), height: 8 }));
      }
    }
    parts.push(draw("line", { class: "axis", x1: scale.start, x2: scale.stop, y1: BOTTOM, y2: BOTTOM }));
    for (const tick of scale.ticks(Math.max(2, Math.floor(width / 90)))) {
      const text = draw("text", { class: "tick", x: scale.x(tick), y: HEIGHT - 4, "text-anchor": scale.x(tick) < 20 ? "start" : scale.x(tick) > width - 20 ? "end" : "middle" });
      text.textContent = spread ? short(tick) : percent(tick);
      parts.push(text);
    }
    ground.replaceChildren(...parts);
  }

  /* Rows by even steps of the strip; heights are roots, so that a few good rows are seen beside many poor ones. */
  function curve(scale, objective) {
    const steps = Math.min(120, Math.round((scale.stop - scale.start) / 6));
    const at = (i) => scale.start + ((scale.stop - scale.start) * i) / steps;
    const held = Array.from({ length: steps + 1 }, (_, i) => spread.part(scale.value(at(i))));
    const raw = Array.from({ length: steps }, (_, i) => Math.abs(held[i + 1] - held[i]));
    const mass = raw.map((m, i) => Math.sqrt((2 * m + (raw[i - 1] ?? m) + (raw[i + 1] ?? m)) / 4));
    const most = Math.max(...mass, 1e-9);
    return mass.map((m, i) => [at(i), at(i + 1), BOTTOM - Math.max(1, (m / most) * (BOTTOM - TOP))]);
  }

  function clipped(outline, from, to) {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const inside = outline.filter(([a, b]) => b > low && a < high);
    if (!inside.length) return "";
    const steps = inside.map(([a, b, y]) => `L${Math.max(a, low).toFixed(1)} ${y.toFixed(1)}L${Math.min(b, high).toFixed(1)} ${y.toFixed(1)}`);
    return `M${Math.max(inside[0][0], low).toFixed(1)} ${BOTTOM}${steps.join("")}L${Math.min(inside[inside.length - 1][1], high).toFixed(1)} ${BOTTOM}Z`;
  }

  function place(which, x, band, answer) {
    const handle = handles[which], part = partOf(band);
    set(handle, { transform: `translate(${x.toFixed(1)} 0)`, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Number((100 * part).toPrecision(3)), "aria-valuetext": wordsOf(which, band, answer) });
    const word = handle.querySelector("text");
    const crowded = Math.abs(Number(handles.target.dataset.x || 0) - Number(handles.region.dataset.x || 0)) < 60;
    handle.dataset.x = x;
    set(word, { "text-anchor": x > width - 60 ? "end" : x < 60 ? "start" : "middle", visibility: which === "region" && crowded ? "hidden" : "visible" });
    pedanova.tip(handle, `${which}: ${wordsOf(which, band, answer)}\ndrag, or use the arrow keys`);
  }

  /* A band in words: "best 10 %, error ≤ 0.031, 100 rows". */
  function wordsOf(which, band, answer) {
    const { objective, rungs } = pedanova.facts;
    const sign = objective.direction === "minimize" ? "≤" : "≥";
    const rows = answer && answer.rows ? answer.rows[which] : null;
    const many = rows === null || rows === undefined ? "" : `, ${pedanova.plural(rows, "row")}`;
    if (band.value) {
      const [low, high] = band.value;
      const bounds = [low === null ? "" : `≥ ${short(low)}`, high === null ? "" : `≤ ${short(high)}`].filter(Boolean).join(" and ");
      return `${objective.name} ${bounds || "anything"}${many}`;
    }
    const [from, to] = band.part;
    if (!from && to >= 1) return `all rows${many}`;
    const rung = rungs.find((one) => one.part === to);
    const end = from ? "" : rung && rung.end !== null ? `, ${objective.name} ${sign} ${short(rung.end)}` : spread ? `, ${objective.name} ${sign} ${short(spread.value(to))}` : "";
    return `${from ? `${percent(from)} to ${percent(to)}` : `best ${percent(to)}`}${end}${many}`;
  }

  let drag = null;
  function press(event, which) {
    if (event.button !== 0) return;
    event.preventDefault();
    const handle = handles[which];
    handle.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    drag = { which, moved: false };
    const pull = (move) => {
      const box = root.getBoundingClientRect();
      drag.moved = true;
      change(which, nearest(which, (move.clientX - box.left) * (width / box.width)), true);
    };
    const end = () => {
      handle.removeEventListener("pointermove", pull);
      handle.removeEventListener("pointerup", end);
      handle.removeEventListener("pointercancel", end);
      if (drag && drag.moved) pedanova.state.change({}, { live: false });
      drag = null;
    };
    handle.addEventListener("pointermove", pull);
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
  }

  /* The part nearest to a place: one of the file's steps, or any while somebody answers. */
  function nearest(which, x) {
    const scale = scaleOf(pedanova.facts.objective);
    if (!pedanova.source.isLive()) {
      return parts(which).reduce((best, part) => (Math.abs(xOf(part, scale) - x) < Math.abs(xOf(best, scale) - x) ? part : best));
    }
    if (Math.abs(x - xOf(1, scale)) < 6) return 1;
    const free = spread ? spread.part(scale.value(x)) : scale.value(x);
    return Math.max(least(), Number(free.toPrecision(2)));
  }

  const least = () => Math.min(0.5, Math.max(0.0001, Math.ceil((5 / pedanova.facts.rows) * 1e4) / 1e4));
  /* The parts that the keys step through. */
  function parts(which) {
    const known = pedanova.source.isLive() ? NICE.filter((part) => part >= least()) : pedanova.facts.rungs.map((rung) => rung.part);
    return which === "target" ? known.slice(0, -1) : known.slice(1);
  }

  /* The region stays wider than the target: the one that moves pushes the other. */
  function change(which, part, live) {
    const { question } = pedanova.state.get();
    const other = which === "target" ? "region" : "target";
    const patch = { [which]: { part: [0, part] } };
    const there = partOf(question[other]);
    const known = pedanova.source.isLive() ? NICE : pedanova.facts.rungs.map((rung) => rung.part);
    if (which === "target" && part >= there) patch.region = { part: [0, known.find((one) => one > part) || 1] };
    if (which === "region" && part <= there) patch.target = { part: [0, [...known].reverse().find((one) => one < part) || known[0]] };
    pedanova.state.ask(patch, { live });
  }

  function keys(event, which) {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 3, PageDown: -3 }[event.key];
    if (!by && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    const known = parts(which), now = partOf(pedanova.state.get().question[which]);
    const wider = pedanova.facts.objective.direction === "minimize" || !spread ? by : -by; // → goes right on the strip
    const at = known.findIndex((part) => part >= now - 1e-12);
    const here = at < 0 ? known.length - 1 : at;
    const next = event.key === "Home" ? 0 : event.key === "End" ? known.length - 1 : here + wider;
    change(which, known[Math.min(known.length - 1, Math.max(0, next))], false);
  }

  return { mount, show, wordsOf, partOf, change, parts };
})();
