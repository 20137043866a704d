"use strict";
/* What each card shows for the present question. */
pedanova.cards = (function () {
  const { data, state, question, answer, questionAt, rowsOf, percent, short, counted, make, byId, charts, tables } = pedanova;
  const NICE = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1];
  const bars = [];
  let exported = null; // the importance chart as it would be saved

  /* --- ranked importances: one button a parameter, moved by rank --- */
  function makeBars(choose) {
    const list = byId("bars");
    data.names.forEach((name, id) => {
      const item = make("li");
      const button = make("button");
      const parts = { name: make("span", "name", name), track: make("span", "track"), value: make("span", "value") };
      const [bar, interval] = [make("i"), make("b")];
      button.type = "button";
      button.title = name;
      const remark = make("span", "unseen");
      parts.track.setAttribute("aria-hidden", "true");
      parts.track.append(bar, interval);
      button.append(parts.name, parts.track, parts.value, remark);
      button.addEventListener("click", () => choose(id));
      item.append(button);
      list.append(item);
      bars.push({ item, button, bar, interval, remark, value: parts.value });
    });
    list.style.height = `calc(${data.names.length} * var(--row))`;
  }

  function scaleOf(rows) {
    const top = Math.max(...rows.map((row) => Math.max(row[state.metric], state.metric === "share" ? row.high || 0 : 0)), 0.01);
    return NICE.find((step) => step >= top) || Math.ceil(top);
  }

  function showAxis(top) {
    const axis = byId("importance-axis");
    axis.replaceChildren(...[0, 0.5, 1].map((place) => {
      const tick = make("span", "", percent(place * top, top < 0.05 ? 1 : 0));
      tick.style.left = `${100 * place}%`;
      return tick;
    }));
  }

  const between = (value, top) => `${(100 * Math.min(1, Math.max(0, value) / top)).toFixed(2)}%`;

  function showBar(row, rank, top) {
    const { item, button, bar, interval, remark, value } = bars[row.id];
    const noise = row.significant === false;
    const never = !row.varied;
    const shown = row[state.metric];
    item.style.transform = `translateY(calc(${rank} * var(--row)))`;
    item.dataset.rank = rank;
    button.classList.toggle("noise", noise || never);
    bar.style.width = between(shown, top);
    const has = state.metric === "share" && row.low !== null;
    interval.hidden = !has;
    if (has) {
      interval.style.left = between(row.low, top);
      interval.style.right = `calc(100% - ${between(row.high, top)})`;
    }
    value.textContent = never ? "–" : (noise ? "~ " : "") + percent(shown);
    button.dataset.ratio = row.ratio;
    button.dataset.share = row.share;
    button.setAttribute("aria-pressed", String(row.id === state.chosen));
    remark.textContent = never ? " never varied in these rows" : ` ${state.metric}${noise ? ", not distinguishable from noise" : ""}`;
  }

  /* Tab follows what is seen; called when a drag has ended, so that nothing jumps under the pointer. */
  function orderBars() {
    const list = byId("bars");
    const had = document.activeElement;
    const sorted = bars.map((bar) => bar.item).sort((a, b) => a.dataset.rank - b.dataset.rank);
    if (sorted.some((item, i) => list.children[i] !== item)) list.append(...sorted);
    if (had && list.contains(had)) had.focus({ preventScroll: true });
  }

  function showImportance() {
    const found = answer();
    const rows = rowsOf(found);
    const refused = byId("importance-refused");
    refused.hidden = rows.length > 0;
    refused.textContent = found.refused || "";
    [byId("bars"), byId("importance-axis")].forEach((part) => { part.style.visibility = rows.length ? "" : "hidden"; });
    const top = rows.length ? scaleOf(rows) : 1;
    if (rows.length) showAxis(top);
    rows.forEach((row, rank) => showBar(row, rank, top));
    byId("importance-note").textContent = importanceNote(found, state.metric);
    byId("remarked").textContent = remarksOf(found).length || "none";
    byId("remarks").replaceChildren(...remarksOf(found).map((text) => make("li", "", text)));
    exported = importanceChart(rows);
    tables.keep("importance", () => importanceTable(rows));
  }

  function importanceNote(found, metric = "share") {
    const rows = rowsOf(found);
    const how = found.estimator === "surrogate" ? "By a model of the objective, checked against the counts. " : "";
    const line = metric === "share" && rows.some((row) => row.low !== null) ? "The thin line is a 95 % interval." : "";
    return rows.length ? how + line : "";
  }

  const remarksOf = (found) => (found.notes || []).map((id) => data.texts[id]);

  function importanceChart(rows) {
    const share = state.metric === "share";
    const drawn = rows.map((row, place) => ({
      place, value: 100 * Math.max(0, row[state.metric]), opacity: row.significant === false || !row.varied ? 0.35 : 1,
      low: share && row.low !== null ? 100 * Math.max(0, row.low) : null, high: share && row.high !== null ? 100 * Math.max(0, row.high) : null,
    }));
    return { spec: "importance", height: 40 + 24 * rows.length, rows: { rows: drawn }, words: { names: rows.map((row) => row.parameter) } };
  }

  function importanceTable(rows) {
    const conditional = rows.some((row) => row.activity > 0);
    const header = ["parameter", "ratio", "share", "95 % interval", "p", "divergence", ...(conditional ? ["by activity"] : [])];
    const shown = rows.map((row) => [
      row.parameter, ...["ratio", "share"].map((key) => (row.varied ? percent(row[key]) : "–")),
      row.low === null ? "" : `${percent(row.low)} … ${percent(row.high)}`,
      row.p_adjusted === null ? (row.varied ? "" : "never varied") : (row.significant ? "" : "~ ") + (row.p_adjusted < 0.001 ? "<0.001" : row.p_adjusted.toFixed(3)),
      row.varied ? short(row.divergence) : "–",
      ...(conditional ? [row.divergence > 0 ? percent(row.activity / row.divergence, 0) : ""] : []),
    ]);
    const names = rows.length ? Object.keys(rows[0]).filter((name) => name !== "id") : ["parameter"];
    return { header, rows: shown, csv: { header: names, rows: rows.map((row) => names.map((name) => row[name])) } };
  }

  /* --- densities of the chosen parameter --- */
  function showDensity() {
    const spread = question().spreads[state.chosen];
    const shape = data.shapes[state.chosen];
    byId("chosen").textContent = data.names[state.chosen];
    if (!spread || !shape) {
      charts.clear("density");
      byId("density-note").textContent = densityNote(question(), state.chosen);
      tables.keep("density", () => ({ header: ["value", "target", "region", "uniform"], rows: [] }));
      return;
    }
    const [target, region, uniform] = spread.slice(0, 3).map((id) => data.vectors[id]);
    const good = data.vectors[spread[state.baseline === "region" ? 3 : 4]]; // ends of ranges, or numbers of bars
    const words = goodWords(spread);
    byId("density-note").textContent = densityNote(question(), state.chosen);
    const label = `Densities of ${data.names[state.chosen]} in the target, the region and a uniform draw. ${words}`;
    const values = { target, region, uniform };
    charts.show("density", { ...(shape.labels ? barsOf(shape, values, good) : curveOf(shape, values, good)), label });
    tables.keep("density", () => densityTable(shape, values));
  }

  function densityNote(one, id) {
    const [spread, shape] = [one.spreads[id], data.shapes[id]];
    if (!spread || !shape) return "No rows to draw for this question.";
    return goodWords(spread) + missingWords(spread) + noiseWords(one, id);
  }

  function curveOf(shape, values, good) {
    const { edges, log } = shape;
    const last = edges.length - 2;
    const at = (x, i) => ({ x, target: values.target[i], region: values.region[i], uniform: values.uniform[i] });
    const middle = (i) => (log ? Math.sqrt(edges[i] * edges[i + 1]) : (edges[i] + edges[i + 1]) / 2);
    const curve = [at(edges[0], 0), ...values.target.map((_, i) => at(middle(i), i)), at(edges[last + 1], last)];
    const shaded = Array.from({ length: good.length / 2 }, (_, i) => ({ x: good[2 * i], x2: good[2 * i + 1] }));
    return { spec: log ? "curve-log" : "curve", height: 340, rows: { curve, good: shaded } };
  }

  function barsOf(shape, values, good) {
    const rows = shape.labels.map((_, place) => ({
      place, target: values.target[place], region: values.region[place], uniform: values.uniform[place], good: good.includes(place),
    }));
    return { spec: "bars", height: rows.length > 6 ? Math.max(340, 26 * rows.length + 50) : 52 * rows.length + 50, rows: { bars: rows }, words: { cells: shape.labels } };
  }

  function goodWords(spread) {
    const words = data.texts[spread[state.baseline === "region" ? 5 : 6]];
    return words ? `Good values: ${words}.` : "No value stands out.";
  }

  function noiseWords(one, id) {
    const row = rowsOf(one.answers[state.baseline]).find((found) => found.id === id);
    if (row && !row.varied) return " It never varied in these rows.";
    return row && row.significant === false ? " All this may be chance." : "";
  }

  function missingWords(spread) {
    if (!(spread[7] > 0 || spread[8] > 0)) return "";
    return ` Drawn where it has a value: ${percent(1 - spread[7], 0)} of the target, ${percent(1 - spread[8], 0)} of the region.`;
  }

  function densityTable(shape, values) {
    const cells = shape.labels || values.target.map((_, i) => `${short(shape.edges[i])} … ${short(shape.edges[i + 1])}`);
    const unit = shape.labels ? "%" : "× uniform";
    return {
      header: ["value", `target (${unit})`, `region (${unit})`, `uniform (${unit})`],
      rows: cells.map((cell, i) => [cell, values.target[i], values.region[i], values.uniform[i]]),
    };
  }

  /* --- the profile over targets --- */
  function showProfile() {
    const lines = [];
    for (let target = 0; target < state.region; target += 1) {
      const rows = rowsOf(questionAt(target, state.region).answers[state.baseline]);
      rows.filter((row) => data.drawn[row.id] || row.id === state.chosen).forEach((row) => lines.push({
        gamma: data.rungs[target].percent, id: row.id, value: 100 * Math.max(0, row[state.metric]),
        slot: data.slots[row.id], chosen: row.id === state.chosen,
      }));
    }
    const here = state.own === null ? [{ gamma: data.rungs[state.target].percent }] : [];
    const name = data.names[state.chosen];
    const label = `${state.metric} of every parameter by target inside ${data.rungs[state.region].words}; ${name} is drawn bold`;
    charts.show("profile", { spec: "profile", rows: { lines, here }, label });
    byId("profile-note").textContent = lines.length ? profileNote(data.rungs[state.region], name) : "There are too few rows for any target inside this region.";
    pedanova.legend.show();
    tables.keep("profile", profileTable);
  }

  const profileNote = (rung, name) => `Inside ${rung.words}; ${name} is drawn bold.`;

  function profileTable() {
    const targets = Array.from({ length: state.region }, (_, i) => i);
    const found = targets.map((target) => rowsOf(questionAt(target, state.region).answers[state.baseline]));
    const cell = (rows, id) => { const row = rows.find((one) => one.id === id); return row ? row[state.metric] : null; };
    const rows = data.names.map((name, id) => [name, ...found.map((one) => cell(one, id))]);
    return {
      header: ["parameter", ...targets.map((target) => data.rungs[target].words)],
      rows: rows.map(([name, ...cells]) => [name, ...cells.map((part) => percent(part))]),
      csv: { header: ["parameter", ...targets.map((target) => data.rungs[target].words)], rows },
    };
  }

  /* --- the objective --- */
  function showObjective() {
    if (!byId("objective-chart")) return;
    const [x, y] = [0, 1];
    const points = data.reached.map((point) => ({ x: point[x], y: point[y] }));
    const ends = state.own === null ? [data.rungs[state.target], data.rungs[state.region]] : [null, null];
    const sign = data.direction === "minimize" ? 1 : -1;
    const inside = (rung) => {
      if (!rung) return [];
      const cut = points.filter((point) => rung.end === null || sign * point.x < sign * rung.end);
      return rung.end === null ? cut : [...cut, { x: rung.end, y: rung.percent }];
    };
    const end = (rung) => (rung && rung.end !== null ? [{ x: rung.end }] : []);
    const rows = { reached: points, "inside-target": inside(ends[0]), "inside-region": inside(ends[1]), "target-end": end(ends[0]), "region-end": end(ends[1]) };
    const words = objectiveNote(ends);
    if (points.length > 1) charts.show("objective", { spec: "objective", rows, label: `Distribution of ${data.objective}. ${words}` });
    byId("objective-note").textContent = points.length > 1 ? words : "Too few rows to draw it without showing single ones.";
    tables.keep("objective", () => ({ header: [data.objective, "% of rows at least as good"], rows: data.reached }));
  }

  const objectiveNote = (ends) => ends.filter((rung) => rung && rung.where).map((rung) => `${rung.words}: ${rung.where}`).join("; ");

  function forExport(key) {
    const heading = key === "density" ? data.names[state.chosen] : byId(`${key}-title`).textContent;
    const [target, region] = question().words;
    return { drawn: key === "importance" ? exported : charts.drawn(key), heading: [heading, `${target} in ${region}`] };
  }

  const notes = { importanceNote, remarksOf, densityNote, profileNote, objectiveNote };
  return { makeBars, orderBars, showImportance, showDensity, showProfile, showObjective, forExport, counted, ...notes };
})();
