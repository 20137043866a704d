/* One density, large: a sheet over the page, with handles for a thumb, both ends to type, and a table. */
"use strict";
pedanova.sheet = (function () {
  const { make, svg: draw, set, byId, short, percent, times, button } = pedanova;
  const TOP = 16, BELOW = 36, SIDE = 28, MOST = 30; // names that a search shows
  let name = null, last = null, parts = null;

  function mount() {
    const dialog = byId("sheet");
    dialog.addEventListener("close", () => { name = null; });
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }

  function open(which) {
    name = which;
    pedanova.page.more();
    parts = null;
    const dialog = byId("sheet");
    if (!dialog.open) dialog.showModal();
    if (last) paint(...last);
    dialog.querySelector(".close").focus({ preventScroll: true });
  }

  function show(state, answer) {
    last = [state, answer];
    if (name !== null) paint(state, answer);
  }

  function build(parameter) {
    const close = button("×", "Close", () => byId("sheet").close(), "quiet close");
    const title = make("h2", "", pedanova.nameOf(parameter.name));
    title.id = "sheet-title";
    set(byId("sheet"), { "aria-labelledby": "sheet-title" });
    const root = draw("svg", {});
    const built = { parameter, root, layer: draw("g"), front: draw("g"), said: make("p", "sheet-said"), good: make("p", "sheet-said"), ends: make("div", "sheet-ends"), find: make("div", "sheet-find"), table: make("details", "sheet-table", make("summary", "", "Table")), width: 0 };
    root.append(built.layer, built.front);
    const whole = parameter.name === pedanova.nameOf(parameter.name) ? parameter.words : `${parameter.name} · ${parameter.words}`;
    built.plot = make("div", "sheet-plot", root);
    byId("sheet").replaceChildren(make("div", "sheet-head", title, close), make("p", "note", whole), built.said, pedanova.densities.key(), built.plot, built.good, built.ends, built.find, built.table);
    return built;
  }

  function paint(state, answer) {
    const parameter = pedanova.parameter(name);
    if (!parts || parts.parameter !== parameter) parts = build(parameter);
    if (!parameter.shape) return;
    const width = parts.plot.clientWidth, height = Math.min(360, Math.max(220, Math.round(width * 0.45)));
    const bottom = height - BELOW, scale = pedanova.scales.of(parameter, [SIDE, width - SIDE]);
    const density = answer.densities && answer.densities[name], ghost = answer.ghost && answer.ghost.densities && answer.ghost.densities[name];
    const baseline = state.question.baseline;
    if (parts.width !== width) {
      parts.width = width;
      set(parts.root, { width, height, viewBox: `0 0 ${width} ${height}` });
      pedanova.densities.select(parts, scale, { top: TOP, height: bottom - TOP, whole: height, grip: window.matchMedia("(pointer: coarse)").matches ? 44 : 20 });
    }
    const row = (answer.importances || []).find((one) => one.parameter === name);
    byId("sheet").classList.toggle("noise", Boolean(row) && row.significant === false);
    parts.layer.replaceChildren(pedanova.plot.body({ parameter, density, ghost, baseline, scale, few: pedanova.page.isFew(answer), top: TOP, bottom }), pedanova.plot.axis({ parameter, scale, bottom, large: true }));
    parts.said.textContent = answer.refused ? pedanova.page.refusal(answer) : tell(row);
    const words = density && density.good ? density.good.words : "", other = baseline === "uniform" ? "a uniform draw" : "the region";
    parts.good.textContent = words ? `These values are clearly more frequent in the target than in ${other}: ${words}.` : `No value is clearly more frequent in the target than in ${other}.`;
    pedanova.densities.tell(state, answer);
    tip(parameter, density, baseline, scale);
    selection(state, parameter);
    if (!parts.find.firstChild && pedanova.densities.isCut(parameter)) finder(parameter);
    table(parameter, density, baseline);
  }

  function tell(row) {
    if (!row) return "";
    if (row.varied === false) return "The parameter never varied in these rows.";
    const sure = row.low !== null && row.high !== null ? ` (95 % interval ${percent(row.low)} to ${percent(row.high)})` : "";
    const noise = row.significant === false ? ` Chance alone may explain this importance: ${pedanova.unclear(row.share)}.` : "";
    const part = row.ratio === null ? "" : `, which is ${percent(row.ratio)} of the sum of all importances`;
    return `The importance for the target (${pedanova.objective.wordsOf("target", pedanova.asked().target, last[1], false)}) is ${percent(row.share)}${sure}${part}.${noise}`;
  }

  function tip(parameter, density, baseline, scale) {
    pedanova.tip(parts.front, (event) => {
      const box = parts.root.getBoundingClientRect(), x = (event.clientX - box.left) * (parts.width / box.width);
      return density && density.target && x >= scale.start && x <= scale.stop ? pedanova.plot.words(parameter, density, baseline, pedanova.plot.at(scale, parameter.shape, x)) : "";
    });
  }

  /* The selection: on the plot, and in words. */
  function selection(state, parameter) {
    const part = pedanova.brushOf(state.question, parameter.name);
    pedanova.densities.pick(parts, part);
    if (!pedanova.densities.brushable(parameter)) return;
    const said = make("span", "", part ? `Selected: ${pedanova.chips.words(part)}` : "All values are selected. Drag over the plot to select some of them.");
    parts.ends.replaceChildren(said, ...(part ? [button("Select all", `Select all values of ${parameter.name}`, () => pedanova.state.select(parameter.name, null))] : []));
  }

  /* More names than bars: they are searched, and picked one by one. */
  function finder(parameter) {
    const field = set(make("input", "rank-search"), { type: "search", placeholder: "Search", "aria-label": `Search the values of ${parameter.name}` }), list = make("div", "");
    const fill = () => {
      const fits = parameter.labels.filter((label) => label.toLowerCase().includes(field.value.trim().toLowerCase()));
      const pick = (label) => button(label, `Select or deselect ${label}`, () => pedanova.densities.toggle(parameter, label));
      list.replaceChildren(...fits.slice(0, MOST).map(pick), make("p", "note", `${pedanova.count(fits.length)} of ${pedanova.count(parameter.labels.length)} values${fits.length > MOST ? `, ${MOST} shown` : ""}. The plot has a bar for each of the most frequent values, and one bar for all others.`));
    };
    field.addEventListener("input", fill);
    fill();
    parts.find.append(field, list);
  }

  function table(parameter, density, baseline) {
    parts.table.hidden = !density || !density.target;
    if (parts.table.hidden) return;
    const { shape } = parameter, base = baseline === "uniform" ? density.uniform : density.region;
    const head = ["value", "target", baseline === "uniform" ? "uniform draw" : "region", "lift"];
    const body = density.target.map((part, i) => [
      shape.labels && shape.labels[i] !== undefined ? shape.labels[i] : `${short(shape.edges[i])} – ${short(shape.edges[i + 1])}`,
      percent(part), percent(base[i]), base[i] > 0 ? times(part / base[i]) : "",
    ]);
    parts.table.replaceChildren(make("summary", "", "Table"), make("div", "scroll", pedanova.pane.table("", head, body)));
  }

  return { mount, show, open, seen: () => name };
})();
