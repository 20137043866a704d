/* What matters: parameters ranked by share, with intervals; what chance alone would do is folded away. */
"use strict";
pedanova.ranking = (function () {
  const { make, byId, percent, set, say } = pedanova;
  const narrow = window.matchMedia("screen and (max-width: 760px)"); // where small densities stand beside the bars
  let list = null, axis = null, note = null, open = { noise: false, still: false };
  const rows = new Map();

  function mount() {
    const title = make("h2", "", "What matters");
    title.id = "matters-title";
    axis = make("div", "rank-axis");
    axis.setAttribute("aria-hidden", "true");
    list = make("ol", "rank");
    note = make("p", "note");
    byId("matters").append(make("div", "card-head", title, make("p", "hint", "part of what decides that each explains alone")), axis, list, note);
  }

  /* Families: a child stands under its parent, and a family where its best member ranks. */
  function families(importances) {
    const place = new Map(importances.map((row, i) => [row.parameter, i]));
    const parentOf = (name) => (pedanova.parameter(name).parents || []).find((parent) => place.has(parent));
    const heads = new Map();
    for (const row of importances) {
      let head = row.parameter, depth = 0;
      while (parentOf(head) && depth < 8) { head = parentOf(head); depth += 1; }
      if (!heads.has(head)) heads.set(head, []);
      heads.get(head).push({ row, depth });
    }
    return [...heads.entries()].map(([head, members]) => ({
      head,
      members: ordered(head, members, parentOf),
      best: Math.min(...members.map(({ row }) => place.get(row.parameter))),
    })).sort((a, b) => a.best - b.best);
  }

  function ordered(head, members, parentOf) {
    const under = (name) => members.filter(({ row }) => parentOf(row.parameter) === name).flatMap((one) => [one, ...under(one.row.parameter)]);
    return [members.find(({ row }) => row.parameter === head), ...under(head)];
  }

  const isNoise = (row) => row.significant === false;
  const isStill = (row) => row.varied === false;

  function show(state, answer) {
    byId("matters").classList.toggle("few", pedanova.page.isFew(answer));
    if (answer.refused) return refused(answer);
    const all = families(answer.importances);
    const kinds = { shown: [], noise: [], still: [] };
    for (const family of all) {
      const telling = family.members.some(({ row }) => !isNoise(row) && !isStill(row));
      for (const one of family.members) {
        if (telling && one === family.members[0]) kinds.shown.push(one);
        else kinds[isStill(one.row) ? "still" : isNoise(one.row) ? "noise" : "shown"].push(one);
      }
    }
    if (!kinds.shown.length && kinds.noise.length <= 12) { kinds.shown = kinds.noise; kinds.noise = []; }
    const most = nice(Math.max(0.01, ...answer.importances.flatMap((row) => [row.share, row.high]).filter(Number.isFinite)));
    scale(most, answer);
    const items = kinds.shown.map((one) => item(one, most, state, answer));
    for (const [key, words] of [["noise", (n) => `~ ${n} not above chance`], ["still", (n) => `– ${n} never varied`]]) {
      if (!kinds[key].length) continue;
      items.push(fold(key, words(kinds[key].length), kinds[key].map(({ row }) => pedanova.nameOf(row.parameter))));
      if (open[key]) items.push(...kinds[key].map((one) => item(one, most, state, answer)));
    }
    replace(items);
    const by = answer.by === "counts" ? "From counts." : "From a model of the rows.";
    const words = answer.sample ? `${by} A first answer from ${pedanova.count(answer.sample)} rows.` : by;
    say(note, answer.pending ? `${words} Intervals are on their way.` : words);
  }

  /* Without tearing down what has the focus. */
  function replace(items) {
    items.forEach((one, i) => { if (list.children[i] !== one) list.insertBefore(one, list.children[i] || null); });
    while (list.children.length > items.length) list.lastElementChild.remove();
  }

  function refused(answer) {
    replace([]);
    axis.replaceChildren();
    note.textContent = "";
  }

  const nice = (most) => [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1].find((one) => one >= most * 0.999) || Math.ceil(most);

  function scale(most) {
    if (axis.dataset.most === String(most) && axis.firstChild) return;
    axis.dataset.most = most;
    const marks = [0, most / 2, most].map((part) => {
      const mark = make("span", "", percent(part));
      mark.style.left = `${(100 * part) / most}%`;
      return mark;
    });
    axis.replaceChildren(make("div", "rank-marks", ...marks));
  }

  function fold(key, words, names) {
    if (!rows.has(`fold ${key}`)) {
      const handle = make("button", "fold");
      handle.type = "button";
      handle.addEventListener("click", () => { open = { ...open, [key]: !open[key] }; pedanova.page.show(); });
      rows.set(`fold ${key}`, make("li", "folded", handle));
    }
    const line = rows.get(`fold ${key}`), handle = line.firstChild, look = JSON.stringify([words, names, open[key]]);
    if (line.look === look) return line;
    line.look = look;
    handle.replaceChildren(`${words} ${open[key] ? "▾" : "▸"}`, make("span", "printed", ` ${names.join(", ")}`));
    pedanova.tip(handle, names.join(", "));
    handle.setAttribute("aria-expanded", String(open[key]));
    return line;
  }

  function item({ row, depth }, most, state, answer) {
    if (!rows.has(row.parameter)) rows.set(row.parameter, build(row.parameter));
    const one = rows.get(row.parameter), parts = one.parts, density = (answer.densities || {})[row.parameter];
    const missing = (density || {}).missing;
    const active = depth && missing && missing[1] !== null ? `active in ${percent(1 - missing[1])}` : "";
    const look = JSON.stringify([row, depth, most, state.chosen === row.parameter, active]);
    if (one.look !== look) draw(one, row, depth, most, state.chosen === row.parameter, active);
    one.look = look;
    const extra = pedanova.ranking.extra && pedanova.ranking.extra(row, state, answer);
    if (extra || parts.extra.firstChild) parts.extra.replaceChildren(...[extra].filter(Boolean));
    if (narrow.matches) pedanova.densities.small(parts.small, row, answer);
    return one;
  }

  function draw(one, row, depth, most, chosen, active) {
    const { parts } = one;
    one.className = ["ranked", isNoise(row) ? "noise" : "", depth ? "child" : "", chosen ? "chosen" : ""].filter(Boolean).join(" ");
    one.style.setProperty("--depth", depth);
    one.dataset.parameter = row.parameter;
    one.dataset.share = row.share;
    one.dataset.ratio = row.ratio;
    const width = (part) => `${(100 * Math.min(1, Math.max(0, part / most))).toFixed(2)}%`;
    parts.bar.style.width = width(row.share);
    const known = Number.isFinite(row.low) && row.low !== null && row.high !== null;
    parts.line.hidden = !known;
    if (known) {
      parts.line.style.left = width(row.low);
      parts.line.style.width = width(Math.max(0, row.high) - Math.max(0, row.low));
    }
    say(parts.share, isStill(row) ? "–" : percent(row.share));
    say(parts.ratio, isStill(row) ? "" : percent(row.ratio));
    say(parts.active, active);
    set(parts.button, { "aria-pressed": String(chosen), "aria-description": told(row, active) });
    pedanova.tip(parts.button, told(row, active, "\n"));
  }

  /* A row in words. */
  function told(row, active, joint = ", ") {
    if (isStill(row)) return `${row.parameter}${joint}never varied in these rows`;
    const known = row.low !== null && row.high !== null;
    const parts = [row.parameter, `explains ${percent(row.share)} alone${known ? ` (95 % interval ${percent(row.low)} to ${percent(row.high)})` : ""}`,
      `${percent(row.ratio)} of the importance`];
    if (row.p_adjusted !== null && row.p_adjusted !== undefined) parts.push(`${isNoise(row) ? "not above chance, " : ""}p = ${pedanova.chance(row.p_adjusted)}`);
    if (active) parts.push(active);
    return parts.join(joint);
  }

  function build(name) {
    const parts = {
      bar: make("i", "bar"), line: make("i", "interval"), share: make("span", "share"), ratio: make("span", "ratio"),
      active: make("small", "active"), extra: make("span", "extra"), small: make("span", "small"),
    };
    parts.button = make("button", "rank-row", make("span", "name", pedanova.nameOf(name), parts.active), make("span", "track", parts.bar, parts.line), parts.share, parts.ratio, parts.extra, parts.small);
    parts.button.type = "button";
    parts.button.addEventListener("click", () => {
      const chosen = pedanova.state.get().chosen === name ? null : name;
      pedanova.state.change({ chosen });
      if (chosen) pedanova.densities.reveal(name);
    });
    return Object.assign(make("li", "ranked", parts.button), { parts });
  }

  return { mount, show, extra: null };
})();
