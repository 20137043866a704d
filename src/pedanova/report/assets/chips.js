/* The question as chips: target, region and selected parameters. Chips can be edited; selections can be hidden or removed. */
"use strict";
pedanova.chips = (function () {
  const { make, button, byId, short, set } = pedanova;
  let place = null, counts = null, editing = null, drawn = "";

  function mount() {
    place = make("div", "chip-list");
    counts = make("p", "counts");
    counts.setAttribute("role", "status");
    byId("chips").append(place, counts);
    pedanova.on("study", () => { drawn = ""; });
  }

  function show(state, answer) {
    rows(answer);
    if (editing) return;
    const look = JSON.stringify([state.question, state.hidden, answer.bands || null, answer.rows || null]);
    if (look === drawn) return;
    drawn = look;
    const focus = document.activeElement && place.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    place.replaceChildren(...chipsOf(state, answer));
    const again = focus && [...place.querySelectorAll("[data-focus]")].find((one) => one.dataset.focus === focus);
    if (again) again.focus({ preventScroll: true });
  }

  const BASELINES = [["region", "the region"], ["uniform", "a uniform draw"], ["paper", "as the paper does"]];

  function chipsOf(state, answer) {
    const { question } = state;
    const found = [band("target", question.target, answer)];
    if (pedanova.selects(question) && !pedanova.facts.objective.several) { // in front, so that it is always in sight
      found.push(choice("good", question.good, [["all", "best of all rows"], ["selection", "best of these rows"]], "Which rows a percentage refers to"));
    }
    found.push(make("span", "joint", "in"), band("region", question.region, answer));
    found.push(make("span", "joint", "against"), choice("baseline", question.baseline, BASELINES.filter(([base]) => pedanova.source.answers({ ...pedanova.asked(), baseline: base })), "What the target is compared with"));
    found.push(...fixed());
    if (question.study) found.push(studied(question.study));
    for (const [name, part] of Object.entries(question.selection)) found.push(selected(name, part, state));
    if (Object.keys(question.selection).length > 2) {
      found.push(button("clear all", "Select all rows again", () => pedanova.state.change({ question: { ...question, selection: {} }, hidden: [] })));
    }
    return found;
  }

  /* Chips for the rows to which the whole file is limited. */
  function fixed() {
    const { within } = pedanova.facts;
    if (!within) return [];
    const chip = (...inside) => make("span", "chip fixed", make("span", "chip-text", ...inside));
    const own = Object.entries(within.selection || {}).map(([name, part]) => chip(make("b", "", pedanova.nameOf(name)), ` ${words(part)}`));
    if (within.study) own.unshift(chip(make("b", "", within.study.column), ` = ${within.study.name}`));
    return own.length ? own : [chip(within.words)];
  }

  function rows(answer) {
    if (answer.refused && !answer.rows && answer.pending) return;
    const said = answer.rows || {}, all = pedanova.facts.within ? pedanova.facts.within.of : pedanova.facts.rows;
    const selected = said.selected ?? pedanova.facts.rows, parts = [];
    parts.push(selected !== all ? `${pedanova.count(selected)} of ${pedanova.plural(all, "row")}` : pedanova.plural(all, "row"));
    if (said.target !== undefined && said.target !== null) parts.push(`${pedanova.count(said.target)} good`);
    if (answer.sample) parts.push(`first answer, from a sample of ${pedanova.count(answer.sample)} rows`);
    const words = parts.join(" · ");
    if (counts.textContent !== words) counts.textContent = words;
    counts.classList.toggle("few", pedanova.page.isFew(answer));
  }

  /* Target or region. */
  function band(which, value, answer) {
    const words = pedanova.objective.wordsOf(which, value, answer, false);
    const text = button("", `${which}: ${pedanova.objective.wordsOf(which, value, answer)}. Click to change.`, () => edit(chip, which, plain(value), (typed) => readBand(which, typed)), "chip-text");
    text.append(make("b", "", which), ` ${words}`);
    text.dataset.focus = which;
    const chip = make("span", `chip ${which}`, text);
    return chip;
  }

  function plain(value) {
    if (value.part) return value.part[0] ? `${value.part[0]}..${value.part[1]}` : `${Number((100 * value.part[1]).toPrecision(6))} %`;
    const [low, high] = value.value;
    return low === null ? `<= ${high}` : high === null ? `>= ${low}` : `>= ${low}, <= ${high}`;
  }

  const NUMBER = "[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?";
  const reads = (form) => new RegExp(`^${form.replaceAll("N", `(${NUMBER})`).replaceAll(" ", "\\s*")}$`, "i");
  const FORMS = {
    part: reads("(?:best )?N (%)?"), parts: reads("N (%)? \\.\\. N (%)?"), most: reads("(?:<=|≤) N"), least: reads("(?:>=|≥) N"),
    both: reads("(?:>=|≥) N ,? (?:<=|≤) N"),
  };

  /* As in Python and in a shell: "0.05" and "5 %" are the best twentieth, "0.1..0.3" is a range of parts, "<= 0.03" a limit. */
  function readBand(which, typed) {
    const text = typed.trim(), live = pedanova.source.isLive();
    if (text.toLowerCase() === "all" && which === "region") return pedanova.state.ask({ region: { part: [0, 1] } });
    const found = Object.entries(FORMS).map(([kind, form]) => [kind, text.match(form)]).find(([, match]) => match);
    if (!found) throw new Error('type a fraction (0.05 or 5 %), a range of fractions (0.1..0.3), or a limit on the objective (<= 0.03)');
    const [kind, match] = found, [first, second] = match.slice(1).filter((one) => one !== undefined && one !== "%").map(Number);
    if (kind !== "part" && !live) throw new Error("this file accepts only percentages, such as 5 %");
    if (kind === "part" || kind === "parts") {
      const [from, to] = kind === "part" ? [0, match[2] ? first / 100 : first] : [match[2] || match[4] ? first / 100 : first, match[4] || match[2] ? second / 100 : second];
      if (!(from >= 0 && from < to && to <= 1)) throw new Error("enter a fraction between 0 and 1, such as 0.05 or 5 %");
      if (live) return from ? pedanova.state.ask({ [which]: { part: [from, to] } }) : pedanova.objective.change(which, [0, to], false);
      const known = pedanova.objective.parts(which);
      return pedanova.objective.change(which, [0, known.reduce((best, one) => (Math.abs(Math.log(one / to)) < Math.abs(Math.log(best / to)) ? one : best))], false);
    }
    const value = kind === "both" ? [first, second] : kind === "most" ? [null, first] : [first, null];
    if (kind === "both" && first > second) throw new Error("type the lower value first");
    return pedanova.state.ask({ [which]: { value } });
  }

  const rangeWords = ([low, high]) => (low === null ? `≤ ${short(high)}` : high === null ? `≥ ${short(low)}` : low === high ? `= ${short(low)}` : `${short(low)} to ${short(high)}`);
  const words = (part) => (part.range ? rangeWords(part.range) : part.labels.length > 6 ? `= one of ${part.labels.length} values` : `= ${part.labels.join(", ")}`);

  function selected(name, part, state) {
    const off = state.hidden.includes(name), short_ = pedanova.nameOf(name);
    const chip = make("span", off ? "chip off" : "chip");
    const text = button("", `${name} ${words(part)}. Click to change.`, () => edit(chip, name, typedOf(part), (typed) => readPart(name, typed)), "chip-text");
    text.append(make("b", "", short_), ` ${words(part)}`);
    text.dataset.focus = `text ${name}`;
    const eye = button(off ? "○" : "●", off ? `Use the selection of ${name} again` : `Ignore the selection of ${name} for now`, () => toggle(name), "chip-side");
    eye.setAttribute("aria-pressed", String(!off));
    eye.dataset.focus = `eye ${name}`;
    const cross = button("×", `Remove the selection of ${name}`, () => pedanova.state.select(name, null), "chip-side");
    cross.dataset.focus = `cross ${name}`;
    chip.append(text, eye, cross);
    return chip;
  }

  /* A chip for the single study that is shown. */
  function studied({ column, name }) {
    const chip = make("span", "chip", make("span", "chip-text", make("b", "", column), ` = ${name}`));
    chip.append(button("×", "Show all studies again", () => pedanova.groups.choose(null), "chip-side"));
    return chip;
  }

  function toggle(name) {
    const { hidden } = pedanova.state.get();
    pedanova.state.change({ hidden: hidden.includes(name) ? hidden.filter((one) => one !== name) : [...hidden, name] });
  }

  const typedOf = (part) => (part.range ? part.range.map((end) => end ?? "").join(" to ") : part.labels.join(", "));

  /* "0.001 to 0.3", ">= 3", "adam, sgd". */
  function readPart(name, typed) {
    const parameter = pedanova.parameter(name), text = typed.trim();
    if (!text) return pedanova.state.select(name, null);
    if (parameter.brush === "labels") {
      const wanted = text.split(",").map((one) => one.trim()).filter(Boolean);
      const unknown = wanted.find((one) => !parameter.labels.includes(one));
      if (unknown !== undefined) throw new Error(`${unknown} is not one of ${parameter.labels.slice(0, 8).join(", ")}`);
      return pedanova.state.select(name, wanted.length === parameter.labels.length ? null : { labels: wanted });
    }
    const both = text.match(reads("N? (?:to|–|…|\\.\\.) N?")), one = text.match(reads("(<=|≤|>=|≥|=)? N"));
    const ends = both ? [both[1], both[2]] : one ? (/[<≤]/.test(one[1] || "") ? [null, one[2]] : /[>≥]/.test(one[1] || "") ? [one[2], null] : [one[2], one[2]]) : null;
    if (!ends) throw new Error('type a range, such as "0.001 to 0.3" or "<= 3"; an empty field selects all values');
    const range = ends.map((end) => (end === null || end === undefined ? null : Number(end)));
    if (range[0] === null && range[1] === null) return pedanova.state.select(name, null);
    if (range[0] !== null && range[1] !== null && range[0] > range[1]) range.reverse();
    return pedanova.state.select(name, { range });
  }

  function choice(key, value, choices, label) {
    const list = make("select", "chip-choice");
    set(list, { "aria-label": label, "data-focus": key });
    for (const [word, text] of choices) {
      const one = make("option", "", text);
      one.value = word;
      one.selected = word === value;
      list.append(one);
    }
    list.addEventListener("change", () => pedanova.state.ask({ [key]: list.value }));
    pedanova.tip(list, label);
    const printed = make("span", "printed", (choices.find(([word]) => word === value) || ["", ""])[1]);
    return make("span", "chip choice", list, printed);
  }

  /* Turn the chip into a text field; Enter accepts, Esc cancels. */
  function edit(chip, label, text, take) {
    const field = make("input", "chip-field");
    set(field, { type: "text", value: text, "aria-label": label, size: Math.max(8, text.length + 1), spellcheck: "false", autocomplete: "off" });
    const before = [...chip.childNodes];
    editing = field;
    const wrong = set(make("span", "chip-wrong"), { role: "alert" });
    chip.replaceChildren(make("b", "", label.length < 20 ? label : pedanova.nameOf(label)), field, wrong);
    field.focus();
    field.select();
    const end = (kept) => {
      if (editing !== field) return;
      if (kept) {
        try {
          editing = null;
          take(field.value);
        } catch (error) {
          editing = field;
          field.setAttribute("aria-invalid", "true");
          field.setCustomValidity(error.message);
          wrong.textContent = error.message;
          wrong.scrollIntoView({ block: "nearest", inline: "nearest" });
          return;
        }
      }
      editing = null;
      drawn = "";
      if (chip.isConnected) chip.replaceChildren(...before);
      pedanova.page.show();
      const again = chip.querySelector(".chip-text");
      if (again) again.focus({ preventScroll: true });
    };
    field.addEventListener("input", () => { field.setCustomValidity(""); field.removeAttribute("aria-invalid"); wrong.textContent = ""; });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { event.preventDefault(); end(true); }
      if (event.key === "Escape") { event.preventDefault(); end(false); }
      event.stopPropagation();
    });
    field.addEventListener("blur", () => end(false));
  }

  /* A field in `chip` to type the selection of a column. */
  function type(chip, name) {
    const part = pedanova.state.get().question.selection[name];
    edit(chip, name, part ? typedOf(part) : "", (typed) => readPart(name, typed));
  }

  return { mount, show, type, words };
})();
