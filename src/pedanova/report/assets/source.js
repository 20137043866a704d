/* The source of answers: the file itself, a server on this machine, or the notebook around the page. */
"use strict";
pedanova.source = (function () {
  const MOST_KEPT = 200;
  const kept = new Map(); // known answers, by the key of their question
  const newest = new Map(); // the running request of each slot, which a newer request replaces
  let answerer = null;
  const MISSING = {
    answer: "This file has no answer for this target and region.",
    pairs: "This file contains no pairs of parameters for this target and region; pedanova explore computes them.",
    plane: "This file has no figure of two parameters for this question; pedanova explore draws it.",
    groups: "This file has no comparison of studies for this question; pedanova explore --group computes it.",
    space: "This file contains no smaller search space for this question; pedanova explore computes it.",
  };

  /* A key that is equal for equal questions. */
  function keyOf(part, question, extra = {}) {
    const { target, region, selection = {}, good = "all", baseline = "region", of = "space", study = null } = question;
    const chosen = Object.keys(selection).sort().map((name) => [name, selection[name]]);
    const whose = study ? [{ study }] : [];
    const plain = chosen.length ? [chosen, good] : [];
    const more = Object.keys(extra).sort().map((name) => [name, extra[name]]);
    const bands = part === "marginal" ? [null, region, null] : [target, region, baseline]; // means do not depend on the target
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

  /* The arguments by which answers of a file differ: the two objectives, or the two parameters in their order. */
  function plain(part, extra) {
    if (part === "objectives") return extra;
    if (part !== "plane") return {};
    const [first, second] = pedanova.facts.parameters.map((one) => one.name).filter((name) => name === extra.first || name === extra.second);
    return { first, second };
  }

  /* The token of this browser, sent as a header to the server of this page only; a cookie would be sent to all ports. */
  let token = "";
  function enter(given) {
    try {
      if (given) localStorage.setItem("pedanova", given);
      token = given || localStorage.getItem("pedanova") || "";
    } catch {
      token = given || ""; // without storage, the next visit needs a new address
    }
    if (given) window.history.replaceState(null, "", window.location.pathname + window.location.hash); // remove the used ticket
  }

  const request = (path, body, signal) => fetch(path, {
    headers: { "X-Pedanova-Token": token, ...(body ? { "Content-Type": "application/json" } : {}) }, signal,
    ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
  });

  /* POST /ask of the server that served this page. */
  function http() {
    const page = crypto.randomUUID(); // a newer question from the same page and slot replaces an older one
    return async function (part, question, extra, { signal, slot }) {
      const said = await request("ask", { part, question, client: `${page}-${slot}`.slice(0, 64), ...extra }, signal);
      const answer = await said.json();
      if (answer.stale) throw pedanova.STALE;
      return said.ok ? answer : { refused: answer.refused || `the server answered ${said.status}` };
    };
  }

  /* Messages to and from the notebook around the page; notebook.mjs is the other side. */
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

  /* The promise of an answer. An older question of the same slot is rejected with STALE. A question that is already
     running is not asked again. */
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

  /* A known answer; undefined if there is none. */
  const known = (part, question, extra = {}) => kept.get(keyOf(part, question, extra));

  /* Whether a question can be answered: always on a live page, otherwise if the file has the answer. */
  const answers = (question) => isLive() || kept.has(keyOf("answer", question, { sure: true }));

  /* Whether a part can be requested: true, or the reason why not. */
  function can(part) {
    const parts = pedanova.facts.ask;
    if (parts && part in parts) return parts[part];
    return true;
  }

  const isLive = () => Boolean(pedanova.facts.live);
  /* After new rows: forget all answers, and do not reuse running requests. */
  function forget() {
    kept.clear();
    newest.forEach((one) => { one.key = null; });
  }

  return { answers, open, ask, known, can, enter, isLive, forget, keyOf, request };
})();
