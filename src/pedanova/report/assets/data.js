"use strict";
/* The payload and how to read it. No number is computed here: Python wrote them all. */
const pedanova = (function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const places = new Map();
  data.questions.forEach((question, index) => {
    if (question.rungs) places.set(question.rungs.join(), index);
  });
  const decoded = new WeakMap();

  /* The question of two rungs. */
  function questionAt(target, region) {
    return data.questions[places.get(`${target},${region}`)];
  }

  /* Doubles from the base64 of their bytes, little end first; NaN stands for none. */
  function doubles(text) {
    const view = new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
    return Array.from({ length: view.byteLength / 8 }, (_, i) => view.getFloat64(8 * i, true)).map((x) => (Number.isNaN(x) ? null : x));
  }

  /* Whole numbers from the base64 of their bytes; the first letter says how many bytes each has. */
  function counts(id) {
    const text = data.counts[id];
    const size = Number(text[0]);
    const bytes = Uint8Array.from(atob(text.slice(1)), (letter) => letter.charCodeAt(0));
    return Array.from({ length: bytes.length / size }, (_, i) => bytes.slice(i * size, (i + 1) * size).reduceRight((sum, byte) => 256 * sum + byte, 0));
  }

  function column(answer, name) {
    const kept = answer.columns[name];
    if (Array.isArray(kept)) return kept;
    if ("doubles" in kept) return doubles(kept.doubles);
    return "as" in kept ? column(answer, kept.as) : answer.order.map(() => kept.all);
  }

  /* One object for every parameter, most important first; all columns of Python's table. */
  function rowsOf(answer) {
    if (!answer.columns) return [];
    if (!decoded.has(answer)) {
      const names = Object.keys(answer.columns);
      const columns = names.map((name) => column(answer, name));
      decoded.set(answer, answer.order.map((id, i) => {
        const row = { id, parameter: data.names[id] };
        names.forEach((name, j) => { row[name] = columns[j][i]; });
        return row;
      }));
    }
    return decoded.get(answer);
  }

  function percent(part, digits = 1) {
    return part === null ? "" : `${(100 * Math.max(0, part)).toFixed(digits)} %`;
  }

  function short(number) {
    if (number === null || number === undefined) return "";
    if (typeof number !== "number") return String(number);
    const size = Math.abs(number);
    if (number === 0 || (size >= 1e-3 && size < 1e5)) return String(Number(number.toPrecision(4)));
    return number.toExponential(2);
  }

  const counted = (number) => (number === null ? "?" : number.toLocaleString("en"));

  /* An element with a class and a text; text never becomes markup. */
  function make(tag, className = "", text = "") {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== "") element.textContent = text;
    return element;
  }

  const byId = (id) => document.getElementById(id);
  const state = { target: 0, region: 1, own: null, baseline: data.baseline, metric: "ratio", chosen: 0, pair: null };
  const question = () => (state.own === null ? questionAt(state.target, state.region) : data.questions[state.own]);
  const answer = () => question().answers[state.baseline];
  return { data, state, counts, question, answer, questionAt, rowsOf, percent, short, counted, make, byId };
})();
