/* The only namespace of the page, `pedanova`, and what all its parts share. Files are plain scripts in the order of
   report/page/html.py, each an IIFE; names from the data are text only. Everything that is drawn is a function of

     state   {question, chosen, tab, pair: [a, b] | null, pinned: question | null, sort, colour: name | null, slice: name | null, hidden: [names]}
     answer  the JSON of report/page/answers.py, plus `pending` while a newer one is computed, and `undrawn` while
             its densities belong to the previous answer

   A card:   mount() and show(state, answer), or steps(state, answer) → [functions], which are called a slice at a time.
   A tab:    register({key, title, mount(element), show(state, answer), when(facts) → true | "why not" | false})
   A tool:   tool({key, label, title, press(), pressed()?, enabled()?, when(facts)?}) is a button in the head.
   Asking:   source.ask(part, asked(), extra, {slot}) → Promise of an answer; an older question of the same slot is
             rejected with STALE.
   Events:   on("news", fn), emit("news", data): "ranked" (bars), "shown" (all), "released", "news", "study", "hover", "theme" */
"use strict";
var pedanova = pedanova || {}; // a global, so that tests can load single files

(function () {
  const SVG = "http://www.w3.org/2000/svg";
  const listeners = new Map();

  pedanova.STALE = Object.freeze({ stale: true });
  pedanova.facts = null;
  pedanova.tabs = [];
  pedanova.tools = [];
  pedanova.byId = (id) => document.getElementById(id);

  /* Make an HTML element; children are elements or text, never markup. */
  pedanova.make = function (tag, kind = "", ...children) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
  };

  /* Make an SVG element. */
  pedanova.svg = function (tag, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    pedanova.set(element, attributes);
    element.append(...children);
    return element;
  };

  /* Set attributes; null and false remove an attribute. Unchanged ones are skipped, because setting them costs a layout. */
  pedanova.set = function (element, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) element.removeAttribute(name);
      else {
        const text = value === true ? "" : String(value);
        if (element.getAttribute(name) !== text) element.setAttribute(name, text);
      }
    }
    return element;
  };

  /* Set the text of an element if it differs. */
  pedanova.say = function (element, text) {
    if (element.textContent !== text) element.textContent = text;
    return element;
  };

  pedanova.button = function (label, title, press, kind = "quiet") {
    const button = pedanova.make("button", kind, label);
    const named = !/[\p{L}\p{N}]/u.test(label) || title.includes(label) ? title : `${label}: ${title}`; // the accessible name contains the visible label
    pedanova.set(button, { type: "button", "aria-label": named });
    pedanova.tip(button, title);
    button.addEventListener("click", press);
    return button;
  };

  pedanova.on = function (event, listener) {
    if (!listeners.has(event)) listeners.set(event, new Set());
    listeners.get(event).add(listener);
    return () => listeners.get(event).delete(listener);
  };
  pedanova.emit = (event, data) => [...(listeners.get(event) || [])].forEach((listener) => listener(data));

  pedanova.hover = {
    row: null,
    set(row) {
      pedanova.hover.row = row;
      pedanova.emit("hover", row);
    },
    subscribe: (listener) => pedanova.on("hover", listener),
  };

  pedanova.register = (tab) => pedanova.tabs.push(tab);
  pedanova.tool = (tool) => pedanova.tools.push(tool);

  pedanova.parameter = (name) => pedanova.byName.get(name);
  /* The short form of a name; tooltips show the full name. */
  pedanova.nameOf = (name) => (pedanova.byName.get(name) || {}).short || name;
  /* The current question; hidden chips do not select. */
  pedanova.asked = function (state = pedanova.state.get()) {
    const kept = Object.entries(state.question.selection).filter(([name]) => !state.hidden.includes(name));
    return { ...state.question, selection: Object.fromEntries(kept) };
  };
  /* The selection for a parameter, which may even be named "__proto__"; undefined for all values. */
  pedanova.brushOf = (question, name) => (Object.hasOwn(question.selection, name) ? question.selection[name] : undefined);
  pedanova.selects = (question) => Object.keys(question.selection).length > 0;

  /* Whether a drag is in progress; until it ends, nothing else on the page moves. */
  let drags = 0;
  pedanova.drag = {
    isOn: () => drags > 0,
    begin() { drags += 1; },
    end() { drags = Math.max(0, drags - 1); if (!drags) pedanova.emit("released"); },
  };

  /* Call `work` at most once per animation frame, with the newest arguments. */
  pedanova.eachFrame = function (work) {
    let waiting = null;
    return (...args) => {
      if (waiting === null) requestAnimationFrame(() => { const last = waiting; waiting = null; work(...last); });
      waiting = args;
    };
  };

  /* Tooltips: one element for all; `text` is a text or a function, with newlines between lines. */
  let shown = null, last = null;
  const words = new WeakMap();
  pedanova.on("shown", () => shown && shown.isConnected && last && say(shown, last)); // an open tooltip follows the new answer
  pedanova.tip = function (element, text) {
    if (!words.has(element)) {
      element.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && say(element, event));
      element.addEventListener("pointermove", (event) => event.pointerType !== "touch" && say(element, event));
      element.addEventListener("pointerleave", () => hush(element));
      element.addEventListener("pointerdown", () => hush(element));
    }
    words.set(element, text);
    return element;
  };

  function say(element, event) {
    const text = words.get(element);
    const told = typeof text === "function" ? text(event) : text;
    const tip = pedanova.byId("tip");
    if (!tip) return;
    if (!told || event.buttons) return hush(element);
    if (tip.textContent !== told) tip.textContent = told;
    tip.hidden = false;
    [shown, last] = [element, event];
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(window.innerWidth - width - 8, Math.max(8, event.clientX + 12));
    const below = event.clientY + 18;
    const top = below + height > window.innerHeight - 8 ? event.clientY - height - 12 : below;
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  function hush(element) {
    if (shown !== element) return;
    shown = null;
    pedanova.byId("tip").hidden = true;
  }
})();
