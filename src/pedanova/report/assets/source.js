/* Who answers: a table in the file, a server on this machine, or the notebook around the page. */
"use strict";
pedanova.source = (function () {
  const MOST_KEPT = 200;
  const kept = new Map(); // answers that were given, by what was asked
  const newest = new Map(); // the question of each slot that is on its way, to drop older ones
  let answerer = null;
  const MISSING = {
    answer: "This file has no answer for these percentages of target and region.",
    pairs: "This file has no pairs for this target and region; pedanova explore computes them.",
    plane: "This file has no figure of two parameters for this question; pedanova explore draws it.",
    groups: "This file has no comparison of studies for this question; pedanova explore --group computes it.",
    space: "This file has no smaller space for this question; pedanova explore computes it.",
  };

  /* Questions that mean the same are written the same. */
  function keyOf(part, question, extra = {}) {
    const { target, region, selection = {}, good = "all", baseline = "region", of = "space", study = null } = question;
    const chosen = Object.keys(selection).sort().map((name) => [name, selection[name]]);
    const whose = study ? [{ study }] : [];
    const plain = chosen.length ? [chosen, good] : [];
    const more = Object.keys(extra).sort().map((name) => [name, extra[name]]);
    const bands = part === "marginal" ? [null, region, null] : [target, region, baseline]; // means have no target
    return JSON.stringify([part, ...bands, of, ...whose, ...plain, ...more]);
  }

  /* Answers in the file. `answers` is a list of {part, question, extra, answer}. */
  function embedded(payload) {
    const table = new Map(payload.answers.map((one) => [keyOf(one.part, one.question, one.extra), one.answer]));
    return async function (part, question, extra) {
      const found = table.get(keyOf(part, question, plain(part, extra)));
      return found !== undefined ? found : { refused: MISSING[part] || MISSING.answer };
    };
  }

  /* What a file's answers differ by: it holds the surest, of all the pairs that it has. */
  function plain(part, extra) {
    if (part === "objectives") return extra;
    if (part !== "plane") return {};
    const [first, second] = pedanova.facts.parameters.map((one) => one.name).filter((name) => name === extra.first || name === extra.second);
    return { first, second };
  }

  /* What lets this browser in: it goes to the server of this page alone, as a header. A cookie would go to every port. */
  let token = "";
  function enter(given) {
    try {
      if (given) localStorage.setItem("pedanova", given);
      token = given || localStorage.getItem("pedanova") || "";
    } catch {
      token = given || ""; // nothing is kept here: the next look at this page needs another address
    }
    if (given) window.history.replaceState(null, "", window.location.pathname + window.location.hash); // the ticket is used
  }

  const request = (path, body, signal) => fetch(path, {
    headers: { "X-Pedanova-Token": token, ...(body ? { "Content-Type": "application/json" } : {}) }, signal,
    ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
  });

  /* POST /ask of the server that served this page. */
  function http() {
    const page = crypto.randomUUID(); // a newer question of the same page and slot takes the place of an older one
    return async function (part, question, extra, { signal, slot }) {
      const said = await request("ask", { part, question, client: `${page}-${slot}`.slice(0, 64), ...extra }, signal);
      const answer = await said.json();
      if (answer.stale) throw pedanova.STALE;
      return said.ok ? answer : { refused: answer.refused || `the server answered ${said.status}` };
    };
  }

  /* Messages to the notebook around the page, and back; notebook.mjs stands on the other side. */
  function message() {
    const waiting = new Map();
    let number = 0;
    window.addEventListener("message", (event) => {
      const data = event.data;
      if (event.source !== window.parent || !data || typeof data !== "object") return;
      if (data.pedanova === "move") pedanova.state.ask(data.question);
      const settle = waiting.get(data.pedanova);
      waiting.delete(data.pedanova);
      if (settle) settle(data.answer);
    });
    pedanova.state.subscribe((state, { live }) => {
      if (!live) window.parent.postMessage({ pedanova: "moved", question: state.question }, "*");
    });
    window.parent.postMessage({ pedanova: "open" }, "*");
    return (part, question, extra, { slot }) => new Promise((resolve, reject) => {
      number += 1;
      waiting.set(number, (answer) => (answer.stale ? reject(pedanova.STALE) : resolve(answer)));
      window.parent.postMessage({ pedanova: number, part, question, client: slot.slice(0, 64), ...extra }, "*");
    });
  }

  function open(payload) {
    const file = embedded(payload);
    const live = { http, message }[payload.facts.live];
    answerer = live ? live() : file;
    for (const one of payload.answers) keep(keyOf(one.part, one.question, { ...one.extra, ...(one.part === "answer" ? { sure: true } : {}) }), one.answer);
  }

  function keep(key, answer) {
    kept.delete(key);
    kept.set(key, answer);
    if (kept.size > MOST_KEPT && pedanova.facts.live) kept.delete(kept.keys().next().value);
  }

  /* The promise of an answer. An older question of the same slot is dropped: it is rejected with STALE. What is on its
     way already is not asked again: the mouse is let go where it was last seen. */
  function ask(part, question, extra = {}, { slot = part } = {}) {
    const key = keyOf(part, question, extra), before = newest.get(slot);
    if (before && before.key === key) return before.promise;
    if (before) before.stop.abort();
    const mine = { key, stop: new AbortController(), promise: null };
    newest.set(slot, mine);
    mine.promise = answered(part, question, extra, slot, key, mine.stop.signal).finally(() => {
      if (newest.get(slot) === mine) newest.delete(slot);
    });
    return mine.promise;
  }

  async function answered(part, question, extra, slot, key, signal) {
    if (kept.has(key)) {
      const known = kept.get(key);
      keep(key, known);
      await null;
      if (signal.aborted) throw pedanova.STALE;
      return known;
    }
    let answer;
    try {
      answer = await answerer(part, question, extra, { signal, slot });
    } catch (error) {
      if (signal.aborted || error === pedanova.STALE) throw pedanova.STALE;
      answer = { refused: `No answer: ${error.message || error}. Is pedanova still running?`, lost: true };
    }
    if (signal.aborted) throw pedanova.STALE;
    if (!answer.lost && part !== "news") keep(key, answer);
    return answer;
  }

  /* What was answered before, at once; undefined where nothing was. */
  const known = (part, question, extra = {}) => kept.get(keyOf(part, question, extra));

  /* Whether a question has an answer: whoever is there is asked, a file holds some. */
  const answers = (question) => isLive() || kept.has(keyOf("answer", question, { sure: true }));

  /* Whether a part can be asked here: true, or why not. */
  function can(part) {
    const parts = pedanova.facts.ask;
    if (parts && part in parts) return parts[part];
    return true;
  }

  const isLive = () => Boolean(pedanova.facts.live);
  /* New rows: nothing that was answered counts any more, nor what is just being answered. */
  function forget() {
    kept.clear();
    newest.forEach((one) => { one.key = null; });
  }

  return { answers, open, ask, known, can, enter, isLive, forget, keyOf, request };
})();
