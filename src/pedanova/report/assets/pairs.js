/* Which two parameters matter together: the strongest, and the plane of the chosen two. */
"use strict";
pedanova.pairs = (function () {
  const { make, svg, set, pane } = pedanova;
  const LISTED = 28;
  let list = null, asking = null, held = null, drawnFor = "";

  function mount(element) {
    list = pane.piece("pairs", "Pairs of parameters", { csv: lines, drawing });
    const plane = pane.piece("plane", "Two parameters", pedanova.plane.saved);
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

  const isSure = (row) => row.significant === true;

  function draw(found, { moved, question }) {
    held = found;
    drawnFor = "";
    if (!pane.refuses(found, list)) {
      const sure = found.rows.filter(isSure).length;
      const what = !found.rows.length ? "There are fewer than two parameters."
        : sure ? `${pedanova.count(sure)} of ${pedanova.plural(found.rows.length, "pair")} ${sure === 1 ? "has" : "have"} a clear interaction: the two parameters explain more together than the sum of what each explains alone.`
          : "No pair has a clear interaction. An interaction is what two parameters explain together, beyond what each explains alone.";
      pane.said(list.note, moved ? `Shown for ${pane.questionWords(question)}. This file contains no pairs of parameters for the current question.` : what, moved ? "warned" : "");
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
    pane.clear(list.body, ranking(pair));
    if (focused) { const here = list.body.querySelector("[aria-checked=true]"); if (here) here.focus(); }
  }

  const same = (row, pair) => pair && ((row.first === pair[0] && row.second === pair[1]) || (row.first === pair[1] && row.second === pair[0]));
  const words = (row) => `${row.first} and ${row.second}: interaction ${pedanova.percent(row.interaction)}`
    + `${row.low === null ? "" : ` (${pedanova.percent(row.low)} to ${pedanova.percent(row.high)})`}`
    + `${row.p_adjusted === null ? "" : `, p ${pedanova.chance(row.p_adjusted)}`}${isSure(row) ? "" : `, ${pedanova.unclear(row.interaction)}`}`;
  const choose = (row) => pedanova.state.change({ pair: [row.first, row.second] });

  /* A name that fits, by letters of about six pixels; the whole one on hover. */
  function fitted(text, name, room) {
    const short = pedanova.nameOf(name), most = Math.max(3, Math.floor(room / 6.4));
    text.append(short.length > most ? `${short.slice(0, most - 1)}…` : short);
    return pedanova.tip(text, name);
  }

  /* The strongest, one below the other. */
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
    const whole = held.rows.length > LISTED ? make("p", "pane-note", `These are the ${LISTED} strongest of ${pedanova.count(held.rows.length)} pairs; the CSV has all.`) : null;
    return make("div", "", set(make("ol", "pair-list", ...items), { role: "radiogroup", "aria-label": "Pairs of parameters" }), whole || "");
  }

  /* The list as a drawing. */
  function drawing() {
    if (!held || held.refused) return null;
    const rows = held.rows.slice(0, LISTED).map((row) => ({ name: `${pedanova.nameOf(row.first)} × ${pedanova.nameOf(row.second)}`, part: row.interaction, noise: !isSure(row) }));
    return pedanova.exports.barsDrawing(`Pairs of parameters, for ${pane.questionWords(pedanova.asked())}`, rows, 0.2);
  }

  function lines() {
    const keys = ["first", "second", "interaction", "closed", "additive", "redundancy", "low", "high", "p_adjusted", "significant"];
    return [keys, ...((held && held.rows) || []).map((row) => keys.map((key) => row[key]))];
  }

  pedanova.register({ key: "pairs", title: "Pairs", mount, show, when: (facts) => facts.parameters.length > 1 && pedanova.source.can("pairs") });
  return { fitted };
})();
