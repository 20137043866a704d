/* The trials that are selected, best first: sorted by a click, filtered by any column, hovered to see them in every card,
   two of them side by side, saved as CSV. */
"use strict";
pedanova.trials = (function () {
  const { make, set, pane } = pedanova;
  const PAGE = 50, CHUNK = 2000;
  let piece = null, foot = null, side = null, asking = null, held = null, offset = 0, asked = "", pins = []; // the last two rows that were clicked
  const sorted = { key: null, descending: false };

  function mount(element) {
    piece = pane.piece("trials", "Trials in the selection", { csv: everything });
    foot = make("div", "pager");
    side = make("div", "pins");
    const list = set(make("select", "chip-choice"), { "aria-label": "Filter by a column" }), field = make("span", "chip");
    list.append(...[["", "filter by …"], ...[...pedanova.byName.values()].filter((one) => one.brush).map((one) => [one.name, pedanova.nameOf(one.name)])].map(([value, words]) => set(make("option", "", words), { value })));
    list.addEventListener("change", () => { if (list.value) pedanova.chips.type(field, list.value); list.value = ""; });
    piece.tools.prepend(list, field);
    element.append(piece.element);
    piece.element.append(foot, side);
    asking = pane.asker("trials", piece.element, draw);
    pedanova.hover.subscribe(mark);
  }

  function show(state, answer) {
    const now = pedanova.source.keyOf("trials", pedanova.asked(state));
    if (now !== asked) { asked = now; offset = 0; }
    const sort = state.sort && state.sort.key ? state.sort : { key: null, descending: false };
    if (sort.key !== sorted.key || sort.descending !== sorted.descending) { Object.assign(sorted, sort); offset = 0; }
    asking.follow(state, answer, extra(offset, PAGE));
  }

  const extra = (from, limit) => ({ ...(sorted.key ? { sort: sorted.key, descending: sorted.descending } : {}), offset: from, limit, ...(limit === PAGE ? pane.some(pedanova.facts.columns.filter((one) => !one.goal).map((one) => one.name)) : {}) });

  function draw(found) {
    held = found;
    if (pane.refuses(found, piece, foot)) return;
    const rows = pane.rowsOf(found), chosen = pane.selectionWords(pedanova.asked());
    pane.said(piece.note, `${pedanova.plural(found.total, "row")}${chosen ? ` with ${chosen}` : ""}${sorted.key ? `, sorted by ${sorted.key}` : ", best first"}. ● marks rows in the target. Hover over a row to see it in every card; click to keep it highlighted, and click a second row to compare the two.${pane.cut()}`);
    const scroll = set(make("div", "scroll trials-scroll", grid(found, rows)), { tabindex: 0, role: "region", "aria-label": "Trials" });
    const [left, top] = piece.body.firstChild && piece.body.firstChild.classList.contains("trials-scroll") ? [piece.body.firstChild.scrollLeft, 0] : [0, 0];
    pane.clear(piece.body, scroll);
    if (left || top) scroll.scrollTo(left, top);
    pager(found);
    mark(pedanova.hover.row || pinned());
    compare(found);
  }

  function grid(found, rows) {
    const names = [...found.objectives, ...found.parameters], numbers = new Set(names.filter((name) => rows.some((row) => typeof row.values[name] === "number"))), first = rows.some((row) => row.trial !== null) ? "trial" : "row";
    const top = make("tr", "", header(found.own.row, first), set(make("th", "in", ""), { scope: "col", "aria-label": "in the target" }), ...names.map((name) => header(name, pedanova.nameOf(name), numbers.has(name))));
    const lines = rows.map((row) => line(row, names, numbers, first));
    const table = make("table", "trials-table", make("thead", "", top), make("tbody", "", ...lines));
    return pedanova.tip(table, (event) => (event.target.dataset && event.target.dataset.whole) || ""); // one for all cells
  }

  function header(name, title, isNumber = true) {
    const here = sorted.key === name || (sorted.key === null && name === pedanova.facts.objective.name);
    const down = sorted.key === null ? pedanova.facts.objective.direction === "maximize" : sorted.descending;
    const press = make("button", "sort", title, make("span", "arrow", here ? (down ? " ↓" : " ↑") : ""));
    set(press, { type: "button" });
    pedanova.tip(press, `${name}\nclick to sort`);
    press.addEventListener("click", () => {
      const again = sorted.key === name;
      pedanova.state.change({ sort: again && sorted.descending ? null : { key: name, descending: again } });
      requestAnimationFrame(() => requestAnimationFrame(() => { const back = [...piece.body.querySelectorAll("button.sort")].find((one) => one.firstChild.textContent === title); if (back) back.focus(); }));
    });
    return set(make("th", isNumber ? "number" : "", press), { scope: "col", "aria-sort": here ? (down ? "descending" : "ascending") : "none" });
  }

  function line(row, names, numbers, first) {
    const key = row[first] ?? row.row;
    const press = set(make("button", "row-name", String(key)), { type: "button", "aria-pressed": String(isPinned(row)), "aria-label": `${first} ${key}: show on every card` });
    const element = make("tr", row.in === "target" ? "good" : "", set(make("th", "number", press), { scope: "row" }),
      make("td", "in", row.in === "target" ? set(make("span", "", "●"), { role: "img", "aria-label": "in the target" }) : ""),
      ...names.map((name) => cell(row.values[name], numbers.has(name))));
    element.dataset.row = row.row;
    element.addEventListener("pointerenter", () => pedanova.hover.set(row));
    element.addEventListener("pointerleave", () => pedanova.hover.set(pinned()));
    press.addEventListener("focus", () => pedanova.hover.set(row));
    press.addEventListener("blur", () => pedanova.hover.set(pinned()));
    element.addEventListener("click", () => pin(row));
    return element;
  }

  function cell(value, isNumber) {
    const short = pane.cellWords(value), whole = pane.cellWords(value, true), element = make("td", isNumber ? "number" : "", short);
    if (short !== whole && whole !== "") element.dataset.whole = whole;
    return element;
  }

  const pinned = () => pins[pins.length - 1] || null;
  const isPinned = (row) => pins.some((one) => one.row === row.row);

  function pin(row) {
    pins = isPinned(row) ? pins.filter((one) => one.row !== row.row) : [...pins.slice(-1), row];
    pedanova.hover.set(pinned());
    compare(held);
  }

  function mark(row) {
    if (!piece) return;
    piece.body.querySelectorAll("tbody tr").forEach((element) => {
      const here = pins.some((one) => element.dataset.row === String(one.row));
      element.classList.toggle("hovered", Boolean(row) && element.dataset.row === String(row.row));
      element.classList.toggle("pinned", here);
      element.querySelector("button").setAttribute("aria-pressed", String(here));
    });
  }

  /* The two pinned trials side by side, first where they differ. */
  function compare(found) {
    if (pins.length < 2) return pane.clear(side);
    const heads = pins.map((row) => `${row.trial === null ? "row" : "trial"} ${row.trial ?? row.row}`), differ = (name) => pins[0].values[name] !== pins[1].values[name];
    const names = [...found.objectives, ...found.parameters], ordered = [...names.filter(differ), ...names.filter((name) => !differ(name))];
    const lines = ordered.map((name) => [pedanova.nameOf(name), ...pins.map((row) => make(differ(name) ? "b" : "span", "", pane.cellWords(row.values[name])))]);
    return pane.clear(side, make("h3", "", `${heads[0]} and ${heads[1]}`), pane.scroll(pane.table("pins-table", ["", ...heads], lines)));
  }

  function pager(found) {
    const last = Math.max(0, PAGE * Math.floor((found.total - 1) / PAGE));
    const step = (label, title, to, on) => {
      const one = pedanova.button(label, title, () => { offset = to; asking.follow(pedanova.state.get(), null, extra(offset, PAGE)); });
      one.disabled = !on;
      return one;
    };
    pane.clear(foot, step("«", "First page", 0, offset > 0), step("‹ Previous", "Previous page", Math.max(0, offset - PAGE), offset > 0),
      make("span", "", `${pedanova.count(Math.min(found.total, offset + 1))}–${pedanova.count(Math.min(found.total, offset + PAGE))} of ${pedanova.count(found.total)}`),
      step("Next ›", "Next page", offset + PAGE, offset + PAGE < found.total), step("»", "Last page", last, offset < last));
  }

  /* All rows of the selection with every digit: as they come from a server, or asked of a notebook piece by piece. */
  async function everything() {
    const question = pedanova.asked(), { offset: _, limit: __, ...order } = extra(0, 0);
    if (pedanova.facts.live === "http") return streamed(await pedanova.source.request("trials", { question, ...order }));
    let lines = [], names = [], total = 1;
    for (let from = 0; from < total; from += CHUNK) {
      const found = await pedanova.source.ask("trials", question, extra(from, CHUNK), { slot: "trials csv" });
      if (found.refused) throw new Error(found.refused);
      total = found.total;
      names = Object.keys(found.columns);
      found.columns[found.own.row].forEach((_, i) => lines.push(names.map((name) => found.columns[name][i])));
    }
    return [names, ...lines];
  }

  async function streamed(answer) {
    if (!answer.ok) { pedanova.code.said((await answer.json()).refused); return null; }
    const pieces = [], reader = answer.body.getReader();
    for (let size = 0, next = await reader.read(); !next.done; next = await reader.read()) {
      pieces.push(next.value);
      size += next.value.length;
      pedanova.code.said(`${(size / 1e6).toFixed(1)} MB of rows …`, 60000);
    }
    pedanova.code.said("The rows are saved");
    return new Blob(pieces, { type: "text/csv" });
  }

  pedanova.register({ key: "trials", title: "Trials", mount, show, when: (facts) => Boolean(facts.live) && pedanova.source.can("trials") });
  return { pinned };
})();
