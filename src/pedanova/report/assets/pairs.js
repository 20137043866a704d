"use strict";
/* Pairs of parameters: the heat map and the plane of two. */
pedanova.pairs = (function () {
  const { data, state, question, short, make, byId, charts, tables } = pedanova;
  const keyOf = (row) => `${row[0]},${row[1]}`;
  let listed = null; // the pairs that the select holds

  /* Those of the present question, else those of the first one. */
  function found() {
    const own = question();
    return own.pairs ? { asked: own, pairs: own.pairs } : { asked: data.questions[data.start], pairs: data.questions[data.start].pairs };
  }

  function show(choose) {
    if (!byId("pairs-chart")) return;
    const { asked, pairs } = found();
    if (!pairs || !pairs.rows) return showNothing(pairs ? pairs.refused : "pairs were not counted");
    if (state.pair === null || !pairs.rows.some((row) => keyOf(row) === state.pair)) state.pair = keyOf(pairs.rows[0]);
    list(pairs.rows, choose);
    heat(pairs, asked, choose);
    plane(pairs.rows.find((row) => keyOf(row) === state.pair), asked);
  }

  function showNothing(why) {
    ["pairs", "plane"].forEach((key) => {
      charts.clear(key);
      byId(`${key}-note`).textContent = `Not available: ${why}`;
      tables.keep(key, () => ({ header: [], rows: [] }));
    });
    byId("pair").replaceChildren();
    byId("pair").parentElement.style.visibility = "hidden";
    byId("pair").parentElement.hidden = !data.questions.some((one) => one.pairs && one.pairs.rows);
    listed = null;
  }

  function list(rows, choose) {
    const select = byId("pair");
    const keys = rows.map(keyOf).sort().join(" ");
    if (keys !== listed) {
      select.parentElement.hidden = false;
      select.parentElement.style.visibility = "";
      select.replaceChildren(...rows.map((row) => {
        const option = make("option", "", `${data.names[row[0]]} × ${data.names[row[1]]}`);
        option.value = keyOf(row);
        return option;
      }));
      select.onchange = () => choose(select.value);
      listed = keys;
    }
    select.value = state.pair;
  }

  function order(rows) {
    return [...new Set(rows.flatMap((row) => [row[0], row[1]]))].sort((a, b) => a - b);
  }

  function heat(pairs, asked, choose) {
    const places = order(pairs.rows);
    const names = places.map((id) => data.names[id]);
    const cells = pairs.rows.map((row) => {
      const [i, j] = [places.indexOf(row[0]), places.indexOf(row[1])].sort((a, b) => a - b);
      return {
        i, j, key: keyOf(row), value: 100 * Math.max(0, row[2]), sure: row[7], picked: keyOf(row) === state.pair,
      };
    });
    const [target, region] = asked.words;
    const label = `What pairs of parameters explain beyond the sum of both, for ${target} in ${region}; strongest: ${names[cells[0].i]} and ${names[cells[0].j]}`;
    charts.show("pairs", { spec: "pairs", height: Math.max(220, 110 + 26 * places.length), rows: { cells }, words: { names }, label, click: (datum) => datum.key && choose(datum.key) });
    byId("pairs-note").textContent = pairsNote(asked);
    const header = ["pair", "beyond the sum (%)", "together (%)", "added (%)", "overlap (%)", "p, adjusted"];
    tables.keep("pairs", () => ({
      header,
      rows: pairs.rows.map((row) => [`${data.names[row[0]]} × ${data.names[row[1]]}`, ...row.slice(2, 6).map((part) => 100 * part), row[6]]),
    }));
  }

  function plane(row, asked) {
    const [firsts, seconds] = row.slice(8, 10).map((id) => data.vectors[id]);
    const [target, region] = row.slice(10, 12).map(pedanova.counts);
    const names = [data.names[row[0]], data.names[row[1]]];
    const cells = [];
    firsts.forEach((first, i) => seconds.forEach((second, j) => {
      const at = i * seconds.length + j;
      cells.push({ first, second, i, j, target: target[at], region: region[at], lift: region[at] ? target[at] / region[at] / row[12] : null });
    }));
    const [wanted, base] = asked.words;
    const label = `${names[0]} and ${names[1]} together: how much more likely ${wanted} is than in ${base} as a whole`;
    const rows = { plane: cells.filter((cell) => cell.region > 0).map(({ i, j, lift: times }) => ({ i, j, lift: times })) };
    charts.show("plane", { spec: "plane", height: 340, rows, words: { firsts, seconds }, label });
    byId("plane-note").textContent = planeNote(row, asked);
    tables.keep("plane", () => ({
      header: [names[0], names[1], "target rows", "region rows", "times as likely"],
      rows: cells.map((cell) => [cell.first, cell.second, cell.target, cell.region, cell.lift === null ? "" : short(cell.lift)]),
    }));
  }

  function pairsNote({ words: [target, region], pairs }) {
    const count = order(pairs.rows).length;
    return `For ${target} in ${region}.${count < data.names.length ? ` The ${count} most important parameters.` : ""}`;
  }

  const planeNote = (row, { words: [target, region] }) => `Across: ${data.names[row[0]]}. Up: ${data.names[row[1]]}. For ${target} in ${region}.`;

  return { show, pairsNote, planeNote };
})();

/* The legend of the profile: colour and shape of the parameters that matter most. */
pedanova.legend = (function () {
  const { data, state, make, byId } = pedanova;
  const SHAPES = [
    "M7 2a5 5 0 1 0 .01 0z", "M2.5 2.5h9v9h-9z", "M7 2l5.5 9.5h-11z", "M7 1l5 6-5 6-5-6z",
    "M5 1h4v4h4v4h-4v4h-4v-4h-4v-4h4z", "M7 12L1.500 2.500h11z",
  ];

  let last = null; // the parameter that is drawn bold

  function mark(slot) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    const path = document.createElementNS(space, "path");
    svg.setAttribute("width", "14");
    svg.setAttribute("height", "14");
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", SHAPES[slot]);
    path.style.fill = `var(--c${slot})`;
    svg.append(path);
    return svg;
  }

  function show() {
    if (last === state.chosen) return;
    last = state.chosen;
    const shown = data.names.map((name, id) => ({ name, id, slot: data.slots[id] })).filter((one) => one.slot >= 0);
    shown.sort((a, b) => a.slot - b.slot);
    const others = data.names.length - shown.length;
    const items = shown.map(({ name, id, slot }) => {
      const item = make("li", id === state.chosen ? "is" : "");
      item.append(mark(slot), make("span", "", name));
      return item;
    });
    if (others) items.push(make("li", "", `grey: ${others} more`));
    byId("profile-legend").replaceChildren(...items);
  }

  return { show };
})();
