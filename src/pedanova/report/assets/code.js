/* Python code, shell command and condition for the same numbers; a link to the view; a saved report. */
"use strict";
pedanova.code = (function () {
  const { make, byId, button } = pedanova;
  let shown = false;
  const UNSAID = "This cannot be written as a shell command. Use the Python code.";
  const NAMES = { python: "Python", shell: "Shell", condition: "Selected" };

  function mount() {}

  /* The code of the ranking and of the open tab; with the lines that open the data, it runs as it stands. */
  function show(state, answer) {
    const place = byId("code");
    place.hidden = !shown;
    if (!shown || (answer.pending && place.firstChild)) return;
    const rows = [...linesOf("Ranking", answer.lines), ...pedanova.pane.coded().flatMap(([title, lines]) => linesOf(title, lines))];
    place.replaceChildren(...(rows.length ? rows : [make("p", "note", "There is no code for this question.")]));
  }

  const whole = (line) => `${pedanova.facts.opening}\n${line}`;

  function linesOf(heading, lines) {
    const known = Object.entries(NAMES).filter(([key]) => lines && lines[key]);
    const rows = known.map(([key, title]) => {
      const text = key === "python" ? whole(lines[key]) : lines[key];
      return make("div", "code-line", make("span", "code-name", title), make("code", "", text), button("Copy", `Copy: ${title}, ${heading}`, () => copy(text, title)));
    });
    if (rows.length && !lines.shell) rows.push(make("p", "note", UNSAID));
    return rows.length ? [make("h3", "", heading), ...rows] : [];
  }

  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = make("textarea", "unseen", text); // files and frames may have no clipboard
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    said(`${what} copied`);
  }

  /* Show a short message that disappears after a while. */
  function said(words, long = 2500) {
    const place = byId("said");
    place.textContent = words;
    place.classList.remove("unseen");
    clearTimeout(said.timer);
    said.timer = setTimeout(() => { place.classList.add("unseen"); place.textContent = ""; }, long);
  }

  function toggle() {
    shown = !shown;
    pedanova.page.show();
  }

  /* Save a static report of the current selection; the server writes it. */
  async function report() {
    said("The report is being written …", 60000);
    try {
      const page = await pedanova.source.request("report", { question: pedanova.asked() });
      if (!page.ok) return said((await page.json()).refused || "The report could not be written.");
      pedanova.exports.save("report.html", await page.blob());
      return said("report.html is saved");
    } catch {
      return said("No answer. Is pedanova still running?");
    }
  }

  pedanova.tool({ key: "code", label: "</>", title: "Python and shell code for these numbers", press: toggle, pressed: () => shown });
  pedanova.tool({ key: "link", label: "Link", title: "Copy a link to this view; the link works only in this browser", press: () => copy(pedanova.state.address(), "Link") });
  pedanova.tool({ key: "save", label: "Save report…", title: "Save this selection as one file that you can send or keep", press: report, when: (facts) => facts.live === "http" });

  return { mount, show, said };
})();
