/* The plane of two parameters: how frequent the target is in each cell, compared with all cells. */
"use strict";
pedanova.plane = (function () {
  const { make, svg, set, pane } = pedanova;
  const EXPECTED = 5; // target rows, below which a cell says little
  let place = null, asking = null, held = null, about = null, view = "cells", size = 0;
  let selects = [], scatter = null;
  const saved = { csv: lines, drawing: () => place.body.querySelector("svg, canvas") };

  function mount(piece) {
    place = piece;
    selects = ["x axis", "y axis"].map((title, which) => {
      const choice = set(make("select", ""), { "aria-label": `${title}: parameter` });
      for (const one of pedanova.facts.parameters) choice.append(set(make("option", "", pedanova.nameOf(one.name)), { value: one.name }));
      choice.addEventListener("change", () => pick(which, choice.value));
      return choice;
    });
    piece.note.before(make("div", "plane-picks", make("label", "", "x axis ", selects[0]), make("label", "", "y axis ", selects[1]), views()));
    asking = pane.asker("plane", piece.element, (found, how) => { held = found; about = how; draw(); });
  }

  /* Counts by cell, or (live) single trials to be selected. */
  function views() {
    if (!pedanova.source.isLive() || pedanova.source.can("points") !== true) return "";
    const buttons = [["cells", "Counts"], ["trials", "Trials"]].map(([key, title]) => {
      const one = pedanova.button(title, key === "cells" ? "Show the number of rows in each cell" : "Show individual trials; drag a box to select some of them", () => {
        view = key;
        buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === one)));
        show(pedanova.state.get(), pedanova.page.answer() || {}, [selects[0].value, selects[1].value]);
      });
      return set(one, { "aria-pressed": String(key === view) });
    });
    return make("span", "switch", ...buttons);
  }

  function pick(which, name) {
    const pair = [selects[0].value, selects[1].value];
    if (pair[0] === pair[1]) pair[1 - which] = pedanova.facts.parameters.map((one) => one.name).find((other) => other !== name);
    pedanova.state.change({ pair });
  }

  function show(state, answer, pair) {
    if (!pair) return;
    selects.forEach((choice, i) => { choice.value = pair[i]; });
    if (view === "trials") {
      pane.said(place.note, "");
      scatter = scatter || pedanova.scatter("points", ([x, y]) => ({ x, y }), "Good rows are filled. Rows with a missing value are at the edge.");
      scatter.show(place, state, answer, pair);
      return;
    }
    const [first, second] = inFile(state, pair);
    if (!asking.follow(state, answer, { first, second }) && place.body.clientWidth !== size) draw();
  }

  /* A file has each plane once, either way round. */
  function inFile(state, [a, b]) {
    if (pedanova.source.isLive()) return [a, b];
    const has = (first, second) => [pedanova.asked(state), pedanova.state.first().question].some((question) => pedanova.source.known("plane", question, { first, second }));
    return has(a, b) ? [a, b] : [b, a];
  }

  /* The answer with the wished parameter across. */
  function oriented() {
    if (held.first === selects[0].value) return held;
    const turn = (rows) => rows[0].map((_, j) => rows.map((row) => row[j]));
    return { ...held, first: held.second, second: held.first, first_cells: held.second_cells, second_cells: held.first_cells, target: turn(held.target), region: turn(held.region) };
  }

  function draw() {
    if (view !== "cells" || !held) return;
    size = place.body.clientWidth;
    if (pane.refuses(held, place)) return;
    const found = oriented();
    pane.said(place.note, about.moved ? `Shown for ${pane.questionWords(about.question)}. This file has no figure for the current question.`
      : "Each cell shows how many of its rows are good. The colour shows whether good rows are more or less frequent than in the whole figure. In hatched cells, fewer than five good rows are expected.", about.moved ? "warned" : "");
    pane.clear(place.body, picture(found), scale());
  }

  const total = (rows) => rows.reduce((sum, row) => sum + row.reduce((a, b) => a + b, 0), 0);

  function picture(found) {
    const [across, up] = [found.first_cells.length, found.second_cells.length];
    const room = pane.width(place.body, 260, 720), left = room < 420 ? 84 : 132;
    const wide = (room - left - 6) / across, high = Math.min(46, Math.max(30, wide * 0.62));
    const turned = wide < 56 || Math.max(...found.first_cells.map((name) => 6.2 * name.length)) > wide, foot = turned ? 104 : 52, tall = high * up + foot + 20;
    const whole = total(found.target) / Math.max(1, total(found.region));
    const drawing = svg("svg", { width: room, height: tall, viewBox: `0 0 ${room} ${tall}`, role: "img", "aria-label": inWords(found, whole) });
    drawing.append(hatching());
    for (let i = 0; i < across; i += 1) {
      for (let j = 0; j < up; j += 1) {
        drawing.append(cell(found, i, j, whole, left + i * wide, 18 + (up - 1 - j) * high, wide, high));
      }
    }
    found.second_cells.forEach((name, j) => drawing.append(label(name, left - 6, 18 + (up - 0.5 - j) * high, "end", left - 8)));
    found.first_cells.forEach((name, i) => drawing.append(turned ? label(name, left + (i + 0.5) * wide, 18 + up * high + 12, "end", 105, "rotate(-50)") : label(name, left + (i + 0.5) * wide, 18 + up * high + 13, "middle", wide - 4)));
    drawing.append(pedanova.pairs.fitted(svg("text", { class: "axis-name", x: left + (across * wide) / 2, y: tall - 6, "text-anchor": "middle" }), found.first, room - left),
      pedanova.pairs.fitted(svg("text", { class: "axis-name", x: 2, y: 10 }), found.second, room));
    return drawing;
  }

  const hatching = () => svg("defs", {}, svg("pattern", { id: "few-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("line", { class: "hatch", x1: 0, y1: 0, x2: 0, y2: 6 })));

  /* ¼ … 4 times on a scale of five colours, even in log₂. */
  const liftPlace = (lift) => Math.min(4, Math.max(0, Math.log2(Math.max(lift, 0.25)) + 2));

  function tint(element, lift) {
    const at = liftPlace(lift), first = Math.min(3, Math.floor(at)), part = Math.round(100 * (at - first));
    element.style.fill = `color-mix(in srgb, var(--lift-${first + 1}) ${part}%, var(--lift-${first}))`;
  }

  function cell(found, i, j, whole, x, y, wide, high) {
    const [good, all] = [found.target[i][j], found.region[i][j]], expected = all * whole;
    const lift = all ? good / expected : 1, few = expected < EXPECTED;
    const seen = few ? (good + 1) / (expected + 1) : lift;
    const group = svg("g", { class: `plane-cell${all ? "" : " empty"}${few ? " few" : ""}${liftPlace(seen) > 3.35 ? " deep" : ""}${liftPlace(seen) > 2.3 ? " bright" : ""}` });
    const ground = svg("rect", { class: "cell", x: x + 0.75, y: y + 0.75, width: wide - 1.5, height: high - 1.5 });
    if (all) tint(ground, seen); // what is hardly expected is drawn towards 1×
    group.append(ground);
    if (few && all) group.append(svg("rect", { class: "few-mark", x: x + 0.75, y: y + 0.75, width: wide - 1.5, height: high - 1.5, fill: "url(#few-hatch)" }));
    if (all && wide >= 26) {
      const roomy = wide >= 58, text = svg("text", { x: x + wide / 2, y: y + high / 2, "text-anchor": "middle", "dominant-baseline": "central" });
      text.append(svg("tspan", { class: "good-many" }, pedanova.count(good)));
      if (roomy) text.append(svg("tspan", { class: "all-many" }, ` of ${pedanova.count(all)}`));
      group.append(text);
    }
    const told = `${found.first} ${found.first_cells[i]}\n${found.second} ${found.second_cells[j]}\n`
      + (all ? `${pedanova.count(good)} of ${pedanova.count(all)} rows are good: ${pedanova.times(lift)} as often as in the whole figure${few ? `\nonly ${pedanova.short(expected, 2)} good rows are expected, so the difference may be chance` : ""}` : "no rows");
    return pedanova.tip(group, told);
  }

  /* A label as long as its room; the whole one on hover. */
  function label(name, x, y, anchor, room, turn = "") {
    const most = Math.max(3, Math.floor(room / 6.2)), text = svg("text", { class: "tick", "text-anchor": anchor, "dominant-baseline": "middle", transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) ${turn}` });
    text.append(name.length > most ? `${name.slice(0, most - 1)}…` : name);
    return pedanova.tip(text, name);
  }

  function scale() {
    const named = ["¼× or less", "½×", "1×", "2×", "4× or more"].map((text, i) => {
      const swatch = make("span", "swatch", text);
      swatch.style.setProperty("--swatch", `var(--lift-${i})`);
      return swatch;
    });
    return make("p", "key-line", ...named, make("span", "swatch hatched", "few good rows expected"));
  }

  function inWords(found, whole) {
    let best = null;
    found.region.forEach((row, i) => row.forEach((all, j) => {
      const lift = all * whole >= EXPECTED ? found.target[i][j] / (all * whole) : 0;
      if (!best || lift > best.lift) best = { lift, i, j };
    }));
    const where = best && best.lift ? `; most often where ${found.first} is ${found.first_cells[best.i]} and ${found.second} is ${found.second_cells[best.j]} (${pedanova.times(best.lift)})` : "";
    return `Good rows by ${found.first} and ${found.second}${where}`;
  }

  function lines() {
    if (!held || held.refused) return [["first", "second", "target", "region"]];
    const found = oriented();
    return [[found.first, found.second, "target", "region"],
      ...found.first_cells.flatMap((a, i) => found.second_cells.map((b, j) => [a, b, found.target[i][j], found.region[i][j]]))];
  }

  return { mount, saved, show, liftPlace };
})();
