/* From values to pixels and back. A scale is {x(value), value(x), ticks(many), low, high}; bands have {places, width}. */
"use strict";
pedanova.scales = (function () {
  function between(domain, range, to, from, ticks) {
    const [low, high] = domain, [start, stop] = range;
    const first = to(low), span = to(high) - first || 1;
    return {
      low, high, start, stop,
      x: (value) => start + ((to(value) - first) / span) * (stop - start),
      value: (x) => Math.min(high, Math.max(low, from(first + ((x - start) / (stop - start || 1)) * span))),
      ticks: (many = 4) => ticks(low, high, many),
    };
  }

  const linear = (domain, range) => between(domain, range, (v) => v, (v) => v, evenTicks);
  const log = (domain, range) => between(domain, range, Math.log, Math.exp, logTicks);

  function evenTicks(low, high, many) {
    const span = high - low;
    if (!(span > 0)) return [low];
    const rough = span / many, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => span / s <= many) || 10 * power;
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  }

  /* Powers of ten, or 1, 2 and 5 times them where those are few. */
  function logTicks(low, high, many) {
    const first = Math.floor(Math.log10(low) + 1e-9), last = Math.ceil(Math.log10(high) - 1e-9);
    const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    const within = (v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9);
    const tens = powers.map((p) => Number(`1e${p}`)).filter(within);
    if (tens.length >= 2) {
      const step = Math.ceil(tens.length / many);
      return tens.filter((_, i) => i % step === 0);
    }
    const some = powers.flatMap((p) => [1, 2, 5].map((m) => Number(`${m}e${p}`))).filter(within);
    return some.length >= 2 ? some.slice(0, Math.max(many, 2)) : evenTicks(low, high, many);
  }

  /* Bars side by side, one a label. */
  function band(labels, range, gap = 0.15) {
    const [start, stop] = range;
    const step = (stop - start) / Math.max(1, labels.length);
    return {
      start, stop, labels, step,
      width: step * (1 - gap),
      x: (place) => start + step * (place + gap / 2),
      middle: (place) => start + step * (place + 0.5),
      place: (x) => Math.min(labels.length - 1, Math.max(0, Math.floor((x - start) / step))),
      ticks: () => labels,
    };
  }

  /* The scale of a parameter's card: bars by place, or steps by value. */
  function of(parameter, range) {
    const shape = parameter.shape;
    if (!shape) return null;
    if (!shape.edges) return band(shape.labels, range);
    const domain = [shape.edges[0], shape.edges[shape.edges.length - 1]];
    return shape.log && domain[0] > 0 ? log(domain, range) : linear(domain, range);
  }

  return { linear, log, band, of };
})();
