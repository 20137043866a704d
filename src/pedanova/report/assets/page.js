"use strict";
/* The sliders and switches, and one place where everything is drawn anew. */
(function () {
  const { data, state, question, answer, counted, make, byId, cards, room, theme } = pedanova;
  const last = data.rungs.length - 1;
  let waiting = 0;
  let held = null; // both sliders before the present drag

  function describe(which) {
    const own = state.own !== null;
    const rung = data.rungs[state[which]];
    const place = which === "target" ? 0 : 1;
    const words = own ? question().words[place] : rung.words;
    const rows = own ? question().sizes[place] : rung.rows;
    const output = byId(`${which}-words`);
    const detail = [`${counted(rows)} ${rows === 1 ? "row" : "rows"}`, own ? "" : rung.where].filter(Boolean).join(" · ");
    output.replaceChildren(words, make("small", "", detail));
    const slider = byId(which);
    slider.value = state[which];
    slider.disabled = own;
    slider.setAttribute("aria-valuetext", `${words}, ${detail}`);
  }

  const summaryOf = (found) => data.texts[found.summary].replaceAll(" %", "\u00a0%");
  pedanova.summaryOf = summaryOf;

  function draw() {
    waiting = 0;
    const begin = performance.now();
    describe("target");
    describe("region");
    byId("summary").textContent = summaryOf(answer());
    cards.showImportance();
    cards.showDensity();
    cards.showProfile();
    cards.showObjective();
    pedanova.pairs.show(choosePair);
    pedanova.drawn = (pedanova.drawn || 0) + 1; // how often, for whoever measures
    pedanova.took = performance.now() - begin;
  }

  function soon() {
    if (!waiting) waiting = requestAnimationFrame(draw);
  }

  /* The region stays wider than the target. What one slider pushes the other to is kept when it is let go. */
  function move(which, value) {
    state[which] = value;
    if (which === "target") state.region = Math.max(held.region, value + 1);
    else state.target = Math.min(held.target, value - 1);
    soon();
  }

  function letGo() {
    held = { target: state.target, region: state.region };
    requestAnimationFrame(cards.orderBars);
  }

  function choose(id) {
    state.chosen = id;
    room.reserveDensity();
    soon();
  }

  function choosePair(key) {
    state.pair = key;
    soon();
  }

  function wireSliders() {
    const ends = { target: [0, last - 1], region: [1, last] };
    for (const [which, [low, high]] of Object.entries(ends)) {
      const slider = byId(which);
      slider.min = low;
      slider.max = high;
      slider.addEventListener("input", () => move(which, Number(slider.value)));
      slider.addEventListener("change", letGo);
      slider.disabled = high <= low;
      const ticks = make("div", "ticks");
      ticks.setAttribute("aria-hidden", "true");
      for (let i = low; i <= high; i += 1) {
        const tick = make("span", "", `${pedanova.short(data.rungs[i].percent)} %`);
        tick.style.left = `${(100 * (i - low)) / Math.max(1, high - low)}%`;
        ticks.append(tick);
      }
      slider.after(ticks);
    }
  }

  function wireSwitches() {
    document.querySelectorAll(".switch input").forEach((radio) => {
      radio.checked = state[radio.name] === radio.value;
      radio.addEventListener("change", () => {
        state[radio.name] = radio.value;
        if (radio.name === "baseline") room.reserve();
        soon();
        requestAnimationFrame(cards.orderBars);
      });
    });
    byId("theme").addEventListener("click", () => theme.toggle());
    theme.whenChanged(() => { if (pedanova.drawn) draw(); });
  }

  /* Questions that the sliders cannot ask, such as a box. */
  function wireNamed() {
    const select = byId("named");
    if (!select) return;
    const sliding = make("option", "", "the best part of the rows, by the sliders");
    sliding.value = "";
    select.append(sliding);
    data.questions.forEach((one, index) => {
      if (one.rungs) return;
      const option = make("option", "", `${one.words[0]} in ${one.words[1]}`);
      option.value = index;
      select.append(option);
    });
    select.value = state.own === null ? "" : state.own;
    select.addEventListener("change", () => {
      state.own = select.value === "" ? null : Number(select.value);
      soon();
      requestAnimationFrame(cards.orderBars);
    });
  }

  function start() {
    const first = data.questions[data.start];
    if (first.rungs) [state.target, state.region] = first.rungs;
    else { state.own = data.start; [state.target, state.region] = [Math.max(0, last - 1), last]; }
    held = { target: state.target, region: state.region };
    const rows = pedanova.rowsOf(first.answers[state.baseline]);
    state.chosen = rows.length ? rows[0].id : 0;
    theme.apply();
    cards.makeBars(choose);
    wireSliders();
    wireSwitches();
    wireNamed();
    draw();
    room.reserve();
    window.addEventListener("resize", room.reserve);
    window.addEventListener("beforeprint", () => { byId("remarks").parentElement.open = true; });
    cards.orderBars();
  }

  start();
})();
