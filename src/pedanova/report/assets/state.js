/* One immutable state of the page: what is asked and what is looked at. Undo, redo, and the address are copies of it. */
"use strict";
pedanova.state = (function () {
  const MOST_KEPT = 200;
  let past = [], future = [];
  let settled = null; // the state before the present drag
  let current = null, begin = null;
  const listeners = new Set();
  const STEPS = ["question", "pinned", "hidden"]; // changes of these can be undone, and are entries of the browser's history
  const moves = (one, other) => STEPS.some((key) => !same(one[key], other[key]));
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  /* The state at the start, then what the address says of it. */
  function start(question) {
    begin = freeze({ question, chosen: null, tab: null, pair: null, pinned: null, sort: null, colour: null, slice: null, hidden: [] });
    current = settled = freeze({ ...begin, ...fromAddress() });
  }

  function freeze(value) {
    if (value && typeof value === "object" && !Object.isFrozen(value)) {
      Object.freeze(value);
      Object.values(value).forEach(freeze);
    }
    return value;
  }

  /* What differs from the start; an address is short while little does. */
  function toAddress() {
    const changed = Object.keys(current).filter((key) => !same(current[key], begin[key]));
    if (!changed.length) return "";
    return "#" + encodeURIComponent(JSON.stringify(Object.fromEntries(changed.map((key) => [key, current[key]]))));
  }

  function fromAddress() {
    try {
      const read = JSON.parse(decodeURIComponent(window.location.hash.slice(1)));
      return Object.fromEntries(Object.keys(begin).filter((key) => fits(key, read[key])).map((key) => [key, read[key]]));
    } catch {
      return {};
    }
  }

  /* An address may be typed: what is no such thing is left out; whether a question has an answer, its answer says. */
  const isPlain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  const isPair = (value, fits) => Array.isArray(value) && value.length === 2 && value.every(fits);
  const isEnd = (value) => value === null || Number.isFinite(value);
  const isBand = (band) => isPlain(band) && (isPair(band.part, Number.isFinite) || isPair(band.value, isEnd));
  const isBrush = ([name, part]) => pedanova.byName.has(name) && isPlain(part)
    && (isPair(part.range, isEnd) || (Array.isArray(part.labels) && part.labels.every((label) => typeof label === "string")));
  const isQuestion = (q) => isPlain(q) && isBand(q.target) && isBand(q.region) && isPlain(q.selection) && Object.entries(q.selection).every(isBrush);

  function fits(key, value) {
    const known = (name) => pedanova.byName.has(name);
    return {
      question: () => isQuestion(value) && pedanova.source.answers(value),
      pinned: () => value === null || (isQuestion(value) && pedanova.source.answers(value)),
      hidden: () => Array.isArray(value) && value.every(known),
      pair: () => value === null || isPair(value, known),
      chosen: () => value === null || known(value),
      colour: () => value === null || known(value),
      slice: () => value === null || known(value),
      tab: () => value === null || typeof value === "string",
      sort: () => value === null || typeof value === "object" || typeof value === "string",
    }[key]();
  }

  /* Once nothing else waits: a browser takes its time over it. */
  let writing = null, pushing = false;
  function write() {
    if (writing === null) writing = setTimeout(writeNow);
  }

  function writeNow() {
    clearTimeout(writing);
    writing = null;
    const address = toAddress() || "#";
    try {
      if (address !== (window.location.hash || "#")) window.history[pushing ? "pushState" : "replaceState"](null, "", address);
    } catch {
      /* a frame in a notebook has no address */
    }
    pushing = false;
  }

  /* A patch of the state; `live` while something is dragged, which is one step to undo. */
  function change(patch, { live = false } = {}) {
    const next = freeze({ ...current, ...patch });
    const moved = !same(next, current);
    if (!moved && live) return;
    if (!live && moves(next, settled)) {
      past.push(settled);
      if (past.length > MOST_KEPT) past.shift();
      future = [];
      pushing = true;
    }
    current = next;
    if (!live) { settled = next; write(); }
    tell({ live });
  }

  function step(from, to) {
    if (!from.length) return;
    to.push(settled);
    const { question, pinned, hidden } = from.pop();
    current = settled = freeze({ ...settled, question, pinned, hidden });
    pushing = true;
    write();
    tell({ live: false });
  }

  function tell(how) {
    listeners.forEach((listener) => listener(current, how));
  }

  window.addEventListener("pagehide", () => writing !== null && writeNow());
  window.addEventListener("hashchange", () => {
    if (!begin) return;
    const read = freeze({ ...begin, ...fromAddress() });
    if (same(read, current)) return;
    const [from, to] = [[past, future], [future, past]].find(([known]) => known.length && !moves(known.at(-1), read)) || [];
    if (from) { from.pop(); to.push(settled); } else if (moves(read, settled)) { past.push(settled); future = []; }
    current = settled = read;
    tell({ live: false });
  });

  /* The question with another part of it. */
  const ask = (patch, how) => change({ question: { ...current.question, ...patch } }, how);

  /* Values of one parameter selected, or all of them again (null). */
  function select(name, part, how) {
    const held = Object.entries(current.question.selection), here = held.findIndex(([other]) => other === name);
    if (here < 0) held.push([name, part]);
    else held[here] = [name, part];
    const selection = Object.fromEntries(held.filter(([, one]) => one !== null)); // names are data: none is a key of its own
    const hidden = current.hidden.filter((other) => other !== name);
    change({ question: { ...current.question, selection }, hidden }, how);
  }

  return {
    start, change, ask, select,
    address() { writeNow(); return window.location.href; },
    get: () => current,
    first: () => begin,
    undo: () => step(past, future),
    redo: () => step(future, past),
    canUndo: () => past.length > 0,
    canRedo: () => future.length > 0,
    subscribe(listener) { listeners.add(listener); return () => listeners.delete(listener); },
  };
})();
