/* The strip of the objective: its distribution, with the edges of target and region to drag. */
"use strict";
pedanova.objective = (function () {
  const { svg: draw, set, byId, short, percent } = pedanova, said = {}; // said: the last words of each band
  const HEIGHT = 56, TOP = 14, BOTTOM = 40, SIDE = 12;
  const NICE = [0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
  let root = null, spread = null, spreadFor = null, handles = {}, width = 0, drawn = "", drawnOf = null;

  /* Convert between a value and the fraction of rows that are at least as good, with points of the distribution. */
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

  /* The distance from the best row to the first point, extrapolated from the next points. */
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

  const isDown = () => pedanova.facts.objective.direction === "minimize";

  /* Where a band of rows begins and ends, as fractions of all rows, best first. */
  function endsOf(band) {
    if (band.part) return band.part;
    if (!spread) return [0, 1];
    const [inner, outer] = isDown() ? band.value : [...band.value].reverse();
    return [inner === null ? 0 : spread.part(inner), outer === null ? 1 : spread.part(outer)];
  }

  const partOf = (band) => endsOf(band)[1];

  /* Whether the answer is about this band; then it says where the band ends. */
  const isOf = (answer, which, band) => Boolean(answer && answer.bands) && JSON.stringify(answer.question[which]) === JSON.stringify(band);

  function placesOf(which, band, scale, answer) {
    const at = endsOf(band).map((part) => xOf(part, scale)), { ends } = (isOf(answer, which, band) && answer.bands[which]) || { ends: [null, null] };
    if (!spread || pedanova.drag.isOn()) return at;
    return (isDown() ? ends : [...ends].reverse()).map((end, side) => (end === null ? at[side] : Math.min(scale.stop, Math.max(scale.start, scale.x(end)))));
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
    root = draw("svg", { height: HEIGHT, class: "strip" });
    set(root, { role: "group", "aria-label": `Objective ${objective.name}: edges of target and region` });
    byId("strip").append(root);
    new ResizeObserver(() => pedanova.page.show()).observe(byId("strip"));
  }

  function show(state, answer) {
    const objective = answer.reached && !answer.refused ? { ...pedanova.facts.objective, reached: answer.reached } : pedanova.facts.objective; // of the selected rows
    width = byId("strip").clientWidth;
    if (!width) return;
    if (spreadFor !== objective.reached) [spread, spreadFor] = [spreadOf(objective), objective.reached];
    const scale = scaleOf(objective);
    set(root, { width, viewBox: `0 0 ${width} ${HEIGHT}` });
    const ends = Object.fromEntries(["target", "region"].map((which) => [which, placesOf(which, state.question[which], scale, answer)]));
    if (!handles.target) build();
    const look = JSON.stringify([width, ends]);
    if (look !== drawn || spread !== drawnOf) paint(scale, ends, objective);
    [drawn, drawnOf] = [look, spread];
    for (const which of ["region", "target"]) handles[which].forEach((handle, side) => handle && place(which, side, ends[which][side], state.question[which], answer));
  }

  /* Outer edges lie on top; inner ones stand side by side, where nothing is cut off the best rows, and lean outwards. */
  function build() {
    root.append(draw("g", { class: "ground", "aria-hidden": "true" }));
    handles = { target: [null, null], region: [null, null] };
    for (const side of pedanova.source.isLive() ? [0, 1] : [1]) for (const which of ["region", "target"]) {
      const handle = side ? outer(which) : inner(which);
      handle.addEventListener("pointerdown", (event) => press(event, which, side));
      handle.addEventListener("keydown", (event) => keys(event, which, side));
      root.append(handle);
      handles[which][side] = handle;
    }
  }

  function outer(which) {
    const word = draw("text", { class: "edge-word", y: 10 });
    word.textContent = which;
    return draw("g", { class: `edge-of ${which}`, role: "slider", tabindex: 0, "data-edge": which, "aria-label": `Edge of the ${which}` },
      draw("rect", { class: "edge-catch", x: -12, y: 0, width: 24, height: HEIGHT }),
      draw("line", { y1: TOP - 2, y2: BOTTOM + 2 }), draw("circle", { r: 5, cy: BOTTOM - 2 }), word);
  }

  function inner(which) {
    const top = which === "target" ? 0 : HEIGHT / 2, middle = which === "target" ? TOP + 6 : BOTTOM - 2;
    return draw("g", { class: `edge-of inner ${which}`, role: "slider", tabindex: 0, "data-inner": which, "aria-label": `Better end of the ${which}` },
      draw("rect", { class: "edge-catch", x: isDown() || !spread ? -12 : -6, y: top, width: 18, height: HEIGHT / 2 }),
      draw("line", { y1: TOP - 2, y2: BOTTOM + 2 }), draw("circle", { r: 4, cy: middle }));
  }

  /* The distribution, filled where the target and the region lie. */
  function paint(scale, ends, objective) {
    const ground = root.querySelector(".ground");
    const parts = [];
    const down = objective.direction === "minimize" || !spread;
    if (spread) {
      const outline = curve(scale, objective), all = down ? [scale.start, scale.stop] : [scale.stop, scale.start];
      for (const which of ["all", "region", "target"]) parts.push(draw("path", { class: `mass ${which}`, d: clipped(outline, ...(which === "all" ? all : ends[which])) }));
    } else {
      for (const which of ["region", "target"]) {
        const [from, to] = ends[which];
        parts.push(draw("rect", { class: `mass ${which}`, x: from, y: BOTTOM - 8, width: Math.max(0, to - from), height: 8 }));
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

  /* Rows in equal steps of the strip; heights are square roots, so that few good rows remain visible. */
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

  function place(which, side, x, band, answer) {
    const handle = handles[which][side], ends = endsOf(band), words = wordsOf(which, band, answer);
    set(handle, { transform: `translate(${x.toFixed(1)} 0)`, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Number((100 * ends[side]).toPrecision(3)), "aria-valuetext": words });
    handle.dataset.x = x;
    pedanova.tip(handle, `${which}: ${words}\n${side || ends[0] ? "drag, or use the arrow keys" : "drag to leave out the best rows"}`);
    if (!side) { handle.classList.toggle("on", ends[0] > 0); return; }
    const crowded = Math.abs(Number(handles.target[1].dataset.x || 0) - Number(handles.region[1].dataset.x || 0)) < 60;
    set(handle.querySelector("text"), { "text-anchor": x > width - 60 ? "end" : x < 60 ? "start" : "middle", visibility: which === "region" && crowded ? "hidden" : "visible" });
  }

  /* A band in words, as it was answered: "best 10 % of these rows, error ≤ 0.031, 100 rows"; while it is dragged, the last words stay. */
  function wordsOf(which, band, answer, many = true) {
    const known = isOf(answer, which, band), rows = answer && answer.rows ? answer.rows[which] : null;
    if (known) said[which] = [answer.bands[which].words, answer.bands[which].limit].filter(Boolean).join(", ");
    const words = known || (pedanova.drag.isOn() && said[which]) ? said[which] : pedanova.pane.bandWords(band, true).replace(/^the /, "");
    return `${words}${many && known && rows !== null && rows !== undefined ? `, ${pedanova.plural(rows, "row")}` : ""}`;
  }

  let drag = null;
  function press(event, which, side) {
    if (event.button !== 0) return;
    event.preventDefault();
    const handle = handles[which][side];
    handle.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    drag = { moved: false };
    pedanova.drag.begin();
    const pull = (move) => {
      const box = root.getBoundingClientRect();
      drag.moved = true;
      pulled(which, side, (move.clientX - box.left) * (width / box.width));
    };
    const end = () => {
      handle.removeEventListener("pointermove", pull);
      handle.removeEventListener("pointerup", end);
      handle.removeEventListener("pointercancel", end);
      const moved = drag && drag.moved;
      drag = null;
      pedanova.drag.end();
      if (moved) pedanova.state.change({}, { live: false });
    };
    handle.addEventListener("pointermove", pull);
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
  }

  /* Move an edge to the pointer; a band that is given by values keeps values. */
  function pulled(which, side, x) {
    const band = pedanova.state.get().question[which], ends = [...endsOf(band)];
    ends[side] = side ? Math.max(nearest(which, x), ends[0] ? ends[0] + least() : 0) : Math.min(started(x), inmost(which));
    const at = (side === 1) === isDown() ? 1 : 0, value = band.value && spread && pedanova.source.isLive() ? [...band.value] : null;
    if (value) value[at] = ends[side] === side ? null : Number(scaleOf(pedanova.facts.objective).value(x).toPrecision(3));
    const fits = value && ends[0] < ends[1] && (value[0] === null || value[1] === null || value[0] <= value[1]);
    change(which, ends, true, fits ? { value } : { part: ends });
  }

  /* The limit of an inner edge: the target must keep some rows. */
  const inmost = (which) => Math.max(0, Math.min(partOf(pedanova.state.get().question.target), partOf(pedanova.state.get().question[which])) - least());

  /* The fraction at a position: on a live page any fraction, in a file the nearest step. */
  function nearest(which, x) {
    const scale = scaleOf(pedanova.facts.objective);
    if (!pedanova.source.isLive()) {
      return parts(which).reduce((best, part) => (Math.abs(xOf(part, scale) - x) < Math.abs(xOf(best, scale) - x) ? part : best));
    }
    if (Math.abs(x - xOf(1, scale)) < 6) return 1;
    return Math.max(least(), free(scale, x));
  }

  const free = (scale, x) => Number((spread ? spread.part(scale.value(x)) : scale.value(x)).toPrecision(2));

  /* The fraction of the best rows that is left out. */
  function started(x) {
    const scale = scaleOf(pedanova.facts.objective);
    return Math.abs(x - xOf(0, scale)) < 6 ? 0 : free(scale, x);
  }

  const least = () => Math.min(0.5, Math.max(0.0001, Math.ceil((5 / pedanova.facts.rows) * 1e4) / 1e4));
  /* The fractions that the arrow keys step through. */
  function parts(which) {
    const known = pedanova.source.isLive() ? NICE.filter((part) => part >= least()) : pedanova.facts.rungs.map((rung) => rung.part);
    return which === "target" ? known.slice(0, -1) : known.slice(1);
  }

  /* Move an edge; the target stays inside the region, so one edge may push the other. */
  function change(which, ends, live, band = { part: ends }) {
    const { question } = pedanova.state.get(), other = which === "target" ? "region" : "target";
    const [from, to] = ends, there = endsOf(question[other]), next = [...there], known = NICE;
    if (!pedanova.source.isLive()) { // both move to steps that the file contains
      const fits = pedanova.facts.rungs.map((rung) => rung.part).filter((part) => (which === "target" ? part > to : part < to));
      const nearest = fits.reduce((best, part) => (Math.abs(Math.log(part / there[1])) < Math.abs(Math.log(best / there[1])) ? part : best), fits[0]);
      pedanova.state.ask({ [which]: { part: [0, to] }, [other]: { part: [0, nearest] } }, { live });
      return;
    }
    next[0] = which === "target" ? Math.min(there[0], from) : Math.max(there[0], from);
    if (which === "target" && to >= there[1]) next[1] = known.find((one) => one > to) || 1;
    if (which === "region" && to <= there[1]) next[1] = [...known].reverse().find((one) => one < to) || known[0];
    if (next[0] >= next[1]) next[0] = from;
    const pushed = next[0] !== there[0] || next[1] !== there[1];
    pedanova.state.ask({ [which]: band, ...(pushed ? { [other]: { part: next } } : {}) }, { live });
  }

  function keys(event, which, side) {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 3, PageDown: -3 }[event.key];
    if (!by && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    const ends = endsOf(pedanova.state.get().question[which]).map((part) => Number(part.toPrecision(3))), now = ends[side];
    const known = side ? parts(which).filter((part) => part > ends[0]) : [0, ...NICE.filter((part) => part <= inmost(which))];
    const wider = isDown() || !spread ? by : -by; // the right arrow moves to the right
    const at = known.findIndex((part) => part >= now - 1e-12);
    const here = at < 0 ? known.length - 1 : at;
    const next = event.key === "Home" ? 0 : event.key === "End" ? known.length - 1 : here + wider;
    ends[side] = known[Math.min(known.length - 1, Math.max(0, next))];
    change(which, ends, false);
  }

  return { mount, show, wordsOf, change, parts };
})();
