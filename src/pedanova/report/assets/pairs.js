/* Which two parameters matter together: a matrix of up to eight, a ranked list beyond, and the plane of the chosen two. */
"use strict";
pedanova.pairs = (function () {
  const { make, svg, set, pane } = pedanova;
  const MATRIX = 8, LISTED = 14;
  const STEPS = [0.01, 0.03, 0.1, 0.3]; // of the colours: always the same, whatever the largest is
  let list = null, asking = null, held = null, drawnFor = "";

  function mount(element) {
    list = pane.piece("pairs", "Two at a time", { csv: lines, drawing });
    const plane = pane.piece("plane", "The plane of two", pedanova.plane.saved);
    element.append(make("div", "pairs-grid", list.element, plane.element));
    pedanova.plane.mount(plane);
    asking = pane.asker("pairs", list.element, draw);
  }

  function show(state, answer) {
    asking.follow(state, answer, asked(answer));
    mark(state);
    pedanova.plane.show(state, answer, chosenPair(state));
  }

  /* In a live page of many parameters, the most important ones; a file says itself which it has. */
  function asked(answer) {
    if (!pedanova.source.isLive() || pedanova.facts.parameters.length <= 14) return {};
    const ranked = (answer.importances || []).map((row) => row.parameter);
    return ranked.length ? { names: ranked.slice(0, 10) } : {};
  }

  function chosenPair(state) {
    if (state.pair) return state.pair;
    if (held && held.rows && held.rows.length) return [held.rows[0].first, held.rows[0].second];
    const names = pedanova.facts.parameters.map((one) => one.name);
    return names.length > 1 ? names.slice(0, 2) : null;
  }

  const level = (part) => STEPS.filter((step) => part >= step).length;
  const isSure = (row) => row.significant === true;

  function draw(found, { moved, question }) {
    held = found;
    drawnFor = "";
    if (found.refused) {
      pane.said(list.note, "");
      pane.clear(list.body, pane.refused(found));
    } else {
      const sure = found.rows.filter(isSure).length;
      const what = !found.rows.length ? "There are no two parameters to pair."
        : sure ? `${pedanova.plural(sure, "pair")} of ${pedanova.count(found.rows.length)} explain${sure === 1 ? "s" : ""} together more than the sum of both.`
          : "No pair explains more together than the sum of both, beyond chance.";
      pane.said(list.note, moved ? `For ${pane.questionWords(question)}: this file has pairs for its first questions alone.` : what, moved ? "warned" : "");
    }
    show(pedanova.state.get(), pedanova.page.answer() || {});
  }

  /* Draws the pairs once an answer, then only marks the chosen one. */
  function mark(state) {
    if (!held || held.refused) return;
    const pair = chosenPair(state), key = JSON.stringify(pair);
    if (drawnFor === key && list.body.clientWidth === Number(list.body.dataset.width)) return;
    drawnFor = key;
    list.body.dataset.width = list.body.clientWidth;
    const focused = list.body.contains(document.activeElement);
    const names = [...new Set(held.rows.flatMap((row) => [row.first, row.second]))];
    pane.clear(list.body, names.length <= MATRIX ? matrix(names, pair) : ranking(pair), names.length <= MATRIX ? legend() : null);
    if (focused) { const here = list.body.querySelector("[aria-checked=true]"); if (here) here.focus(); }
  }

  const same = (row, pair) => pair && ((row.first === pair[0] && row.second === pair[1]) || (row.first === pair[1] && row.second === pair[0]));
  const words = (row) => `${row.first} and ${row.second}: ${pedanova.percent(row.interaction)} together beyond both`
    + `${row.p_adjusted === null ? "" : `, p ${pedanova.chance(row.p_adjusted)}`}${isSure(row) ? "" : ", not above chance"}`;
  const choose = (row) => pedanova.state.change({ pair: [row.first, row.second] });

  /* --- up to eight: the lower half of a matrix, names on its diagonal --------------------------------------- */

  function matrix(given, pair) {
    const order = (pedanova.page.answer() || {}).importances || [], place = new Map(order.map((row, i) => [row.parameter, i]));
    const names = [...given].sort((a, b) => (place.get(a) ?? 99) - (place.get(b) ?? 99));
    const room = pane.width(list.body, 240, 560), left = Math.min(120, Math.max(64, room * 0.24));
    const size = Math.min(58, (room - left) / (names.length - 0.2)), high = size * names.length + 4;
    const drawing = svg("svg", { width: room, height: high, viewBox: `0 0 ${room} ${high}`, role: "radiogroup", "aria-label": "Pairs of parameters" });
    const cells = [], rows = [];
    names.forEach((name, i) => {
      if (i) drawing.append(label(name, left - 8, size * (i + 0.5), "end", left - 10));
      if (i < names.length - 1) drawing.append(label(name, left + size * i + 4, size * (i + 0.5) + 8, "start", room - left - size * i - 6, "top"));
      names.slice(0, i).forEach((other, j) => {
        const row = held.rows.find((one) => same(one, [name, other]));
        if (!row) return;
        rows.push(row);
        cells.push(cell(row, left + size * j, size * i, size, same(row, pair)));
      });
    });
    drawing.append(...cells);
    if (!cells.some((one) => one.getAttribute("tabindex") === "0") && cells.length) cells[0].setAttribute("tabindex", 0);
    pane.roving(cells, (at) => choose(rows[at]));
    return drawing;
  }

  function label(name, x, y, anchor, room, kind = "") {
    const text = svg("text", { x, y, class: `axis-name ${kind}`, "text-anchor": anchor, "dominant-baseline": "middle" });
    return fitted(text, name, room);
  }

  /* A name that fits, by letters of about six pixels; the whole one on hover. */
  function fitted(text, name, room) {
    const short = pedanova.nameOf(name), most = Math.max(3, Math.floor(room / 6.4));
    text.append(short.length > most ? `${short.slice(0, most - 1)}…` : short);
    return pedanova.tip(text, name);
  }

  function cell(row, x, y, size, chosen) {
    const sure = isSure(row), gap = 1.5, middle = size / 2;
    const group = svg("g", { class: `pair ${sure ? `sure heat${level(row.interaction)}` : "unsure"}`, role: "radio", "aria-checked": String(Boolean(chosen)), tabindex: chosen ? 0 : -1, "aria-label": words(row), transform: `translate(${x} ${y})` });
    group.append(svg("rect", { class: "cell", x: gap, y: gap, width: size - 2 * gap, height: size - 2 * gap, rx: 3 }));
    if (size >= 30) {
      const value = svg("text", { x: middle, y: middle + (sure ? 3 : 0), "text-anchor": "middle", "dominant-baseline": "middle" });
      value.append(pedanova.percent(row.interaction));
      group.append(value);
    }
    if (sure) group.append(svg("circle", { class: "dot", cx: middle, cy: size >= 30 ? 9 : middle, r: 3 }));
    if (chosen) group.append(svg("rect", { class: "chosen", x: gap, y: gap, width: size - 2 * gap, height: size - 2 * gap, rx: 3 }));
    return pedanova.tip(group, words(row));
  }

  function legend() {
    const named = ["<1 %", "1–3 %", "3–10 %", "10–30 %", ">30 %"].map((text, i) => make("span", `swatch heat${i}`, text));
    return make("p", "key-line", make("span", "dot-key", "● surely more than both alone"), ...named, make("span", "swatch unsure", "not above chance"));
  }

  /* --- beyond: the strongest, one below the other ------------------------------------------------------------ */

  function ranking(pair) {
    const rows = held.rows.slice(0, LISTED), most = Math.max(0.2, ...rows.map((row) => row.interaction));
    const items = rows.map((row) => {
      const bar = make("span", "bar"), fill = make("i");
      fill.style.width = `${(100 * Math.max(0, row.interaction)) / most}%`;
      bar.append(fill);
      const item = make("li", isSure(row) ? "sure" : "unsure",
        make("span", "pair-name", `${pedanova.nameOf(row.first)} × ${pedanova.nameOf(row.second)}`), bar,
        make("span", "value", `${isSure(row) ? "" : "~ "}${pedanova.percent(row.interaction)}`));
      const chosen = same(row, pair);
      return pedanova.tip(set(item, { role: "radio", "aria-checked": String(Boolean(chosen)), tabindex: chosen ? 0 : -1, "aria-label": words(row) }), words(row));
    });
    if (!items.some((one) => one.tabIndex === 0) && items.length) items[0].tabIndex = 0;
    pane.roving(items, (at) => choose(rows[at]));
    const whole = held.rows.length > LISTED ? make("p", "pane-note", `The ${LISTED} strongest of ${pedanova.count(held.rows.length)}; the CSV has all.`) : null;
    return make("div", "", set(make("ol", "pair-list", ...items), { role: "radiogroup", "aria-label": "Pairs of parameters" }), whole || "");
  }

  /* The matrix as it is seen, or the list. */
  function drawing() {
    if (!held || held.refused) return null;
    const rows = held.rows.slice(0, LISTED).map((row) => ({ name: `${pedanova.nameOf(row.first)} × ${pedanova.nameOf(row.second)}`, part: row.interaction, noise: !isSure(row) }));
    return list.body.querySelector("svg") || pedanova.exports.barsDrawing(`Two at a time, for ${pane.questionWords(pedanova.asked())}`, rows, 0.2);
  }

  function lines() {
    const keys = ["first", "second", "interaction", "closed", "additive", "redundancy", "p_adjusted", "significant"];
    return [keys, ...((held && held.rows) || []).map((row) => keys.map((key) => row[key]))];
  }

  pedanova.register({
    key: "pairs", title: "Pairs", mount, show,
    when: (facts) => { if (facts.parameters.length < 2) return false; const can = pedanova.source.can("pairs"); return can === true ? true : can; },
  });
  return { fitted };
})();
