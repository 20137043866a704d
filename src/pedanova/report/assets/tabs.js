/* What the tabs share: heads with files to save, tables, asking for a part, and words for the question that is answered. */
"use strict";
pedanova.pane = (function () {
  const { make, set, svg } = pedanova;
  let age = 0; // how often rows were added; then everything is requested again
  pedanova.on("news", () => { age += 1; });

  /* A titled piece of a tab: {element, body, note, tools}. */
  function piece(key, title, saved = null) {
    const head = make("h3", "", title), tools = make("div", "pane-tools"), note = make("p", "pane-note"), body = make("div", "pane-body");
    const element = make("section", `pane pane-${key}`, make("div", "pane-head", head, tools), note, body);
    if (saved) tools.append(pedanova.exports.buttons({ key, what: title.toLowerCase(), ...saved }));
    return { element, head, tools, note, body };
  }

  /* Whether a piece has no answer: then it says why, and what else there is of it goes. */
  function refuses(found, piece, ...others) {
    if (!found.refused) return false;
    said(piece.note, "");
    clear(piece.body, make("p", "refused", pedanova.page.refusal(found)));
    others.forEach((one) => clear(one));
    return true;
  }
  const remarks = (notes) => (notes.length ? make("ul", "remarks", ...notes.map((note) => make("li", "", pedanova.page.plain(note)))) : null);
  const scroll = (table) => pedanova.set(make("div", "scroll", table), { tabindex: 0 }); // by keys too
  const clear = (element, ...children) => { element.replaceChildren(...children.filter(Boolean)); return element; };

  /* Words of the selection, empty for all rows. */
  function selectionWords(question) {
    const { within } = pedanova.facts, own = within ? within.selection || {} : {}; // what all of a file is about
    const parts = Object.entries({ ...own, ...question.selection }).map(([name, brush]) => `${pedanova.nameOf(name)} ${brushWords(brush)}`);
    const study = question.study || (within && within.study);
    if (study) parts.unshift(`${study.column} = ${study.name}`);
    if (within && !Object.keys(own).length && within.words) parts.unshift(within.words);
    return parts.join(", ");
  }

  function brushWords(brush) {
    if (brush.labels) return brush.labels.length > 3 ? `= one of ${brush.labels.length} values` : `= ${brush.labels.join(" or ")}`;
    const [low, high] = brush.range;
    if (low === null) return high === null ? "of any value" : `≤ ${pedanova.short(high)}`;
    return high === null ? `≥ ${pedanova.short(low)}` : `${pedanova.short(low)} to ${pedanova.short(high)}`;
  }

  /* A fraction as the user typed it: 1 %, not 1.0 %. */
  const partWords = (part) => `${pedanova.short(100 * part)}\u00a0%`;

  function bandWords(band, all) {
    if (band.part) {
      const [from, to] = band.part, of = all ? "" : " of all rows";
      if (from === 0) return to === 1 ? "all rows" : `the best ${partWords(to)}${of}`;
      return `rows between the best ${partWords(from)} and the best ${partWords(to)}`;
    }
    const [low, high] = band.value, name = pedanova.facts.objective.name;
    if (low === null) return `${name} ≤ ${pedanova.short(high)}`;
    return high === null ? `${name} ≥ ${pedanova.short(low)}` : `${name} ${pedanova.short(low)} to ${pedanova.short(high)}`;
  }

  /* A question in words: "the best 10 % of all rows; only rows with lr 0.001 … 0.3". */
  function questionWords(question, withRegion = true) {
    const chosen = selectionWords(question), whole = question.region.part && question.region.part[0] === 0 && question.region.part[1] === 1;
    const region = withRegion && !whole ? `, compared with ${bandWords(question.region, false)}` : "";
    return `${bandWords(question.target, false)}${region}${chosen ? `; only rows with ${chosen}` : ""}`;
  }

  /* The code of the cards in the open tab: [title, lines] each. */
  const codes = [];
  const coding = (element, lines) => codes.push([element, lines]);
  const coded = () => codes.filter(([element]) => element.isConnected && element.offsetParent).map(([element, lines]) => [(element.querySelector("h3") || { textContent: "A|B" }).textContent, lines()]);

  /* Requests a part after each change of the question, and shows the answer; the old answer is pale until then.
     A file may have an answer only for the first question; then that answer is shown, and `moved` is true. */
  function asker(part, element, draw) {
    let shown = null, wanted = null, last = null;
    coding(element, () => last && last.lines);
    async function ask(question, extra, key) {
      try {
        let found = await pedanova.source.ask(part, question, extra), moved = false;
        if (found.refused && !pedanova.source.isLive()) {
          const start = pedanova.state.first().question;
          const first = await pedanova.source.ask(part, start, extra);
          if (!first.refused) [found, moved] = [first, pedanova.source.keyOf(part, start) !== pedanova.source.keyOf(part, question)];
        }
        if (found.lost && last) { wanted = null; return; } // what is shown stays until somebody answers again
        shown = key;
        last = found;
        element.removeAttribute("aria-busy");
        element.classList.toggle("moved", moved);
        draw(found, { moved, question: moved ? pedanova.state.first().question : question });
      } catch (error) {
        if (error !== pedanova.STALE) throw error;
      }
    }
    return {
      follow(state, answer, extra = {}) {
        const question = pedanova.asked(state), key = `${age} ${pedanova.source.keyOf(part, question, extra)}`;
        if (key === shown && key === wanted) return false;
        element.setAttribute("aria-busy", "true");
        if (key === wanted || (answer && answer.pending && last)) return false;
        wanted = key;
        ask(question, extra, key);
        return true;
      },
      forget() { shown = wanted = null; },
      last: () => last,
    };
  }

  /* A table; cells are text or elements, the first of a line is its head. */
  function table(kind, header, lines, labels = header) {
    const top = make("tr", "", ...header.map((name) => set(make("th", "", name), { scope: "col" })));
    const rows = lines.map((line) => make("tr", "", ...line.map((cell, i) => (i ? set(make("td", "", cell), { "data-label": labels[i] })
      : set(make("th", "", cell), { scope: "row" })))));
    return make("table", kind, make("thead", "", top), make("tbody", "", ...rows));
  }

  /* Radio keys: arrows move among elements in rows and columns, or in a line. */
  function roving(elements, choose, { columns = null } = {}) {
    elements.forEach((element, at) => {
      element.addEventListener("click", () => choose(at));
      element.addEventListener("keydown", (event) => {
        const steps = columns ? { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }
          : { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
        const next = event.key === "Home" ? 0 : event.key === "End" ? elements.length - 1 : event.key in steps ? at + steps[event.key]
          : event.key === "Enter" || event.key === " " ? at : null;
        if (next === null || !elements[next]) return;
        event.preventDefault();
        choose(next);
        elements[next].focus();
      });
    });
  }

  /* A line under which something is greyed out and why. */
  function said(element, words, kind = "") {
    element.textContent = words;
    element.hidden = !words;
    element.classList.toggle("warned", kind === "warned");
  }

  /* Rows of an answer in columns, each as {row, trial, in, values: {name: value}}. */
  function rowsOf(found) {
    const { columns = {}, own = {} } = found, names = [...(found.objectives || []), ...(found.parameters || [])];
    const of = (word, i) => (Object.hasOwn(columns, own[word]) ? columns[own[word]][i] : null); // a parameter may be called so
    return (columns[own.row] || []).map((row, i) => ({
      row, trial: of("trial", i), in: of("in", i), best: of("best", i), state: of("state", i), values: Object.fromEntries([...(Object.hasOwn(columns, "row") ? ["row"] : []), ...names].map((name) => [name, columns[name][i]])),
    }));
  }

  /* A value of a row, short or (all = true) to the last digit. */
  function cellWords(value, all = false) {
    if (value === null || value === undefined) return all ? "" : "–";
    return typeof value === "number" && !all ? pedanova.short(value) : String(value);
  }

  /* An axis for single rows: {parameter, labels | null, scale, at(value) → pixels, or null where there is no value}. */
  function axisOf(name, values, range, wide = false) {
    const parameter = pedanova.byName.get(name), shape = (parameter && parameter.shape) || {};
    const given = values.filter((value) => value !== null && value !== undefined);
    const named = parameter && parameter.brush === "labels" ? parameter.labels : given.some((value) => typeof value !== "number") ? [...new Set(given.map(String))].sort() : null;
    if (named) {
      const scale = pedanova.scales.band(named, range), place = new Map(named.map((label, i) => [label, i]));
      return { name, parameter, labels: named, scale, at: (value) => (place.has(String(value)) ? scale.middle(place.get(String(value))) : null) };
    }
    if (parameter && shape.kind === "bars") return atValues(name, parameter, range);
    const scale = numberScale(parameter, shape, given.filter(Number.isFinite), range, wide);
    const within = (value) => Math.min(scale.high, Math.max(scale.low, value));
    return { name, parameter, labels: null, scale, at: (value) => (typeof value === "number" && Number.isFinite(value) ? scale.x(within(value)) : null) };
  }

  /* Of very many parameters a table of rows has the first; {} for all. */
  const WIDEST = 40;
  const some = (more = []) => {
    const every = pedanova.facts.parameters.map((one) => one.name), others = more.filter((name) => !every.includes(name)).slice(0, WIDEST);
    return every.length > WIDEST || others.length ? { names: [...(every.length > WIDEST ? pedanova.densities.first(WIDEST) : every), ...others] } : {};
  };
  const cut = () => (pedanova.facts.parameters.length > WIDEST ? ` This card shows ${WIDEST} of ${pedanova.facts.parameters.length} parameters; the CSV of the trials has all.` : "");

  /* A choice of the column that colours single rows, its key, and the colour of a row; by default, target rows stand out. */
  const HUES = [265, 40];
  function colouring() {
    const list = set(make("select", "chip-choice"), { "aria-label": "Colour of the rows" });
    for (const name of ["", ...pedanova.byName.keys()]) list.append(set(make("option", "", name ? `coloured by ${pedanova.nameOf(name)}` : "coloured by target"), { value: name }));
    list.addEventListener("change", () => pedanova.state.change({ colour: list.value || null }));
    return { list, key: make("p", "key") };
  }

  function colours(state, rows, { list, key }) {
    const { colour: name } = state, theme = pedanova.theme.colour, plain = { true: theme("target"), false: theme("region") };
    list.value = name || "";
    key.replaceChildren();
    if (!name) return (row) => plain[row.in === "target"];
    const axis = axisOf(name, rows.map((row) => row.values[name]), [0, 1]), ends = axis.labels || [axis.scale.low, axis.scale.high].map((end, i) => pedanova.short(end ?? axis.values[i ? axis.values.length - 1 : 0]));
    const hue = (at) => `hsl(${Math.round(HUES[0] + (HUES[1] - HUES[0]) * at)} 70% ${pedanova.theme.name() === "dark" ? 65 : 45}%)`;
    ends.slice(0, 12).forEach((words, i) => { const mark = make("i", "key-mark"); mark.style.borderColor = hue(axis.labels ? axis.at(words) : i); key.append(mark, words); });
    return (row) => { const at = axis.at(row.values[name]); return at === null ? plain.false : hue(at); };
  }

  /* A few values along an axis, all where they are few. */
  const ticksOf = (axis, many) => (axis.values ? axis.values.filter((_, i) => i % Math.ceil(axis.values.length / (2 * many)) === 0) : axis.scale.ticks(many));

  /* Whole numbers and lattices: even places at their values, brushed by value. */
  function atValues(name, parameter, range) {
    const line = pedanova.brush.axis(parameter, range), { scale } = line, values = parameter.shape.values || scale.labels.map((label) => Number(String(label).replaceAll(",", "")));
    const nearest = (value) => values.reduce((best, one, i) => (Math.abs(one - value) < Math.abs(values[best] - value) ? i : best), 0);
    return { name, parameter, labels: null, line, scale, values, at: (value) => (typeof value === "number" ? scale.middle(nearest(value)) : null) };
  }

  function numberScale(parameter, shape, numbers, range, wide) {
    const ends = shape.edges || shape.values || (numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [0, 1]);
    const every = [ends[0], ends[ends.length - 1], ...(wide ? numbers : [])], [low, high] = [Math.min(...every), Math.max(...every)]; // wide: failed trials may lie outside
    const log = parameter && !parameter.goal ? Boolean(parameter.log ?? shape.log) : pedanova.facts.objective.log;
    return pedanova.scales[log && low > 0 ? "log" : "linear"](low < high ? [low, high] : [low - 0.5, high + 0.5], range);
  }

  /* Lines across a chart of shares, with their percentages at the left. */
  const gridLines = (y, left, end) => y.ticks(4).flatMap((tick) => [
    svg("line", { class: "grid-line", x1: left, x2: end, y1: y.x(tick), y2: y.x(tick) }),
    svg("text", { class: "tick", x: left - 6, y: y.x(tick), "text-anchor": "end", "dominant-baseline": "middle" }, pedanova.percent(tick)),
  ]);

  /* Names at the ends of lines, pushed apart; `wanted` is a list of {name, place, y}. */
  function endLabels(wanted, bottom, end, right, state) {
    const labels = [...wanted].sort((a, b) => a.y - b.y), at = labels.map((label) => label.y);
    for (let i = 1; i < at.length; i += 1) at[i] = Math.max(at[i], at[i - 1] + 15);
    for (let i = at.length - 1, most = bottom; i >= 0; i -= 1, most -= 15) at[i] = Math.min(at[i], most);
    return labels.map(({ name, place, y }, i) => {
      const group = svg("g", { class: `target-label line-${place}${state.chosen === name ? " chosen" : ""}` });
      const text = svg("text", { x: end + 24, y: at[i], "dominant-baseline": "middle" });
      group.append(svg("path", { class: "leader", d: `M${end + 6} ${y.toFixed(1)}L${end + 20} ${at[i].toFixed(1)}` }), pedanova.pairs.fitted(text, name, right - 28));
      group.addEventListener("click", () => pedanova.state.change({ chosen: name }));
      return group;
    });
  }

  const width = (element, least = 280, most = Infinity) => Math.min(most, Math.max(least, Math.floor(element.clientWidth)));

  return { age: () => age, asker, axisOf, bandWords, clear, coded, coding, colouring, colours, cut, endLabels, gridLines, partWords, piece, questionWords, refuses, remarks, roving, rowsOf, cellWords, said, scroll, selectionWords, some, table, ticksOf, width };
})();
