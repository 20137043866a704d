/* Importance for one target after the other, inside the region: does what matters change the stricter we get? */
"use strict";
pedanova.targets = (function () {
  const { make, svg, pane } = pedanova;
  const MANY = 200000; // rows, beyond which intervals for every target would take too long
  const LINES = 6; // drawn with names; what never beats chance is pale and has none
  let piece = null, steps = null, asked = "", shownFor = "", refused = "";

  function mount(element) {
    piece = pane.piece("targets", "Importance by target", { csv: lines, drawing: () => piece.body.querySelector("svg") });
    element.append(piece.element);
    pane.coding(piece.element, () => Object.fromEntries(["python", "shell"].map((key) => [key, (steps || []).map((step) => (step.lines || {})[key]).filter(Boolean).join("\n")])));
  }

  function show(state, answer) {
    const question = pedanova.asked(state), parts = partsOf(question);
    const key = `${pane.age()} ${pedanova.source.keyOf("targets", { ...question, target: null }, { parts })}`;
    if (key !== asked) {
      piece.element.setAttribute("aria-busy", "true");
      if (!(answer.pending && steps)) { asked = key; ask(question, parts); }
    }
    const drawn = JSON.stringify([asked, state.chosen, question.target, piece.body.clientWidth]);
    if (drawn !== shownFor) { shownFor = drawn; draw(state, question); }
  }

  /* Rungs inside the region. */
  function partsOf(question) {
    const most = question.region.part ? question.region.part[1] : 1, least = question.region.part ? question.region.part[0] : 0;
    return pedanova.facts.rungs.map((rung) => rung.part).filter((part) => part < most && part > least);
  }

  async function ask(question, parts) {
    const mine = asked;
    try {
      const found = await answers(question, parts);
      if (mine !== asked) return;
      [steps, refused] = [found.steps || [], found.refused || ""];
      piece.element.removeAttribute("aria-busy");
      shownFor = "";
      show(pedanova.state.get(), pedanova.page.answer() || {});
    } catch (error) {
      if (error !== pedanova.STALE) throw error;
    }
  }

  /* The answer for each target, the same as if the user selected it. */
  async function answers(question, parts) {
    const from = question.region.part ? question.region.part[0] : 0, sure = !pedanova.source.isLive() || pedanova.facts.rows <= MANY;
    const asks = parts.map((part) => pedanova.source.ask("answer", { ...question, target: { part: [from, part] } }, { sure }, { slot: `targets ${part}` }));
    const given = await Promise.all(asks);
    const known = given.map((one, i) => (one.refused ? null : { part: parts[i], rows: one.rows.target, lines: one.lines, of: new Map(one.importances.map((row) => [row.parameter, row])) })).filter(Boolean);
    return known.length ? { steps: known } : { refused: (given[0] || {}).refused || "There is no target inside this region." };
  }

  /* Steps that differ from the previous step in their rows. */
  const distinct = () => steps.filter((step, i) => i === 0 || step.rows !== steps[i - 1].rows);
  const numberOf = (row) => (row ? Math.max(0, row.share) : null);
  const isSure = (row) => Boolean(row) && row.significant !== false;

  /* Parameters with a clear effect at any target come first, then the others; sorted by their largest share. */
  function ranked(found) {
    const names = [...found[0].of.keys()];
    const most = new Map(names.map((name) => [name, Math.max(...found.map((step) => numberOf(step.of.get(name)) || 0))]));
    const sure = new Map(names.map((name) => [name, found.some((step) => isSure(step.of.get(name)))]));
    return names.sort((a, b) => sure.get(b) - sure.get(a) || most.get(b) - most.get(a)).map((name) => ({ name, sure: sure.get(name), most: most.get(name) }));
  }

  function draw(state, question) {
    if (!steps) return;
    const chosen = pane.selectionWords(question);
    pane.said(piece.note, `Importance of each parameter for targets from strict to easy${chosen ? `; only rows with ${chosen}` : ""}. Click a target to select it. Colours mark parameters with a clear effect at some target (the ${LINES} strongest, if there are more). All others are pale.`);
    if (refused || !steps.length) {
      pane.clear(piece.body, make("p", "refused", refused || "No target inside this region has enough rows for an answer."));
      return;
    }
    const found = distinct(), order = ranked(found);
    pane.clear(piece.body, chart(found, order, state, question));
  }

  function chart(found, order, state, question) {
    const room = pane.width(piece.body, 280, 1180), small = room < 520, right = small ? 96 : 150, left = 46, top = 14, high = small ? 220 : 300, foot = 54;
    const most = Math.max(0.05, ...order.map((one) => one.most)) * 1.06;
    const x = found.length > 1 ? pedanova.scales.log([found[0].part, found[found.length - 1].part], [left + 14, room - right]) : { x: () => (left + room - right) / 2 };
    const y = pedanova.scales.linear([0, most], [top + high, top]);
    const drawing = svg("svg", { width: room, height: top + high + foot, viewBox: `0 0 ${room} ${top + high + foot}`, role: "group", "aria-label": "Importance by target" });
    drawing.append(...pane.gridLines(y, left, room - right));
    const columns = found.map((step, i) => column(found, i, x, top, high, question));
    drawing.append(...columns);
    const named = order.slice(0, LINES).filter((one) => one.sure);
    order.filter((one) => !named.includes(one)).forEach((one) => drawing.append(curve(found, one, x, y, -1, state)));
    named.slice().reverse().forEach((one) => drawing.append(curve(found, one, x, y, named.indexOf(one), state)));
    const last = found[found.length - 1].of;
    const wanted = named.map((one, place) => ({ name: one.name, place, y: y.x(numberOf(last.get(one.name)) || 0) }));
    drawing.append(...pane.endLabels(wanted, top + high, room - right, right, state));
    drawing.append(svg("text", { class: "axis-name", x: (left + room - right) / 2, y: top + high + foot - 6, "text-anchor": "middle" }, pedanova.selects(question) && question.good === "selection" ? "target: the best … of the selected rows" : "target: the best … of all rows"));
    pane.roving(columns, (at) => choose(found[at].part));
    return drawing;
  }

  const isHere = (part, question) => Boolean(question.target.part) && Math.abs(question.target.part[1] - part) < 1e-12;

  const choose = (part) => {
    const question = pedanova.state.get().question, from = question.region.part ? question.region.part[0] : 0;
    pedanova.state.ask({ target: { part: [from, part] } });
  };

  function column(found, i, x, top, high, question) {
    const step = found[i], here = isHere(step.part, question), at = x.x(step.part);
    const from = i ? (at + x.x(found[i - 1].part)) / 2 : at - 16, to = i < found.length - 1 ? (at + x.x(found[i + 1].part)) / 2 : at + 16;
    const group = svg("g", { class: here ? "target-step here" : "target-step", role: "radio", "aria-checked": String(here), tabindex: here || (!i && !found.some((one) => isHere(one.part, question))) ? 0 : -1, "aria-label": `Target: the best ${pane.partWords(step.part)}, ${pedanova.plural(step.rows, "row")}` });
    group.append(svg("rect", { class: "catch", x: from, y: top, width: Math.max(2, to - from), height: high + 34 }),
      svg("line", { class: "at", x1: at, x2: at, y1: top, y2: top + high }),
      svg("text", { class: "tick", x: at, y: top + high + 15, "text-anchor": "middle" }, pane.partWords(step.part)));
    if (to - from > 34) group.append(svg("text", { class: "tick faint", x: at, y: top + high + 28, "text-anchor": "middle" }, pedanova.count(step.rows)));
    return pedanova.tip(group, () => `the best ${pane.partWords(step.part)}: ${pedanova.plural(step.rows, "row")}\n${ranked([step]).slice(0, LINES).map((one) => `${pedanova.nameOf(one.name)} ${pedanova.percent(one.most)}${isSure(step.of.get(one.name)) ? "" : " ~"}`).join("\n")}`);
  }

  function curve(found, one, x, y, place, state) {
    const chosen = state.chosen === one.name;
    const group = svg("g", { class: `target-line ${place < 0 ? "pale" : `line-${place}`}${chosen ? " chosen" : ""}` });
    const points = found.map((step) => [x.x(step.part), y.x(numberOf(step.of.get(one.name)) || 0), step.of.get(one.name)]);
    group.append(svg("path", { d: points.map(([px, py], i) => `${i ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`).join("") }));
    if (place >= 0) points.forEach(([cx, cy, row]) => group.append(svg("circle", { class: isSure(row) ? "marker" : "marker hollow", cx, cy, r: 4 })));
    return group;
  }

  function lines() {
    const keys = ["share", "ratio", "low", "high", "p_adjusted", "significant", "n_target", "n_region"];
    return [["target", "parameter", ...keys], ...(steps || []).flatMap((step) => [...step.of].map(([name, row]) => [step.part, name, ...keys.map((key) => row[key])]))];
  }

  pedanova.register({ key: "targets", title: "Targets", mount, show, when: (facts) => facts.rungs.length > 2 });
  return {};
})();
