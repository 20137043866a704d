/* The cards of all parameters: where good values lie. Drag to brush, click to enlarge, click a bar to toggle a category. */
"use strict";
pedanova.densities = (function () {
  const { make, svg: draw, set, say, byId, percent } = pedanova;
  const FIRST = 9; // cards before "show all"
  const HEIGHT = 112, TOP = 6, BOTTOM = 92, SIDE = 8;
  let grid = null, others = null, more = null, all = false, order = [], here = [];
  const cards = new Map(), seen = new Set(); // the cards by name, and the names on the screen
  const near = new IntersectionObserver((entries) => {
    entries.forEach(({ target, isIntersecting }) => { if (isIntersecting) seen.add(target.dataset.parameter); else seen.delete(target.dataset.parameter); });
    pedanova.page.more();
  }, { rootMargin: "200px" });

  function mount() {
    const title = make("h2", "", "Where good values lie");
    title.id = "densities-title";
    const how = pedanova.source.isLive() ? "drag to select · click to enlarge" : "click to enlarge";
    const legend = key();
    legend.append(make("span", "how", how));
    more = make("button", "quiet show-all");
    more.type = "button";
    more.addEventListener("click", () => { all = !all; pedanova.page.show(); });
    byId("densities").append(make("div", "card-head", make("div", "", title, more), legend));
    grid = make("div", "grid");
    others = make("div", "grid");
    byId("densities").append(grid, make("div", "card-head other-columns", make("h2", "", "Other columns"), make("p", "key", "not ranked · drag to select")), others);
    pedanova.hover.subscribe(mark);
    pedanova.on("news", () => { cards.forEach((card) => near.unobserve(card.element)); cards.clear(); }); // new rows may change the bins
  }

  /* The legend. */
  function key() {
    const mark = (kind) => make("i", `key-mark ${kind}`);
    return make("p", "key", mark("target"), "target", mark("base"), make("span", "against", "region"), mark("chance"), "chance", make("span", "before", mark("ghost"), make("span", "", "")));
  }

  /* Update the legend: the baseline, and the meaning of the dotted line. */
  function tell(state, answer) {
    document.querySelectorAll(".key .against").forEach((one) => { say(one, state.question.baseline === "uniform" ? "uniform draw" : "region"); });
    document.querySelectorAll(".key .before").forEach((one) => {
      one.classList.toggle("none", !answer.ghost); // its space is kept, so that other words do not move
      say(one.lastChild, state.pinned ? "target of A" : "before");
    });
  }

  /* Keep the order of the first complete answer, so that cards do not move; new parameters come last. */
  function ordered(answer) {
    const known = pedanova.facts.parameters.map((one) => one.name), given = answer.importances || [];
    if (!order.length && given.length >= known.length) order = given.map((row) => row.parameter);
    return order.length ? [...order.filter((name) => pedanova.byName.has(name)), ...known.filter((name) => !order.includes(name))] : known;
  }

  /* Functions that draw: first the grid, then one card after another. */
  function steps(state, answer) {
    return [() => lay(state, answer), ...[...ordered(answer), ...pedanova.facts.columns.map((one) => one.name)].map((name) => () => shown.has(name) && shown.get(name)())];
  }

  let shown = new Map(); // functions that draw the cards in the grid, by name
  function lay(state, answer) {
    tell(state, answer);
    const names = ordered(answer), columns = pedanova.facts.columns.filter((one) => one.shape && one.brush && (!one.goal || pedanova.facts.objective.several)).map((one) => one.name);
    const some = (names) => names.filter((name, i) => all || i < FIRST || Object.hasOwn(state.question.selection, name) || name === state.chosen);
    if (!here.length || !pedanova.drag.isOn()) here = [...some(names), ...some(columns)];
    more.hidden = Math.max(names.length, columns.length) <= FIRST;
    say(more, all ? "Show fewer" : `Show all ${names.length + (columns.length > FIRST ? columns.length : 0)}`);
    others.previousSibling.hidden = !columns.length;
    const few = pedanova.page.isFew(answer);
    byId("densities").classList.toggle("few", few);
    const rows = new Map((answer.importances || []).map((row) => [row.parameter, row]));
    const ghost = answer.ghost && answer.ghost.densities;
    const items = here.map((name) => {
      if (!cards.has(name)) {
        cards.set(name, build(pedanova.parameter(name)));
        near.observe(cards.get(name).element);
      }
      return cards.get(name).element;
    });
    const ranked = here.filter((name) => !columns.includes(name)).length;
    for (const [place, own] of [[grid, items.slice(0, ranked)], [others, items.slice(ranked)]]) {
      own.forEach((one, i) => { if (place.children[i] !== one) place.insertBefore(one, place.children[i] || null); });
      while (place.children.length > own.length) place.lastElementChild.remove();
    }
    const width = items.length ? items[0].clientWidth - 2 : 0;
    shown = new Map(width > 0 ? here.filter((name) => here.length <= 2 * FIRST || seen.has(name) || printing()).map((name) => [name, () => paint(cards.get(name), rows.get(name), state, answer, ghost && ghost[name], width, few)]) : []);
    if (few) ticks(); else forget();
  }

  /* Whether there are more values than bars. */
  const isCut = ({ brush, labels, shape }) => brush === "labels" && labels.length > shape.labels.length;
  const printing = () => document.body.classList.contains("printing");

  function build(parameter) {
    const name = make("button", "card-name", pedanova.nameOf(parameter.name));
    set(name, { type: "button", "aria-haspopup": "dialog", "aria-label": `Enlarge ${parameter.name}` });
    pedanova.tip(name, `${parameter.name}\n${parameter.words}`);
    const share = make("span", "card-share");
    const root = draw("svg", { height: HEIGHT });
    const words = make("p", "card-words");
    const element = make("article", "density", make("div", "card-top", name, share), root, words);
    element.dataset.parameter = parameter.name;
    const card = { parameter, element, root, share, words, name, brush: null, width: 0, look: "", layer: draw("g"), body: draw("g"), front: draw("g") };
    name.addEventListener("click", () => pedanova.sheet.open(parameter.name));
    root.append(card.layer, card.front);
    return card;
  }

  function paint(card, row, state, answer, ghost, width, few) {
    const { parameter, root } = card, density = answer.densities && answer.densities[parameter.name];
    if (!parameter.shape) { say(card.words, "never varied"); return; }
    const held = pedanova.drag.isOn() && card.width, scale = held ? card.scale : pedanova.scales.of(parameter, [SIDE, width - SIDE]);
    if (card.width !== width && !held) {
      card.width = width;
      set(root, { width, viewBox: `0 0 ${width} ${HEIGHT}` });
      card.layer.replaceChildren(card.body, pedanova.plot.axis({ parameter, scale, bottom: BOTTOM }));
      interact(card, scale);
    }
    const noise = row && row.significant === false;
    const part = pedanova.brushOf(state.question, parameter.name), hidden = state.hidden.includes(parameter.name);
    set(card.element, { class: ["density", noise ? "noise" : "", state.chosen === parameter.name ? "chosen" : "", few ? "few" : "", part && !hidden ? "selected" : ""].filter(Boolean).join(" ") });
    say(card.share, row ? (row.varied === false ? "never varied" : `${noise ? "~ " : ""}${percent(row.share)}`) : "");
    const baseline = state.question.baseline, most = answer.pending ? card.most : undefined; // heights are scaled anew once it rests
    const drawn = [density, ghost && ghost.target, baseline, few, card.width, most];
    if (!card.drawn || drawn.some((one, i) => one !== card.drawn[i])) { // the very same answer need not be read again
      const look = JSON.stringify(drawn), plot = card.look === look ? null : pedanova.plot.body({ parameter, density, ghost, baseline, scale, few, most, top: TOP, bottom: BOTTOM });
      if (plot) card.body.replaceChildren(plot);
      if (plot && !answer.pending) card.most = plot.most;
      [card.look, card.drawn] = [look, drawn];
    }
    card.scale = scale;
    card.density = density;
    card.baseline = baseline;
    const said = few || noise || !density || !density.good ? "" : density.good.words, cut = isCut(parameter) ? `${pedanova.count(parameter.labels.length)} values: search them in the large view` : "";
    say(card.words, said ? `more often: ${said}` : cut);
    pedanova.tip(card.words, said);
    set(root, { role: brushable(parameter) ? "group" : "img", "aria-label": said ? `${parameter.name}: the values ${said} are more frequent in the target than in ${baseline === "uniform" ? "a uniform draw" : "the region"}` : `${parameter.name}: no clear ranges` });
    pick(card, part);
  }

  /* Only on a live page, because a file cannot answer new questions. */
  const brushable = (parameter) => Boolean(parameter.brush && pedanova.source.isLive());

  /* Brush, bars to click, tooltips: laid once for every width. */
  function interact(card, scale) {
    const { parameter, front } = card;
    select(card, scale, { top: TOP, height: BOTTOM - TOP, whole: HEIGHT, margin: SIDE, onClick: () => pedanova.sheet.open(parameter.name) });
    pedanova.tip(front, (event) => {
      const box = card.root.getBoundingClientRect(), x = (event.clientX - box.left) * (card.width / box.width);
      if (!card.density || !card.density.target || x < scale.start || x > scale.stop) return "";
      return pedanova.plot.words(parameter, card.density, card.baseline, pedanova.plot.at(card.scale, parameter.shape, x));
    });
  }

  /* Let the user select values on a card or a sheet of a live page: with a brush, or by clicking bars. */
  function select(card, scale, { top, height, whole, onClick, ...more }) {
    const { parameter, front } = card;
    front.replaceChildren();
    [card.brush, card.bars] = [null, null];
    if (!brushable(parameter)) {
      const ground = draw("rect", { class: onClick ? "catch" : "catch still", x: 0, y: 0, width: card.width, height: whole });
      if (onClick) ground.addEventListener("click", onClick);
      front.append(ground);
    } else if (parameter.brush === "labels") {
      card.bars = bars(front, parameter, scale, { top: 0, height: whole });
    } else {
      const change = (range, how) => pedanova.state.select(parameter.name, range && { range }, how);
      card.brush = pedanova.brush.range({
        svg: front, axis: pedanova.brush.axis(parameter, [scale.start, scale.stop]), top, height, name: parameter.name,
        onChange: (range) => change(range, { live: true }), onEnd: (range) => change(range), onClick, ...more,
      });
    }
  }

  /* Bars that can be switched on and off; the arrow keys go from one to the next. */
  function bars(front, parameter, scale, { top, height }) {
    const { labels } = parameter.shape, all = labels.length === parameter.labels.length;
    const known = labels.map((label, i) => (all ? parameter.labels[i] : parameter.labels.includes(label) ? label : null));
    const found = known.map((label, i) => {
      const bar = draw("rect", { class: "bar-catch", x: scale.start + scale.step * i, y: top, width: scale.step, height, role: "checkbox", tabindex: i ? -1 : 0, "aria-label": `${parameter.name} ${label ?? parameter.shape.labels[i]}`, "aria-checked": "true" });
      bar.addEventListener("click", () => label !== null && toggle(parameter, label));
      bar.addEventListener("keydown", (event) => walk(event, found, i, () => label !== null && toggle(parameter, label), parameter));
      return bar;
    });
    front.append(...found);
    return { found, known };
  }

  function walk(event, found, i, press, parameter) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === " " || event.key === "Enter") press();
    else if (event.key === "Escape") pedanova.state.select(parameter.name, null);
    else if (by) {
      const next = found[(i + by + found.length) % found.length];
      set(found[i], { tabindex: -1 });
      set(next, { tabindex: 0 });
      next.focus();
    } else return;
    event.preventDefault();
  }

  function toggle(parameter, label) {
    const now = (pedanova.brushOf(pedanova.state.get().question, parameter.name) || { labels: [] }).labels;
    const next = now.includes(label) ? now.filter((one) => one !== label) : parameter.labels.filter((one) => one === label || now.includes(one));
    pedanova.state.select(parameter.name, next.length && next.length < parameter.labels.length ? { labels: next } : null);
  }

  /* The selection on a card. */
  function pick(card, part) {
    if (card.brush && !card.brush.isDragging()) card.brush.show(part && part.range ? part.range : null);
    if (card.bars) {
      card.bars.found.forEach((bar, i) => {
        const on = !part || part.labels.includes(card.bars.known[i]);
        set(bar, { "aria-checked": String(on), class: part ? (on ? "bar-catch on" : "bar-catch out") : "bar-catch" });
      });
    }
  }

  /* With fewer than five good rows, a live page marks the single rows. */
  async function ticks() {
    if (!pedanova.source.isLive() || pedanova.source.can("trials") !== true) return;
    try {
      const found = await pedanova.source.ask("trials", pedanova.asked(), { limit: 5 }, { slot: "ticks" });
      if (found.refused) return forget();
      const good = pedanova.pane.rowsOf(found).filter((row) => row.in === "target");
      if (pedanova.page.isFew(pedanova.page.answer())) for (const card of cards.values()) stand(card, good, "row-tick");
    } catch (error) {
      if (error !== pedanova.STALE) throw error;
    }
  }

  const forget = () => cards.forEach((card) => card.root.querySelectorAll(".row-tick").forEach((one) => one.remove()));

  function stand(card, rows, kind) {
    card.root.querySelectorAll(`.${kind}`).forEach((one) => one.remove());
    for (const row of rows) {
      const x = xOf(card, row);
      if (x !== null) card.root.append(draw("line", { class: kind, x1: x, x2: x, y1: TOP, y2: BOTTOM }));
    }
  }

  /* The x position of a trial on a card. */
  function xOf(card, row) {
    if (!card.scale || !row) return null;
    const value = (row.values || row)[card.parameter.name];
    if (value === null || value === undefined) return null;
    const { scale, parameter: { shape } } = card;
    if (!scale.labels) return typeof value === "number" ? Math.min(scale.stop, Math.max(scale.start, scale.x(value))) : null;
    const at = shape.values ? shape.values.indexOf(value) : shape.labels.indexOf(String(value));
    return at < 0 ? null : scale.middle(at);
  }

  const mark = (row) => cards.forEach((card) => stand(card, row ? [row] : [], "hover-tick"));

  /* A small density beside a bar, for narrow screens. */
  function small(place, row, answer) {
    const parameter = pedanova.parameter(row.parameter), density = answer.densities && answer.densities[row.parameter];
    if (!parameter.shape || !density) { place.replaceChildren(); return; }
    const width = 72, height = 28, scale = pedanova.scales.of(parameter, [1, width - 1]);
    const root = draw("svg", { width, height, "aria-hidden": "true" });
    root.append(pedanova.plot.body({ parameter, density, baseline: pedanova.state.get().question.baseline, scale, top: 2, bottom: height - 1 }));
    place.replaceChildren(root);
  }

  /* Show the card of a parameter; on a narrow screen, its sheet. */
  function reveal(name) {
    if (byId("densities").offsetParent === null) return pedanova.sheet.open(name);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const card = cards.get(name);
      const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
      if (card) card.element.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
    }));
    return undefined;
  }

  return { mount, steps, small, reveal, select, pick, key, tell, toggle, isCut, brushable, first: (many) => ordered({}).slice(0, many), seen: () => here.filter((name, i) => (here.length <= 2 * FIRST || seen.has(name))) };
})();
