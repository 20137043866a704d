/* What matters: parameters ranked by share, with intervals; what chance alone would do is folded away.

   Order, folds and the scale of the bars belong to the last sure answer and stay until the next one: while something is
   dragged only the bars move. Of a long list only the lines that are seen are there. */
"use strict";
pedanova.ranking = (function () {
  const { make, byId, percent, set, say } = pedanova;
  const narrow = window.matchMedia("screen and (max-width: 760px)"); // narrow screens show small densities next to the bars
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const WHOLE = 60, AROUND = 8, SEARCHED = 20; // up to WHOLE lines all exist; AROUND: extra lines outside the box; more than SEARCHED can be searched
  const WORDS = { noise: (n) => `~ ${n} without clear effect`, still: (n) => `– ${n} never varied` };
  let box = null, list = null, axis = null, note = null, search = null, fit = null, last = null, open = { noise: null, still: null }; // null: where there is room
  let frame = null, held = false, shown = null; // held: new rows arrived while the mouse was over the list
  const rows = new Map();

  function mount() {
    const title = make("h2", "", "What matters");
    title.id = "matters-title";
    axis = set(make("div", "rank-axis"), { "aria-hidden": "true" });
    fit = pedanova.button("fit", "Fit the scale to the longest bar", () => { frame.most = 0; frame = arrange(shown.answer); pedanova.page.show(); }, "fit");
    search = set(make("input", "rank-search"), { type: "search", placeholder: "Search", "aria-label": "Search parameters" });
    search.addEventListener("input", () => { box.scrollTop = 0; lines(); });
    const headed = (word, meaning) => pedanova.tip(make("span", "", word), meaning);
    last = headed("ratio", "The importance divided by the sum of all importances;\nif a question is pinned as A: the importance in B minus the importance in A");
    const head = make("div", "rank-head", make("span", "", fit), axis, headed("importance", "How well the parameter alone explains whether\na row is in the target: 0 % not at all, 100 % fully"), last);
    list = make("ol", "rank");
    box = make("div", "rank-box", list);
    box.addEventListener("scroll", pedanova.eachFrame(() => { lines(); pedanova.page.more(); }));
    box.addEventListener("pointerleave", () => { if (held) { held = false; pedanova.page.show(); } });
    pedanova.on("news", () => { held = box.matches(":hover"); });
    note = make("p", "note");
    byId("matters").append(make("div", "card-head", title, search), head, box, note);
    search.hidden = pedanova.facts.parameters.length <= SEARCHED;
  }

  /* Families: children come under their parents, and a family is ranked by its best member; copies share a line. */
  function families(importances, copies) {
    const own = importances.filter((row) => !Object.hasOwn(copies, row.parameter));
    const place = new Map(own.map((row, i) => [row.parameter, i]));
    const parentOf = (name) => (pedanova.parameter(name).parents || []).find((parent) => place.has(parent));
    const heads = new Map();
    for (const row of own) {
      let head = row.parameter, depth = 0;
      while (parentOf(head) && depth < 8) { head = parentOf(head); depth += 1; }
      if (!heads.has(head)) heads.set(head, []);
      heads.get(head).push({ row, depth });
    }
    return [...heads.entries()].map(([head, members]) => ({
      members: ordered(head, members, parentOf), best: Math.min(...members.map(({ row }) => place.get(row.parameter))),
    })).sort((a, b) => a.best - b.best);
  }

  function ordered(head, members, parentOf) {
    const under = (name) => members.filter(({ row }) => parentOf(row.parameter) === name).flatMap((one) => [one, ...under(one.row.parameter)]);
    return [members.find(({ row }) => row.parameter === head), ...under(head)];
  }

  const isNoise = (row) => row.significant === false;
  const isStill = (row) => row.varied === false;

  /* The lines by kind, and the scale, which only grows. */
  function arrange(answer) {
    const kinds = { shown: [], noise: [], still: [] }, copies = answer.copies || {};
    for (const family of families(answer.importances, copies)) {
      const telling = family.members.some(({ row }) => !isNoise(row) && !isStill(row));
      family.members.forEach(({ row, depth }, i) => {
        const kind = telling && !i ? "shown" : isStill(row) ? "still" : isNoise(row) ? "noise" : "shown";
        kinds[kind].push({ name: row.parameter, depth, also: Object.keys(copies).filter((copy) => copies[copy] === row.parameter) });
      });
    }
    if (!kinds.shown.length && kinds.noise.length <= 12) { kinds.shown = kinds.noise; kinds.noise = []; }
    const needed = nice(Math.max(0.01, ...answer.importances.flatMap((row) => [row.share, row.high]).filter(Number.isFinite)));
    return { kinds, needed, most: Math.max(needed, frame ? frame.most : 0), sure: answer.sure !== false };
  }

  function show(state, answer) {
    byId("matters").classList.toggle("few", pedanova.page.isFew(answer));
    if (answer.refused && !answer.pending) return refused(answer);
    if (answer.importances && (!frame || !frame.sure || !(answer.pending || held))) frame = arrange(answer);
    if (!frame) return undefined;
    shown = { state, answer, rows: new Map((answer.importances || []).map((row) => [row.parameter, row])) };
    scale(frame.most);
    const longest = Math.max(...Object.values(frame.kinds).flat().map((one) => (one.depth ? Math.max(12, pedanova.nameOf(one.name).length) + 2 * one.depth : pedanova.nameOf(one.name).length)));
    byId("matters").style.setProperty("--name", `${Math.min(190, Math.max(56, 12 + 7.8 * longest))}px`); // bars get the room that names leave
    fit.hidden = frame.needed * 1.5 > frame.most;
    lines();
    const by = answer.over ? `The mean of ${pedanova.plural(answer.over.studies, "study", "studies")}, each with its own best rows. The other cards show all rows together, or the study that you choose.` : answer.by === "counts" ? "Computed from counts." : "Computed with a model of the objective.";
    const first = answer.sample ? ` A first answer from ${pedanova.count(answer.sample)} rows.` : "";
    return say(note, answer.pending ? `${first || "A first answer."} Intervals follow.`.trim() : `${by}${first}`);
  }

  /* All lines of the list: parameters and folds; during a search, only the matching parameters. */
  function entries() {
    const { kinds } = frame, wanted = search.value.trim().toLowerCase();
    const has = (one) => [one.name, ...one.also].some((name) => name.toLowerCase().includes(wanted));
    if (wanted) return Object.values(kinds).flat().filter(has);
    return [...kinds.shown, ...Object.keys(WORDS).flatMap((key) => (kinds[key].length ? [{ fold: key }, ...(isOpen(key) ? kinds[key] : [])] : []))];
  }

  const isOpen = (key) => open[key] ?? (!narrow.matches && Object.values(frame.kinds).flat().length + 2 <= Math.max(240, window.innerHeight - 292) / 30);

  function lines() {
    if (!shown || !frame) return;
    const all = entries(), high = narrow.matches ? 48 : 30, whole = all.length <= WHOLE || document.body.classList.contains("printing");
    const from = whole ? 0 : Math.max(0, Math.floor(box.scrollTop / high) - AROUND), to = whole ? all.length : Math.ceil((box.scrollTop + window.innerHeight - 200) / high) + AROUND; // the box may grow
    const items = all.slice(from, to).map((one) => (one.fold ? fold(one.fold) : item(one)));
    list.style.paddingTop = `${from * high}px`;
    list.style.paddingBottom = `${Math.max(0, all.length - to) * high}px`;
    replace(items);
    seen = all.slice(from, to).map((one) => one.name).filter(Boolean);
    say(last, list.querySelector(".difference") ? "B − A" : "ratio");
  }

  let seen = []; // names in the existing lines

  /* Replace the lines, but keep the focused one; lines that move are animated. */
  function replace(items) {
    const old = [...list.children];
    if (old.length === items.length && old.every((one, i) => one === items[i])) return;
    const before = new Map(calm.matches ? [] : old.map((one) => [one, one.offsetTop]));
    items.forEach((one, i) => { if (list.children[i] !== one) list.insertBefore(one, list.children[i] || null); });
    while (list.children.length > items.length) list.lastElementChild.remove();
    for (const one of items) {
      const by = before.has(one) ? before.get(one) - one.offsetTop : 0;
      if (by && Math.abs(by) < 400) one.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 180, easing: "ease-out" });
    }
  }

  function refused() {
    shown = null;
    seen = [];
    fit.hidden = true;
    axis.replaceChildren();
    replace([]);
    [list.style.paddingTop, list.style.paddingBottom] = ["", ""];
    say(note, "There is no ranking, because there are too few good rows.");
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

  function fold(key) {
    if (!rows.has(`fold ${key}`)) {
      const handle = set(make("button", "fold"), { type: "button" });
      handle.addEventListener("click", () => { open = { ...open, [key]: !isOpen(key) }; lines(); pedanova.page.more(); });
      rows.set(`fold ${key}`, make("li", "folded", handle));
    }
    const names = frame.kinds[key].map((one) => pedanova.nameOf(one.name)), words = WORDS[key](names.length);
    const line = rows.get(`fold ${key}`), handle = line.firstChild, look = JSON.stringify([words, names, isOpen(key)]);
    if (line.look === look) return line;
    line.look = look;
    handle.replaceChildren(`${words} ${isOpen(key) ? "▾" : "▸"}`, make("span", "printed", ` ${names.join(", ")}`));
    pedanova.tip(handle, names.slice(0, 30).join(", "));
    handle.setAttribute("aria-expanded", String(isOpen(key)));
    return line;
  }

  function item({ name, depth, also }) {
    if (!rows.has(name)) rows.set(name, build(name));
    const { state, answer } = shown, one = rows.get(name), density = (answer.densities || {})[name], row = shown.rows.get(name) || one.row;
    const missing = (density || {}).missing, chosen = state.chosen === name;
    const active = depth && missing && missing[1] !== null ? `active in ${percent(1 - missing[1])}` : "";
    one.classList.toggle("stale", !shown.rows.has(name)); // its answer comes with those of all
    if (!row) return one;
    const look = JSON.stringify([row, depth, frame.most, chosen, active, also]);
    if (one.look !== look) draw(one, row, depth, chosen, active, also);
    [one.look, one.row] = [look, row];
    const extra = pedanova.ranking.extra && pedanova.ranking.extra(row, state, answer);
    if (extra || one.parts.extra.firstChild) one.parts.extra.replaceChildren(...[extra].filter(Boolean));
    if (narrow.matches) pedanova.densities.small(one.parts.small, row, answer);
    return one;
  }

  function draw(one, row, depth, chosen, active, also) {
    const { parts } = one, { most } = frame;
    one.className = ["ranked", isNoise(row) ? "noise" : "", depth ? "child" : "", chosen ? "chosen" : ""].filter(Boolean).join(" ");
    one.style.setProperty("--depth", depth);
    Object.assign(one.dataset, { parameter: row.parameter, share: row.share, ratio: row.ratio });
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
    say(parts.active, also.length ? `= ${also.map(pedanova.nameOf).join(", ")}` : active);
    set(parts.button, { "aria-pressed": String(chosen), "aria-description": told(row, active, also) });
    pedanova.tip(parts.button, told(row, active, also, "\n"));
  }

  /* A row in words. */
  function told(row, active, also, joint = ", ") {
    const name = also.length ? `${row.parameter} (the same as ${also.join(", ")})` : row.parameter;
    if (isStill(row)) return `${name}${joint}never varied in these rows`;
    const known = row.low !== null && row.high !== null;
    const parts = [name, `has an importance of ${percent(row.share)}${known ?  ` (95 % interval ${percent(row.low)} to ${percent(row.high)})` : ""}`];
    if (row.ratio !== null) parts.push(`${percent(row.ratio)} of the sum of all importances`);
    if (row.p_adjusted !== null && row.p_adjusted !== undefined) parts.push(`${isNoise(row) ? `${pedanova.unclear(row.share)}, ` : ""}p = ${pedanova.chance(row.p_adjusted)}`);
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

  return { mount, show, extra: null, seen: () => seen };
})();
