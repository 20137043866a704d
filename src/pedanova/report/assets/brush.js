/* A brush over a scale: drag a range, move it, pull its edges, adjust them by the arrow keys, Esc or a double click clears.

   pedanova.brush.range({
     svg,               the element to draw into (an <svg> or a <g>)
     axis,              brush.axis(parameter, range), or {low(v), high(v), value(x, side), step(v, by), least, most, text(v)}
     scale,             instead of axis: any scale of scales.js; values are then free
     top, height,       where across the axis the brush lies, in pixels
     vertical,          true where the axis runs from bottom to top
     grip,              pixels to catch an edge by (12; 44 for a thumb, where edges are always seen)
     margin,            pixels before and behind the axis where a brush may begin
     name,              what a screen reader calls it
     onChange(range),   while it moves; range is [low, high] or null for all
     onEnd(range),      once it stands
     onClick(event),    where nothing was dragged
   }) → {show(range | null), remove()} */
"use strict";
pedanova.brush = (function () {
  const { svg: draw, set } = pedanova;
  const CLICK = 4; // pixels below which a drag is a click
  const BIG = 8; // small steps of Page Up

  /* Values of a parameter along a line of pixels, as they can be brushed. */
  function axis(parameter, range) {
    const scale = pedanova.scales.of(parameter, range);
    return scale.labels ? placed(scale, valuesOf(parameter)) : free(scale, parameter);
  }

  const valuesOf = (parameter) => parameter.shape.values || parameter.shape.labels.map((label) => Number(String(label).replaceAll(",", "")));

  function free(scale, parameter = {}) {
    const span = Math.abs(scale.stop - scale.start);
    const tidy = (value) => (parameter.whole ? Math.round(value) : Number(value.toPrecision(3)));
    return {
      scale, least: scale.low, most: scale.high,
      low: scale.x, high: scale.x,
      value(x) {
        if (Math.abs(x - scale.start) < 2) return scale.low;
        if (Math.abs(x - scale.stop) < 2) return scale.high;
        return clamp(tidy(scale.value(x)), scale.low, scale.high);
      },
      step(value, by) {
        if (parameter.whole && Math.abs(scale.x(value + by) - scale.x(value)) * 100 > span) return clamp(Math.round(value) + by, scale.low, scale.high);
        const towards = Math.sign(scale.stop - scale.start) || 1;
        return clamp(tidy(scale.value(scale.x(value) + (towards * by * span) / 100)), scale.low, scale.high);
      },
      text: (value) => pedanova.short(value),
    };
  }

  /* Bars at values: a range takes whole bars. */
  function placed(scale, values) {
    const at = (value) => values.reduce((best, one, i) => (Math.abs(one - value) < Math.abs(values[best] - value) ? i : best), 0);
    return {
      scale, least: values[0], most: values[values.length - 1],
      low: (value) => scale.start + scale.step * at(value),
      high: (value) => scale.start + scale.step * (at(value) + 1),
      value: (x, side) => values[side === 0 ? scale.place(x) : clamp(Math.round((x - scale.start) / scale.step) - (side > 0 ? 1 : 0), 0, values.length - 1)],
      step: (value, by) => values[clamp(at(value) + by, 0, values.length - 1)],
      text: (value) => pedanova.short(value),
    };
  }

  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

  function range(options) {
    const { svg, top = 0, height, vertical = false, grip = 12, margin = 0, name = "", onChange = () => {}, onEnd = () => {}, onClick } = options;
    const line = options.axis || free(options.scale);
    const [begin, end] = [Math.min(line.scale.start, line.scale.stop), Math.max(line.scale.start, line.scale.stop)];
    const box = (from, to) => (vertical ? { x: top, y: from, width: height, height: to - from } : { x: from, y: top, width: to - from, height });
    const ground = draw("rect", { class: "brush-ground", ...box(begin - margin, end + margin) });
    const band = draw("rect", { class: "brush-band" });
    const edges = [0, 1].map(edge);
    const group = draw("g", { class: vertical ? "brush vertical" : "brush" }, ground, band, ...edges);
    svg.append(group);
    let shown = null, drag = null;

    function edge(which) {
      const word = which === 0 ? "lower" : "upper";
      const handle = draw("g", { class: "edge", role: "slider", tabindex: 0, "aria-label": `${name}: ${word} end of the selection`, "aria-orientation": vertical ? "vertical" : "horizontal" },
        draw("rect", { class: "edge-catch" }), draw("rect", { class: "edge-grip", rx: 2 }), ...(grip < 24 ? [] : [draw("circle", { class: "edge-thumb", r: 9 })]));
      handle.addEventListener("keydown", (event) => keys(event, which));
      handle.addEventListener("pointerdown", (event) => press(event, which));
      return handle;
    }

    const whole = () => [line.least, line.most];
    const isAll = (found) => !found || (found[0] <= line.least && found[1] >= line.most);

    function show(found) {
      shown = found;
      const [low, high] = [found && found[0] !== null && found[0] !== undefined ? found[0] : line.least, found && found[1] !== null && found[1] !== undefined ? found[1] : line.most];
      const ends = [line.low(low), line.high(high)];
      const [from, to] = [clamp(Math.min(...ends), begin, end), clamp(Math.max(...ends), begin, end)];
      set(band, { ...box(from, Math.max(to, from + 1)), class: found ? "brush-band on" : "brush-band" });
      edges.forEach((handle, which) => {
        const x = clamp(ends[which], begin, end), value = which === 0 ? low : high;
        const [ground, rod, thumb] = handle.children;
        set(handle, { "aria-valuemin": line.least, "aria-valuemax": line.most, "aria-valuenow": value, "aria-valuetext": line.text(value), class: found || grip > 40 ? "edge on" : "edge" });
        set(ground, { ...box(x - grip / 2, x + grip / 2), "pointer-events": found || grip > 40 ? null : "none" }); // what is not seen catches nothing
        set(rod, box(x - 1.5, x + 1.5));
        if (thumb) set(thumb, vertical ? { cx: top + height / 2, cy: x } : { cx: x, cy: top + height / 2 });
      });
    }

    /* Where the pointer is along the axis, in pixels of the drawing. */
    function place(event) {
      const matrix = ground.getScreenCTM();
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
      return clamp(vertical ? point.y : point.x, begin, end);
    }

    const settled = () => {
      if (!shown) return whole();
      return [shown[0] ?? line.least, shown[1] ?? line.most];
    };

    function press(event, which) {
      if (event.button !== 0) return;
      event.preventDefault();
      event.stopPropagation();
      const x = place(event), [low, high] = settled();
      const inside = shown && which === undefined && x > Math.min(line.low(low), line.high(high)) && x < Math.max(line.low(low), line.high(high));
      drag = { x, moved: false, before: shown, kind: which !== undefined ? "edge" : inside ? "move" : "new", which, from: [low, high], pointer: event.pointerId };
      group.setPointerCapture(event.pointerId);
      pedanova.drag.begin();
      group.classList.add("dragging");
      if (which !== undefined) edges[which].focus({ preventScroll: true });
    }

    function pull(event) {
      if (!drag || event.pointerId !== drag.pointer) return;
      const x = place(event);
      if (!drag.moved && Math.abs(x - drag.x) < CLICK) return;
      drag.moved = true;
      show(dragged(x));
      onChange(shown);
    }

    function dragged(x) {
      if (drag.kind === "new") {
        const [from, to] = [drag.x, x].sort((a, b) => line.scale.start <= line.scale.stop ? a - b : b - a);
        return ordered([line.value(from, line.scale.labels ? 0 : -1), line.value(to, line.scale.labels ? 0 : 1)]);
      }
      if (drag.kind === "edge") {
        const next = [...drag.from];
        next[drag.which] = line.value(x, drag.which === 0 ? -1 : 1);
        return drag.which === 0 ? [Math.min(next[0], next[1]), next[1]] : [next[0], Math.max(next[0], next[1])];
      }
      const [low, high] = drag.from, width = line.high(high) - line.low(low);
      const [first, last] = line.scale.start <= line.scale.stop ? [begin, end - width] : [begin - width, end];
      const start = clamp(line.low(low) + x - drag.x, Math.min(first, last), Math.max(first, last));
      return ordered([line.value(start, -1), line.value(start + width, 1)]);
    }

    const ordered = ([a, b]) => (a <= b ? [a, b] : [b, a]);

    function release(event) {
      if (!drag || event.pointerId !== drag.pointer) return;
      const { moved, kind } = drag;
      drag = null;
      pedanova.drag.end();
      group.classList.remove("dragging");
      if (moved) finish(isAll(shown) ? null : shown);
      else if (kind !== "edge" && onClick) onClick(event);
    }

    function cancel() {
      if (!drag) return;
      const { before } = drag;
      drag = null;
      pedanova.drag.end();
      show(before);
      onEnd(before);
      group.classList.remove("dragging");
    }

    function finish(found) {
      show(found);
      onEnd(found);
    }

    function keys(event, which) {
      if (event.key === "Escape") {
        if (!drag && !shown) return;
        event.preventDefault();
        event.stopPropagation();
        if (drag) cancel(); else finish(null);
        return;
      }
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: BIG, PageDown: -BIG }[event.key];
      const [low, high] = settled(), value = which === 0 ? low : high;
      const next = by ? line.step(value, by) : event.key === "Home" ? line.least : event.key === "End" ? line.most : null;
      if (next === null) return;
      event.preventDefault();
      const found = which === 0 ? [Math.min(next, high), high] : [low, Math.max(next, low)];
      finish(isAll(found) ? null : found);
    }

    ground.addEventListener("pointerdown", (event) => press(event));
    band.addEventListener("pointerdown", (event) => press(event));
    group.addEventListener("pointermove", pull);
    group.addEventListener("pointerup", release);
    group.addEventListener("pointercancel", cancel);
    group.addEventListener("dblclick", (event) => { event.preventDefault(); if (shown) finish(null); });
    show(null);
    return { show, group, isDragging: () => drag !== null, remove: () => group.remove() };
  }

  return { range, axis };
})();
