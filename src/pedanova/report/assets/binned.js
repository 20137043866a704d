/* Rows by cell, counted in the browser: what is brushed in a file that nobody answers.
   Rows lie in order of the objective, so that a target is a stretch of them. */
"use strict";

pedanova.binned = (() => {
  const SAID = "By counts, without intervals: this file holds rows by cell, and the browser counted them.";
  let held = null;

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }

  let opening = null;

  /* Typed arrays from the file; resolves once rows can be counted. */
  function open({ facts }) {
    opening = opening || unpack(facts.binned, facts.rungs);
    return opening;
  }

  async function unpack(data, rungs) {
    const [tied, parameters] = await Promise.all([unpacked(data.tied), Promise.all(data.parameters.map(opened))]);
    held = {
      rows: data.rows,
      group: groupsOf(new Uint8Array(tied), data.rows),
      parameters: new Map(parameters.map((one) => [one.name, one])),
      rungs: rungs || [],
    };
    return held;
  }

  async function opened(one) {
    const [at, groups, prior, edges] = await Promise.all(
      [one.at, one.groups, one.prior, one.edges].map((text) => (text ? unpacked(text) : null)));
    const cells = one.cells;
    return {
      ...one,
      at: one.bytes === 1 ? new Uint8Array(at) : joined(new Uint8Array(at)),
      even: !prior,
      groups: new Uint8Array(groups),
      prior: prior ? new Float64Array(prior) : new Float64Array(cells).fill(1 / cells),
      edges: edges ? new Float64Array(edges) : null,
    };
  }

  function joined(planes) {
    const rows = planes.length / 2, cells = new Uint16Array(rows);
    for (let row = 0; row < rows; row += 1) cells[row] = planes[row] | (planes[rows + row] << 8);
    return cells;
  }

  /* The number of distinct objectives before each row: equal for rows that tie. */
  function groupsOf(bits, rows) {
    const group = new Int32Array(rows);
    for (let row = 1; row < rows; row += 1) group[row] = group[row - 1] + ((bits[row >> 3] >> (row & 7)) & 1 ? 0 : 1);
    return group;
  }

  /* --- selections -------------------------------------------------------------------------------------------- */

  /* Which cells a brush takes (all whose values it may hold), as 0 or 1 by cell. */
  function cellsOf(parameter, brush) {
    const taken = new Uint8Array(parameter.cells + 2);
    if (brush.labels) {
      parameter.labels.forEach((label, cell) => { taken[cell] = brush.labels.includes(label) ? 1 : 0; });
      return taken;
    }
    const low = brush.range[0] ?? -Infinity, high = brush.range[1] ?? Infinity;
    if (parameter.values) {
      parameter.values.forEach((value, cell) => { taken[cell] = low <= value && value <= high ? 1 : 0; });
    } else {
      for (let cell = 0; cell < parameter.cells; cell += 1) {
        const from = parameter.edges[cell], to = parameter.edges[cell + 1];
        const most = Math.min(high, to) - Math.max(low, from);
        taken[cell] = most >= (to - from) / 2 || (low <= from && to <= high) ? 1 : 0;
      }
    }
    return taken;
  }

  /* The brush moved to the edges of cells: the rows it takes are exactly those of the cells. */
  function snapped(name, brush) {
    const parameter = held.parameters.get(name);
    if (brush.labels) return brush;
    const taken = cellsOf(parameter, brush), first = taken.indexOf(1);
    if (first < 0) return null;
    if (parameter.values) {
      const inside = parameter.values.filter((value, cell) => taken[cell]);
      return { range: [Math.min(...inside), Math.max(...inside)] };
    }
    const last = taken.lastIndexOf(1);
    return {
      range: [
        first === 0 ? null : parameter.edges[first],
        last === parameter.cells - 1 ? null : justBelow(parameter.edges[last + 1]),
      ],
    };
  }

  function justBelow(value) {
    if (value === 0) return -Number.MIN_VALUE;
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? -1n : 1n));
    return view.getFloat64(0);
  }

  const canBrush = (name) => {
    const one = held && held.parameters.get(name);
    return Boolean(one && (one.edges || one.values || one.labels));
  };

  /* Places of the selected rows, best first. */
  function rowsOf(selection) {
    const brushes = Object.entries(selection).map(([name, brush]) => {
      const parameter = held.parameters.get(name);
      return [parameter.at, cellsOf(parameter, brush)];
    });
    const found = new Int32Array(held.rows);
    let many = 0;
    for (let row = 0; row < held.rows; row += 1) {
      let inside = 1;
      for (let k = 0; inside && k < brushes.length; k += 1) inside = brushes[k][1][brushes[k][0][row]];
      found[many] = row;
      many += inside;
    }
    return found.subarray(0, many);
  }

  /* ⌈part · rows⌉ with the part as the decimal that is written. */
  function rankOf(part, rows) {
    const [digits, power] = part.toExponential().split("e");
    const [whole, rest = ""] = digits.split(".");
    const shift = rest.length - Number(power);
    const top = BigInt(whole + rest) * BigInt(rows) * 10n ** BigInt(Math.max(0, -shift));
    const below = 10n ** BigInt(Math.max(0, shift));
    return Number((top + below - 1n) / below);
  }

  /* How many of these rows are in the best part of them, ties together. */
  function endOf(part, rows) {
    if (part >= 1) return rows.length;
    let end = Math.min(rankOf(part, rows.length), rows.length);
    while (end > 0 && end < rows.length && held.group[rows[end]] === held.group[rows[end - 1]]) end += 1;
    return end;
  }

  /* The same for the best part of all rows: how many of the selected ones lie before its end. */
  function endAmong(part, rows) {
    if (part >= 1) return rows.length;
    const rung = held.rungs.find((one) => one.part === part);
    let end = rung ? rung.rows : Math.min(rankOf(part, held.rows), held.rows);
    while (end > 0 && end < held.rows && held.group[end] === held.group[end - 1]) end += 1;
    let low = 0, high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle] < end) low = middle + 1; else high = middle;
    }
    return low;
  }

  function stretch(band, rows, good) {
    if (!band.part) return null;
    const reach = good === "selection" ? endOf : endAmong;
    const [from, to] = band.part;
    return [from > 0 ? reach(from, rows) : 0, reach(to, rows)];
  }

  /* --- counting and answering -------------------------------------------------------------------------------- */

  function count(at, width, rows, from, to) {
    const counts = new Int32Array(width);
    for (let k = from; k < to; k += 1) counts[at[rows[k]]] += 1;
    return counts;
  }

  /* Target and region by cell of every parameter, or words why there is no answer. */
  function counted(question) {
    if ((question.lasso || []).length) return { refused: "A lasso needs the rows themselves: run pedanova explore." };
    const closed = Object.keys(question.selection).find((name) => !canBrush(name));
    if (closed !== undefined) return { refused: `${closed} cannot be brushed in this file; run pedanova explore.` };
    const rows = rowsOf(question.selection);
    const target = stretch(question.target, rows, question.good), region = stretch(question.region, rows, question.good);
    if (!target || !region) return { refused: "This file counts parts of the rows, not values of the objective." };
    const [inside, all] = [target[1] - target[0], region[1] - region[0]];
    const sizes = { selected: rows.length, region: Math.max(0, all), target: Math.max(0, inside) };
    if (target[0] < region[0] || target[1] > region[1]) {
      return { refused: "The target must lie inside the region.", sizes };
    }
    if (inside <= 0) return { refused: "No good row is in this selection; widen it, or the target.", sizes };
    if (inside === all) return { refused: "Every row here is in the target; widen the selection, or narrow the target.", sizes };
    if (inside < pedanova.measure.LEAST) {
      return { refused: `${inside} of ${all} rows here are in the target; at least five are needed to say anything.`, sizes };
    }
    const by = new Map();
    for (const [name, one] of held.parameters) {
      by.set(name, [target, region].map(([from, to]) => count(one.at, one.cells + 2, rows, from, to)));
    }
    return { by, sizes };
  }

  function answer(question) {
    const found = counted(question);
    if (found.refused) return { question, refused: found.refused, sure: false, by: "counts", rows: found.sizes || null };
    const rows = [...found.by].map(([name, [target, region]]) =>
      pedanova.measure.measure(name, held.parameters.get(name), target, region, question.baseline));
    return {
      question, refused: null, sure: false, binned: true, by: "counts", rows: found.sizes, headline: headline(rows),
      importances: pedanova.measure.ranked(rows).map(bare), trials: null, notes: [SAID],
      densities: Object.fromEntries(rows.map((row) => [row.parameter, density(row, ...found.by.get(row.parameter), question.baseline)])),
    };
  }

  /* At most 90 letters: what explains most here, and how that was found. */
  function headline(rows) {
    const first = pedanova.measure.ranked(rows)[0], words = `${pedanova.percent(first.share)} of what decides here, by counts`;
    return first.share > 0 ? `${pedanova.nameOf(first.parameter)} explains ${words}` : "Nothing explains what decides here, by counts";
  }

  const UNSURE = { low: null, high: null, p_value: null, p_adjusted: null, significant: null };
  const bare = ({ drawn, ...row }) => ({ ...row, ...UNSURE });

  /* Parts of the rows by bar or step, smoothed as the measure smooths, and what chance alone would do. */
  function density(row, target, region, baseline) {
    const one = held.parameters.get(row.parameter), { sum } = pedanova.measure;
    const [wanted, known] = [target, region].map((counts) => counts.subarray(0, one.cells)), sums = [sum(wanted), sum(known)];
    const widths = one.blocks.map((block) => widthOf(wanted, known, block));
    const partsOf = (counts, total) => Float64Array.from(counts, (many) => many / Math.max(1, total));
    const raw = [partsOf(wanted, sums[0]), partsOf(known, sums[1])];
    const [drawnTarget, drawnRegion] = raw.map((parts, which) => gathered(one, parts, widths, row, which, sums));
    const uniform = one.apart ? new Array(one.points).fill(1 / one.points) : gathered(one, one.prior, widths, null, 2, sums);
    const ofRegion = baseline === "region";
    const band = pedanova.measure.chanceBand(one, ofRegion ? drawnRegion : uniform, ofRegion ? raw[1] : one.prior, widths, ...sums, ofRegion);
    const missing = [1 - sums[0] / row.n_target, 1 - sums[1] / row.n_region];
    return { target: drawnTarget, region: drawnRegion, uniform, ...band, good: { at: [], words: "" }, missing };
  }

  /* The kernel of the measure; where the target has no two rows, that of the region, to be seen at all. */
  function widthOf(wanted, known, [start, stop, smoothable]) {
    const few = pedanova.measure.sum(wanted.subarray(start, stop)) < 2;
    return pedanova.measure.widthOf((few ? known : wanted).subarray(start, stop), smoothable);
  }

  /* By bar or step; what the measure has smoothed already is not smoothed again. */
  function gathered(one, parts, widths, row, which, sums) {
    const points = new Array(one.points).fill(0);
    one.blocks.forEach(([start, stop], place) => {
      const own = row && row.drawn[place] && sums[0] >= 2 && !one.apart ? row.drawn[place][which] : null;
      const factor = own ? row[which ? "n_region" : "n_target"] / sums[which] : 1, cells = parts.subarray(start, stop);
      const even = which === 2 && one.even;
      const masses = one.apart || even ? cells : own && one.blocks.length === 1 ? own : pedanova.measure.smooth(cells, widths[place]);
      const scale = masses === own ? factor : 1;
      for (let i = 0; i < masses.length; i += 1) points[one.groups[start + i]] += masses[i] * scale;
    });
    return points;
  }

  /* --- asked by the page ------------------------------------------------------------------------------------- */

  /* Whether the rows in the file answer this. */
  const can = (part, question) => Boolean(pedanova.facts.binned) && part === "answer" && pedanova.selects(question);

  async function ask(part, question, { sure = false } = {}) {
    await open(pedanova);
    return { ...answer(question), sure }; // there is nothing surer to come
  }

  /* A brush at the edges of cells, as the state holds it: so the shown line of Python selects the same rows. */
  function fit(name, brush) {
    return (brush && canBrush(name) && snapped(name, brush)) || brush;
  }

  return { ask, answer, can, canBrush, counted, fit, open, rankOf, snapped };
})();
