/* One parameter's density as plain SVG: bars or steps, what chance alone would do, and what goes beyond it. */
"use strict";
pedanova.plot = (function () {
  const { svg: draw, short, percent, times } = pedanova;
  const LEAST = 2; // times the even height: every card reaches at least so high, so that noise looks flat
  const LETTER = 6.2; // pixels of a letter on the axis, about

  /* Heights with 1 where rows are spread evenly: parts over the width of each bar or step. */
  function heightsOf(parts, scale, shape) {
    if (scale.labels) return parts.map((part) => part * parts.length);
    if (shape.widths) return parts.map((part, i) => part / shape.widths[i]); // the first and the last may be cut at the bounds
    const span = Math.abs(scale.stop - scale.start);
    return parts.map((part, i) => (part * span) / Math.max(1e-9, Math.abs(scale.x(shape.edges[i + 1]) - scale.x(shape.edges[i]))));
  }

  /* From and to of every bar or step, in pixels. */
  function boxesOf(scale, shape) {
    if (scale.labels) return scale.labels.map((_, i) => [scale.x(i), scale.x(i) + scale.width]);
    return shape.edges.slice(1).map((edge, i) => [scale.x(shape.edges[i]), scale.x(edge)]);
  }

  /* All that is drawn of one parameter, in heights; null where nothing is known. */
  function heights(parameter, density, ghost, baseline, scale) {
    const { shape } = parameter, up = (parts) => (parts ? heightsOf(parts, scale, shape) : null);
    if (!density || !density.target || density.target.length !== boxesOf(scale, shape).length) return null;
    const base = up(baseline === "uniform" ? density.uniform : density.region);
    const before = ghost && ghost.target && ghost.target.length === density.target.length ? up(ghost.target) : null;
    return { target: up(density.target), base, low: up(density.low) || base, high: up(density.high) || base, ghost: before };
  }

  const topOf = (found, least = LEAST) => Math.max(least, ...["target", "high", "base", "ghost"].flatMap((key) => found[key] || [0])) * 1.04;
  const line = (boxes, values, y) => boxes.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${y(values[i]).toFixed(1)}L${b.toFixed(1)} ${y(values[i]).toFixed(1)}`).join("");
  const apart = (boxes, values, y) => boxes.map(([a, b], i) => `M${a.toFixed(1)} ${y(values[i]).toFixed(1)}H${b.toFixed(1)}`).join("");

  function between(boxes, lows, highs, y) {
    return boxes.map(([a, b], i) => (highs[i] > lows[i] ? `M${a.toFixed(1)} ${y(lows[i]).toFixed(1)}H${b.toFixed(1)}V${y(highs[i]).toFixed(1)}H${a.toFixed(1)}Z` : "")).join("");
  }

  /* Everything inside the plot: options {parameter, density, ghost, baseline, width, top, bottom, side, large}. */
  function body(options) {
    const { parameter, density, ghost, baseline, top, bottom, scale } = options;
    const group = draw("g", { class: "plot" });
    const found = heights(parameter, density, ghost, baseline, scale);
    if (!found) return group;
    const boxes = boxesOf(scale, parameter.shape), most = options.most || topOf(found);
    group.most = most;
    const y = (value) => bottom - (Math.min(value, most) / most) * (bottom - top);
    const stroke = scale.labels ? apart : line, zero = boxes.map(() => 0);
    const add = (kind, d) => d && group.append(draw("path", { class: kind, d }));
    if (options.few) { // of so few rows nothing is drawn but what they are compared with
      add("base", stroke(boxes, found.base, y));
      return group;
    }
    add("chance", between(boxes, found.low, found.high, y));
    if (scale.labels) add("under", between(boxes, zero, found.target, y));
    add("less", between(boxes, found.target, found.low, y));
    add("more", between(boxes, found.high, found.target, y));
    add("base", stroke(boxes, found.base, y));
    if (found.ghost) add("ghost", stroke(boxes, found.ghost, y));
    add("target", stroke(boxes, found.target, y));
    return group;
  }

  /* A line with a few values below it. */
  function axis({ parameter, scale, bottom, large }) {
    const group = draw("g", { class: "axis", "aria-hidden": "true" });
    group.append(draw("line", { x1: scale.start, x2: scale.stop, y1: bottom + 0.5, y2: bottom + 0.5 }));
    for (const { x, text, anchor } of scale.labels ? named(scale, large) : valued(scale, large)) {
      const label = draw("text", { x: x.toFixed(1), y: bottom + (large ? 18 : 14), "text-anchor": anchor || "middle" });
      label.textContent = text;
      group.append(label);
    }
    return group;
  }

  function valued(scale, large) {
    const many = Math.max(2, Math.floor((scale.stop - scale.start) / (large ? 80 : 60)));
    return scale.ticks(many).map((tick) => {
      const x = scale.x(tick), text = short(tick), half = (text.length * LETTER) / 2;
      const anchor = x - half < scale.start - 6 ? "start" : x + half > scale.stop + 6 ? "end" : "middle";
      return { x, text, anchor };
    });
  }

  /* Names that have room; numbers are thinned, words are cut. */
  function named(scale, large) {
    const { labels, step } = scale, room = Math.floor(step / LETTER) - (large ? 0 : 1);
    const widest = Math.max(...labels.map((label) => label.length));
    const numbers = labels.every((label) => /^[-\d.,e+×]+$/.test(label));
    const each = widest <= room || (!numbers && room >= 4) ? 1 : Math.ceil(((widest + 1) * LETTER) / step);
    const cut = (label) => (each > 1 || label.length <= Math.max(room, 2) ? label : `${label.slice(0, room - 1)}…`);
    return labels.map((label, i) => ({ x: scale.middle(i), text: cut(label), i })).filter(({ i }) => i % each === 0);
  }

  /* What is said of one bar or step. */
  function words(parameter, density, baseline, i) {
    const { shape } = parameter;
    const name = shape.labels && shape.labels[i] !== undefined ? shape.labels[i] : `${short(shape.edges[i])} – ${short(shape.edges[i + 1])}`;
    const base = (baseline === "uniform" ? density.uniform : density.region)[i], target = density.target[i];
    const lines = [`${pedanova.nameOf(parameter.name)}: ${name}`, `${percent(target)} of the rows in the target, compared with ${percent(base)} of ${baseline === "uniform" ? "a uniform draw" : "the rows in the region"}`];
    if (base > 0) lines.push(`${times(target / base)} as frequent in the target`);
    if (density.low) lines.push(`expected by chance alone: ${percent(density.low[i])} to ${percent(density.high[i])}`);
    return lines.join("\n");
  }

  /* Which bar or step lies at a place. */
  function at(scale, shape, x) {
    if (scale.labels) return scale.place(x);
    const value = scale.value(x), i = shape.edges.findIndex((edge) => edge > value);
    return Math.min(shape.edges.length - 2, Math.max(0, (i < 0 ? shape.edges.length - 1 : i) - 1));
  }

  return { body, axis, words, at, boxesOf, heights };
})();
