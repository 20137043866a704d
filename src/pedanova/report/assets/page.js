/* The start of the page, and its main loop: it requests the answer for the current state, and shows it. */
"use strict";
pedanova.page = (function () {
  const { make, button, byId, eachFrame } = pedanova;
  const FEW = 5; // with fewer good rows, the page makes no statement
  let answer = null; // the latest answer; it is stale while a newer one is computed
  let ghost = null, ghostOf = ""; // the answer drawn behind the densities (A, or without the selection), and the key of its question
  let busy = false, waiting = false; // while dragging, one request at a time; `waiting`: a newer question is to be asked next
  let turn = 0; // counts the calls of `settle`
  const REST = 30; // milliseconds that the mouse must stand still in a drag before densities are requested
  const SLICE = 12; // milliseconds of drawing before the page handles mouse events again
  const MANY = 40; // with more parameters, those on the screen are requested first
  const QUIET = 400, SLOW = 300, AGAIN = 2000; // milliseconds: before many parameters are requested; until a sign of waiting; until a retry
  const known = (names) => names.map((name) => pedanova[name]).filter(Boolean);
  const first = () => known(["objective", "ranking", "chips"]); // shown in the same animation frame
  const later = () => known(["densities", "sheet", "code", "watch"]); // shown afterwards, in slices
  const cards = () => [...first(), ...later()];

  async function read() {
    if (typeof DecompressionStream === "undefined") throw new Error("it needs a browser of 2023 or later");
    const text = byId("data").textContent.trim();
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  async function start() {
    const payload = await read();
    if (payload.facts.live === "http") await enter(payload);
    const { facts } = payload;
    know(facts);
    pedanova.source.open(payload);
    pedanova.state.start(facts.start);
    frame(facts);
    cards().forEach((part) => part.mount());
    mountTabs();
    pedanova.state.subscribe((state, { live }) => (live ? follow() : settle()));
    window.addEventListener("resize", eachFrame(() => show()));
    pedanova.on("released", () => show());
    pedanova.on("theme", () => show());
    await settle();
    document.body.dataset.ready = "yes";
  }

  /* A page that was opened without a ticket has no data; if this browser has a token, it can request the facts. */
  async function enter(payload) {
    pedanova.source.enter(payload.token);
    if (payload.token) return;
    const found = await pedanova.source.request("facts");
    if (!found.ok) throw new Error("its address is incomplete or was already used; open the latest address that pedanova printed");
    payload.facts = await found.json();
  }

  function know(facts) {
    pedanova.facts = facts;
    document.title = facts.title;
    pedanova.byName = new Map([...facts.parameters, ...facts.columns].map((parameter) => [parameter.name, parameter]));
    byId("title").textContent = facts.title;
    const { name, direction, several, goals, directions } = facts.objective;
    const aims = (several ? goals : [name]).map((goal, i) => `${goal} ${(several ? directions[i] : direction) === "minimize" ? "↓" : "↑"}`).join(", ") || name;
    const dropped = facts.dropped && !facts.within ? `, ${pedanova.count(facts.dropped)} left out` : "";
    const rows = facts.within && facts.within.of !== facts.rows ? `${pedanova.count(facts.rows)} of ${pedanova.plural(facts.within.of, "row")}` : pedanova.plural(facts.rows, "row");
    const unused = facts.notes.filter((note) => note.kind === "unused").map((note) => note.text);
    byId("facts").textContent = `${rows}${dropped} · ${pedanova.plural(facts.parameters.length, "parameter")}${unused.length ? `, ${pedanova.plural(unused.length, "column")} not used` : ""} · ${aims}`;
    pedanova.tip(byId("facts"), unused.join("\n"));
  }

  /* After new rows: forget all answers, but keep the question. */
  function renew(facts) {
    know(facts);
    pedanova.source.forget();
    ghostOf = "";
    pedanova.emit("news", facts);
    settle();
  }

  /* The fixed parts of the page: the buttons and the footer. */
  function frame(facts) {
    byId("foot").append(make("p", "", facts.live ? "pedanova computes the answers on this machine."
      : "Made by pedanova. This file contains no rows of the data and needs no network."));
    const own = [
      { key: "undo", label: "↶", title: "Undo (Ctrl+Z)", press: pedanova.state.undo, enabled: pedanova.state.canUndo },
      { key: "redo", label: "↷", title: "Redo (Ctrl+Shift+Z)", press: pedanova.state.redo, enabled: pedanova.state.canRedo },
      ...pedanova.tools.filter((tool) => !tool.when || tool.when(facts)),
      { key: "theme", label: "◐", title: "Light or dark", press: pedanova.theme.toggle },
    ];
    for (const tool of own) {
      tool.button = button(tool.label, tool.title, () => tool.press());
      tool.button.id = `tool-${tool.key}`;
      byId("tools").append(tool.button);
    }
    shownTools = own;
    document.addEventListener("keydown", keys);
  }

  let shownTools = [];
  function keys(event) {
    const typing = event.target.closest && event.target.closest("input, textarea, select");
    if (typing || !(event.ctrlKey || event.metaKey)) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    if (key === "y" || event.shiftKey) pedanova.state.redo();
    else pedanova.state.undo();
  }

  const pause = (time) => new Promise((next) => setTimeout(next, time));

  /* During a drag: request bars without intervals, one request at a time; densities follow if the mouse stands still. */
  async function follow() {
    show();
    waiting = busy;
    if (busy) return;
    busy = true;
    const mine = turn;
    try {
      do {
        waiting = false;
        if (!(await bars()) || mine !== turn) return;
        if (!waiting) await pause(REST); // requests for densities would delay the next bars
        if (mine !== turn) return;
        if (!waiting) await spread();
      } while (waiting && mine === turn);
    } finally {
      busy = false;
    }
  }

  /* After a change: request the bars first, then the densities, then the intervals. */
  async function settle() {
    turn += 1;
    waiting = false;
    show();
    if (!pedanova.source.known("answer", pedanova.asked(), { sure: true }) && pedanova.source.isLive()) {
      const mine = turn;
      if (!(await bars()) || !(await spread())) return;
      if (isMany()) await pause(QUIET);
      if (mine !== turn) return;
    }
    if (!(await ask(true, isMany() ? { drawn: false } : {}))) return;
    askGhost();
    if (pedanova.facts.early) await complete();
  }

  /* Request the facts again if they were made before a model was fitted. */
  async function complete() {
    if (pedanova.facts.live !== "http") return;
    const found = await pedanova.source.request("facts");
    if (!found.ok) return;
    pedanova.facts = { ...pedanova.facts, ...(await found.json()) };
    show();
  }

  const isMany = () => pedanova.source.isLive() && pedanova.facts.parameters.length > MANY;

  /* The parameters whose bars or densities are on the screen; at the start, the first parameters. */
  function seen() {
    const names = [...pedanova.ranking.seen().slice(0, MANY), ...pedanova.densities.seen(), pedanova.sheet.seen()].filter(Boolean);
    return names.length ? [...new Set(names)] : pedanova.facts.parameters.slice(0, MANY).map((one) => one.name);
  }

  /* Request the quickest answer; the old densities remain until the new ones arrive. */
  const bars = () => (isMany() ? ask(false, { drawn: false, names: seen() }) : answer && answer.densities ? ask(false, { drawn: false }) : ask(false));

  async function ask(sure, more = {}) {
    const question = pedanova.asked();
    return unlessStale(pedanova.source.ask("answer", question, { sure, ...more }), (found) => {
      if (isLost(found)) return false;
      const asked = pedanova.source.keyOf("answer", question), known = Boolean(answer) && answer.asked === asked && !answer.undrawn;
      const stale = more.drawn === false && !found.refused ? { densities: answer ? answer.densities : {}, undrawn: !known } : {};
      answer = { ...found, ...stale, ...(sure || found.refused ? {} : { importances: found.importances.map(marked) }), asked };
      if (found.sure && found.importances) marks = new Map(found.importances.map((row) => [row.parameter, row.significant]));
      show();
      return true;
    });
  }

  let marks = new Map(); // which parameters had a clear effect in the last answer with intervals
  const marked = (row) => ({ ...row, significant: row.significant ?? marks.get(row.parameter) ?? null });

  async function spread() {
    if (!answer.undrawn) return true;
    const asked = answer.asked;
    return unlessStale(pedanova.source.ask("densities", pedanova.asked(), isMany() ? { names: seen() } : {}, { slot: "answer" }), (found) => {
      if (found.refused || answer.asked !== asked || !answer.undrawn) return;
      answer = { ...answer, densities: found.densities, undrawn: false };
      show();
    });
  }

  /* Draw what was scrolled into view; of many parameters, request the missing densities. */
  const more = eachFrame(async () => {
    show();
    if (!answer || !answer.densities || answer.undrawn || !isMany()) return;
    const { asked } = answer, names = seen().filter((name) => !Object.hasOwn(answer.densities, name));
    if (!names.length || asked !== pedanova.source.keyOf("answer", pedanova.asked())) return;
    await unlessStale(pedanova.source.ask("densities", pedanova.asked(), { names }, { slot: "more" }), (found) => {
      if (found.refused || answer.asked !== asked) return;
      answer = { ...answer, densities: { ...answer.densities, ...found.densities } };
      show();
    });
  });

  /* If there is no answer, the page keeps the last answer, and asks again. */
  let lost = "", again = null;
  function isLost(found) {
    lost = found.lost ? found.refused : "";
    clearTimeout(again);
    if (!lost) return false;
    again = setTimeout(settle, AGAIN);
    if (answer) show(); else headline({});
    return true;
  }

  /* Whether the answer was used; false if a newer question replaced this one. */
  async function unlessStale(promise, use) {
    try {
      return use(await promise) !== false;
    } catch (error) {
      if (error !== pedanova.STALE) throw error;
      return false;
    }
  }

  /* The question that is drawn as a thin line behind: A, or the same question without the selection. */
  function behind(state) {
    const now = pedanova.asked(state);
    return state.pinned || (pedanova.selects(now) ? { ...now, selection: {} } : null);
  }

  /* Use a known answer to that question, so that it is in the first drawing. */
  function recall(state) {
    const other = behind(state), key = other ? pedanova.source.keyOf("answer", other) : "";
    if (key === ghostOf) return;
    ghostOf = key;
    ghost = other ? pedanova.source.known("answer", other, { sure: true }) || null : null;
  }

  async function askGhost() {
    const other = behind(pedanova.state.get());
    if (!other || ghost) return;
    const asking = isMany() ? pedanova.source.ask("densities", other, { names: seen() }, { slot: "ghost" }) : pedanova.source.ask("answer", other, { sure: false }, { slot: "ghost" });
    await unlessStale(asking, (found) => {
      if (ghostOf !== pedanova.source.keyOf("answer", other)) return;
      ghost = found;
      show();
    });
  }

  /* Draw the question and the bars now, and the rest after this frame. */
  function showFirst() {
    if (!answer) return;
    const state = pedanova.state.get();
    recall(state);
    const given = Object.freeze({ ...answer, pending: !isAnswered() || pedanova.drag.isOn(), ghost: ghost && !ghost.refused ? ghost : null });
    first().forEach((part) => part.show(state, given)); // before other changes, because the strip measures its size
    document.body.classList.toggle("pending", given.pending);
    sign(given.pending && !(pedanova.drag.isOn() && answer.asked === pedanova.source.keyOf("answer", pedanova.asked())));
    headline(given);
    for (const tool of shownTools) {
      if (tool.enabled) tool.button.disabled = !tool.enabled();
      if (tool.pressed) tool.button.setAttribute("aria-pressed", String(tool.pressed()));
    }
    pedanova.emit("ranked", given);
    const begun = rest !== null;
    rest = { given, steps: stepsOf(state, given) };
    if (!begun) setTimeout(showRest); // after the bars are on the screen
  }

  /* Show a sign of waiting if an answer takes long. */
  let slow = null;
  function sign(pending) {
    if (pending && slow === null) slow = setTimeout(() => document.body.classList.add("slow"), SLOW);
    if (pending) return;
    clearTimeout(slow);
    slow = null;
    document.body.classList.remove("slow");
  }

  let rest = null; // what is left to draw; a newer answer replaces it

  function stepsOf(state, given) {
    const steps = later().flatMap((part) => (part.steps ? part.steps(state, given) : [() => part.show(state, given)]));
    return [...steps, () => showTab(state, given)];
  }

  function showRest() {
    const end = performance.now() + SLICE;
    try {
      while (rest.steps.length && performance.now() < end) rest.steps.shift()();
    } finally {
      if (rest.steps.length) setTimeout(showRest);
      else shownAll();
    }
  }

  function shownAll() {
    const { given } = rest;
    rest = null;
    pedanova.emit("shown", given);
  }

  /* Draw everything at once, for printing. */
  function showNow() {
    showFirst();
    while (rest && rest.steps.length) rest.steps.shift()();
  }

  let queued = false;
  const inFrame = eachFrame(() => { queued = false; showFirst(); });
  const show = () => { queued = true; inFrame(); }; // at most once a frame

  /* The sentence at the top; it stays the same while an answer is pending. */
  function headline(given) {
    const line = byId("headline");
    if (!given.pending || !line.textContent || lost) {
      pedanova.say(line, lost ? `${lost}${answer ? " The page shows the last answer." : ""}` : given.refused ? refusal(given) : sentence(given));
      line.classList.toggle("refused", Boolean(lost || given.refused));
    }
    pedanova.tip(line, given.refused ? refusal(given) : given.summary || "");
  }

  const LONGEST = 140; // characters of the sentence

  /* The most important parameter with its interval, then the next parameters, up to `LONGEST` characters. */
  function sentence({ importances, rows, bands, summary }) {
    const { pane, percent, nameOf } = pedanova, question = pedanova.asked(), chosen = pane.selectionWords(question);
    const where = !chosen ? "" : chosen.length <= 36 ? `With ${chosen}: ` : `In ${pedanova.plural(rows.selected, "selected row")}: `;
    const whole = question.region.part && question.region.part[0] === 0 && question.region.part[1] === 1, among = !whole ? ` that ${bands.region.reached}` : "";
    const goal = `whether a row${among} ${bands.target.reached}`;
    const sure = importances.filter((row) => row.varied !== false && row.significant !== false && row.share > 0).sort((a, b) => b.share - a.share);
    if (importances.length < pedanova.facts.parameters.length) return `The first ${importances.length} of ${pedanova.facts.parameters.length} parameters are ready; the others are being computed.`;
    if (!sure.length) return `${where}${summary || `No parameter clearly affects ${goal}.`}`;
    const [row, ...others] = sure, known = Number.isFinite(row.low) && Number.isFinite(row.high) && row.low !== null;
    const interval = known ? ` (${percent(row.low).replace(/\s?%/, "")} to ${percent(row.high)})` : "";
    const how = importances.some((one) => one.share > row.share) ? "has the clearest effect on" : "matters most for";
    const lead = `${where}${nameOf(row.parameter)} ${how} ${goal}: importance ${percent(row.share)}`;
    let text = `${lead}${interval}`;
    if (text.length > LONGEST) text = lead;
    for (const [i, other] of others.entries()) {
      const next = `${i ? "," : ", then"} ${nameOf(other.parameter)} ${percent(other.share)}`;
      if (text.length + next.length > LONGEST) break;
      text += next;
    }
    return `${text}.`;
  }

  const plain = (text) => text.replace(/; [^;]*(\w+=|--\w|pass )[^;]*$/, ""); // without advice on options
  /* Why there is no answer, in words for users of the page. */
  function refusal({ refused, rows }) {
    if ((rows && rows.selected === 0) || / has 0 rows/.test(refused)) return "No row is selected: widen the selection.";
    const many = refused.match(/^the target has (\d+) of ([\d,]+) rows/);
    if (many) return `Only ${pedanova.plural(Number(many[1]), "good row")} among ${many[2]} rows. That is too few for an answer: widen the selection or the target.`;
    const words = plain(refused);
    return `${words[0].toUpperCase()}${words.slice(1)}${/[.?!]$/.test(words) ? "" : "."}`;
  }

  /* Whether the page shows the final answer to the current question. */
  const isSettled = () => isAnswered() && !queued && rest === null;

  function isAnswered() {
    if (!answer || answer.asked !== pedanova.source.keyOf("answer", pedanova.asked())) return false;
    return Boolean(answer.refused || answer.sure || !pedanova.source.isLive());
  }

  const isFew = (given) => Boolean(given.refused) || given.rows.target < FEW;

  /* The bar of tabs. */
  let tabs = [];
  function mountTabs() {
    const place = byId("tabs");
    tabs = pedanova.tabs.map((tab) => ({ ...tab, able: tab.when ? tab.when(pedanova.facts) : true })).filter((tab) => tab.able !== false);
    if (!tabs.length) { place.hidden = true; return; }
    const bar = make("div", "tabbar");
    bar.setAttribute("role", "tablist");
    bar.setAttribute("aria-label", "More");
    for (const tab of tabs) {
      tab.handle = make("button", "tab", tab.title);
      pedanova.set(tab.handle, { type: "button", role: "tab", id: `tab-${tab.key}`, "aria-controls": `panel-${tab.key}` });
      tab.panel = make("div", "panel", make("h2", "print-title", tab.title));
      pedanova.set(tab.panel, { role: "tabpanel", id: `panel-${tab.key}`, "aria-labelledby": `tab-${tab.key}`, tabindex: 0 });
      tab.panel.hidden = true;
      bar.append(tab.handle);
    }
    pedanova.pane.roving(tabs.map((tab) => tab.handle), (at) => open(tabs[at]));
    place.append(bar, ...tabs.map((tab) => tab.panel));
  }

  function open(tab) {
    pedanova.state.change({ tab: tab.key });
    if (!window.matchMedia("(max-width: 760px)").matches) return; // on a phone, tabs are at the bottom
    const off = pedanova.on("shown", () => { off(); tab.panel.scrollIntoView(); });
  }

  function showTab(state, given) {
    const open = tabs.find((tab) => tab.key === state.tab) || tabs[0];
    for (const tab of tabs) {
      const here = tab === open;
      tab.panel.hidden = !here;
      pedanova.set(tab.handle, { "aria-selected": String(here), tabindex: here ? 0 : -1 });
    }
    if (!open) return;
    if (!open.mounted) {
      open.mounted = true;
      if (open.able === true) open.mount(open.panel);
      else open.panel.append(make("p", "note", open.able));
    }
    if (open.able === true && (given.asked === pedanova.source.keyOf("answer", pedanova.asked()))) open.show(state, given); // bars come first
  }

  return { start, isFew, isSettled, more, plain, refusal, answer: () => answer, show, showNow, renew };
})();

pedanova.page.start().catch((error) => {
  pedanova.byId("headline").textContent = `This page cannot be shown: ${error.message}.`;
  throw error;
});
