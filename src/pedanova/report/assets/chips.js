/* The question as chips: target, region and every selected parameter; each can be typed into, hidden or removed. */
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
    const look = JSON.stringify([state.question, state.hidden, answer.ends || null, answer.rows || null]);
    if (look === drawn) return;
    drawn = look;
    const focus = document.activeElement && place.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    place.replaceChildren(...chipsOf(state, answer));
    const again = focus && [...place.querySelectorAll("[data-focus]")].find((one) => one.dataset.focus === focus);
    if (again) again.focus({ preventScroll: true });
  }

  function chipsOf(state, answer) {
    const { question } = state;
    const found = [band("target", question.target, answer), make("span", "joint", "in"), band("region", question.region, answer)];
    found.push(make("span", "joint", "against"), choice("baseline", question.baseline, [["region", "the region"], ["uniform", "a uniform draw"]], "What the target is compared with"));
    if (question.study) found.push(studied(question.study));
    for (const [name, part] of Object.entries(question.selection)) found.push(selected(name, part, state));
    if (pedanova.selects(question) && !pedanova.facts.objective.several) {
      found.push(choice("good", question.good, [["all", "good of all rows"], ["selection", "good of these"]], "What a part of the rows is a part of"));
    }
    if (Object.keys(question.selection).length > 2) {
      found.push(button("clear all", "Select all rows again", () => pedanova.state.change({ question: { ...question, selection: {} }, hidden: [] })));
    }
    return found;
  }

  function rows(answer) {
    const said = answer.rows || {};
    const parts = [];
    if (said.selected !== undefined && said.selected !== pedanova.facts.rows) parts.push(`${pedanova.count(said.selected)} of ${pedanova.plural(pedanova.facts.rows, "row")}`);
    else parts.push(pedanova.plural(pedanova.facts.rows, "row"));
    if (said.target !== undefined && said.target !== null) parts.push(`${pedanova.count(said.target)} good`);
    if (answer.sample) parts.push(`first answer from ${pedanova.count(answer.sample)} rows`);
    const words = parts.join(" · ");
    if (counts.textContent !== words) counts.textContent = words;
    counts.classList.toggle("few", pedanova.page.isFew(answer));
  }

  /* Target or region. */
  function band(which, value, answer) {
    const words = pedanova.objective.wordsOf(which, value, null);
    const text = button("", `${which}: ${pedanova.objective.wordsOf(which, value, answer)}. Type another.`, () => edit(chip, which, plain(value), (typed) => readBand(which, typed)), "chip-text");
    text.append(make("b", "", which), ` ${words}`);
    text.dataset.focus = which;
    const chip = make("span", `chip ${which}`, text);
    return chip;
  }

  function plain(value) {
    if (value.part) return value.part[0] ? `${100 * value.part[0]}–${100 * value.part[1]} %` : `${Number((100 * value.part[1]).toPrecision(6))} %`;
    const [low, high] = value.value;
    return low === null ? `<= ${high}` : high === null ? `>= ${low}` : `${low} to ${high}`;
  }

  /* "10 %", "best 10", "<= 0.03", "0.1 to 0.3", "all". */
  function readBand(which, typed) {
    const text = typed.trim().toLowerCase();
    const live = pedanova.source.isLive();
    const number = text.match(/-?\d*\.?\d+(?:e[-+]?\d+)?/g);
    if (text === "all" && which === "region") return pedanova.state.ask({ region: { part: [0, 1] } });
    if (!number) throw new Error('type a part such as "10 %", or "all"');
    const bounded = /^(<=|≤|<|>=|≥|>)/.test(text), spanned = number.length === 2 && !text.includes("%");
    if (bounded || spanned) {
      if (!live) throw new Error('this file knows parts only, such as "10 %"');
      const ends = spanned ? [Number(number[0]), Number(number[1])].sort((a, b) => a - b) : /^[<≤]/.test(text) ? [null, Number(number[0])] : [Number(number[0]), null];
      return pedanova.state.ask({ [which]: { value: ends } });
    }
    const parts = number.map((one) => Math.abs(Number(one)) / 100);
    const part = parts[parts.length - 1];
    if (!(part > 0 && part <= 1)) throw new Error("a part is above 0 and at most 100 %");
    if (live && parts.length === 2) return pedanova.state.ask({ [which]: { part: [parts[0], parts[1]] } });
    const known = pedanova.objective.parts(which);
    const near = live ? part : known.reduce((best, one) => (Math.abs(Math.log(one / part)) < Math.abs(Math.log(best / part)) ? one : best));
    return pedanova.objective.change(which, [0, near], false);
  }

  const rangeWords = ([low, high]) => (low === null ? `≤ ${short(high)}` : high === null ? `≥ ${short(low)}` : low === high ? `= ${short(low)}` : `${short(low)} – ${short(high)}`);
  const words = (part) => (part.range ? rangeWords(part.range) : `= ${part.labels.join(", ")}`);

  function selected(name, part, state) {
    const off = state.hidden.includes(name), short_ = pedanova.nameOf(name);
    const chip = make("span", off ? "chip off" : "chip");
    const text = button("", `${name} ${words(part)}. Type another.`, () => edit(chip, name, typedOf(part), (typed) => readPart(name, typed)), "chip-text");
    text.append(make("b", "", short_), ` ${words(part)}`);
    text.dataset.focus = `text ${name}`;
    const eye = button(off ? "○" : "●", off ? `Use ${name} again` : `Leave ${name} out for now`, () => toggle(name), "chip-side");
    eye.setAttribute("aria-pressed", String(!off));
    eye.dataset.focus = `eye ${name}`;
    const cross = button("×", `Remove ${name}`, () => pedanova.state.select(name, null), "chip-side");
    cross.dataset.focus = `cross ${name}`;
    chip.append(text, eye, cross);
    return chip;
  }

  /* One study among several, asked alone. */
  function studied({ column, name }) {
    const chip = make("span", "chip", make("span", "chip-text", make("b", "", column), ` = ${name}`));
    chip.append(button("×", "Ask all studies again", () => pedanova.groups.choose(null), "chip-side"));
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
    const number = "[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?";
    const both = text.match(new RegExp(`^(${number})?\\s*(?:to|–|…|,|\\.\\.)\\s*(${number})?$`, "i"));
    const one = text.match(new RegExp(`^(<=|≤|>=|≥|=)?\\s*(${number})$`, "i"));
    const ends = both ? [both[1], both[2]] : one ? (/[<≤]/.test(one[1] || "") ? [null, one[2]] : /[>≥]/.test(one[1] || "") ? [one[2], null] : [one[2], one[2]]) : null;
    if (!ends) throw new Error('type "0.001 to 0.3", "<= 3" or nothing for all');
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

  /* The chip becomes a field; Enter takes it, Esc leaves it. */
  function edit(chip, label, text, take) {
    const field = make("input", "chip-field");
    set(field, { type: "text", value: text, "aria-label": label, size: Math.max(8, text.length + 1), spellcheck: "false", autocomplete: "off" });
    const before = [...chip.childNodes];
    editing = field;
    chip.replaceChildren(make("b", "", label.length < 20 ? label : pedanova.nameOf(label)), field);
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
          field.reportValidity();
          byId("said").textContent = error.message;
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
    field.addEventListener("input", () => { field.setCustomValidity(""); field.removeAttribute("aria-invalid"); });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { event.preventDefault(); end(true); }
      if (event.key === "Escape") { event.preventDefault(); end(false); }
      event.stopPropagation();
    });
    field.addEventListener("blur", () => end(false));
  }

  return { mount, show, words };
})();
