/* What a card shows, as a file: numbers with all digits (CSV), the drawing (SVG), and a picture of it (PNG). */
"use strict";
pedanova.exports = (function () {
  const { button, make } = pedanova;
  const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity",
    "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "visibility"];

  const quoted = (cell) => {
    const plain = cell === null || cell === undefined ? "" : String(cell);
    const text = typeof cell === "string" && /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain; // a spreadsheet would compute it
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };

  const csvOf = (lines) => lines.map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";

  function save(name, blob) {
    const link = make("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  /* A drawing that needs no style sheet: colours and fonts as they are seen, on the ground they are seen on. */
  function plainOf(drawing) {
    const copy = drawing.cloneNode(true);
    const seen = [drawing, ...drawing.querySelectorAll("*")], own = [copy, ...copy.querySelectorAll("*")];
    seen.forEach((element, i) => {
      const style = getComputedStyle(element);
      if (style.display === "none") own[i].setAttribute("display", "none");
      DRAWN.forEach((name) => {
        const value = style.getPropertyValue(name);
        if (value) own[i].setAttribute(name, value);
      });
      ["class", "style", "tabindex"].forEach((name) => own[i].removeAttribute(name));
    });
    const { width, height } = drawing.getBoundingClientRect();
    const [wide, high] = [Math.ceil(width), Math.ceil(height)];
    pedanova.set(copy, { xmlns: "http://www.w3.org/2000/svg", width: wide, height: high });
    if (!copy.getAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    const [x, y, w, h] = copy.getAttribute("viewBox").split(" ").map(Number);
    copy.prepend(pedanova.svg("rect", { x, y, width: w, height: h, fill: groundOf(drawing) }));
    return { text: new XMLSerializer().serializeToString(copy), wide, high };
  }

  function groundOf(element) {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (colour && !/^(transparent|rgba\(.*, 0\))$/.test(colour)) return colour;
    }
    return "white";
  }

  async function pictureOf(drawing) {
    if (drawing instanceof HTMLCanvasElement) return new Promise((done) => drawing.toBlob(done, "image/png"));
    const { text, wide, high } = drawing.text ? drawing : plainOf(drawing);
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    await image.decode();
    const canvas = make("canvas");
    canvas.width = 2 * wide;
    canvas.height = 2 * high;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  /* Buttons of one card. `csv` gives lines of cells (or a promise of them), `drawing` an SVG, a canvas, or {text, wide, high} of one that is plain
     already; each may be left out. */
  function buttons({ key, what, csv, drawing, vector = true }) {
    const files = {
      csv: csv && (async () => { const lines = await csv(); return Array.isArray(lines) ? new Blob([csvOf(lines)], { type: "text/csv" }) : lines; }),
      svg: drawing && vector && (async () => { const seen = drawing(); return seen && new Blob([(seen.text ? seen : plainOf(seen)).text], { type: "image/svg+xml" }); }),
      png: drawing && (async () => { const seen = drawing(); return seen && pictureOf(seen); }),
    };
    const list = make("span", "exports"), menu = make("details", "menu", make("summary", "", "⋯"), list);
    pedanova.set(menu.firstChild, { "aria-label": `Save ${what}` });
    pedanova.tip(menu.firstChild, `Save ${what}`);
    for (const [form, blobOf] of Object.entries(files)) {
      if (!blobOf) continue;
      const one = button(form.toUpperCase(), `Save ${what} as ${form.toUpperCase()}`, async () => {
        menu.open = false;
        const blob = await blobOf();
        if (blob) save(`pedanova-${key}.${form}`, blob);
      });
      pedanova.set(one, { "data-export": form, "data-of": key });
      list.append(one);
    }
    menu.addEventListener("focusout", ({ relatedTarget }) => { if (!menu.contains(relatedTarget)) menu.open = false; });
    menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { menu.open = false; menu.firstChild.focus(); } });
    return menu;
  }

  /* --- the cards above the tabs ------------------------------------------------------------------------------- */

  const COLUMNS = ["parameter", "share", "low", "high", "ratio", "p_value", "p_adjusted", "significant", "varied", "divergence", "n_target", "n_region"];
  const answer = () => pedanova.page.answer() || {};
  const rankingLines = () => [COLUMNS, ...(answer().importances || []).map((row) => COLUMNS.map((key) => row[key]))];

  const rankingDrawing = () => barsDrawing(`What matters for ${pedanova.pane.questionWords(pedanova.asked())}`,
    (answer().importances || []).filter((row) => row.varied !== false).map((row) => ({ name: pedanova.nameOf(row.parameter), part: row.share, low: row.low, high: row.high, noise: row.significant === false })));

  /* A ranked list as a drawing, in rows of 22 pixels: {name, part, low, high, noise}. */
  function barsDrawing(title, rows, least = 0.01) {
    const { svg, theme: { colour } } = pedanova, [left, wide, high] = [Math.max(120, ...rows.map((row) => row.name.length * 6.8)) + 16, 360, 22];
    const most = Math.max(least, ...rows.flatMap((row) => [row.part, row.high || 0])), x = (part) => left + (Math.max(0, part) / most) * wide;
    const size = { width: Math.round(left + wide + 80), height: high * rows.length + 42 };
    const text = (attributes, words) => svg("text", { "font-family": "system-ui, sans-serif", "font-size": 12, fill: colour("ink"), "dominant-baseline": "middle", ...attributes }, words);
    const drawing = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${size.width} ${size.height}`, ...size }, svg("rect", { ...size, fill: colour("ground") }), text({ x: 8, y: 14, "font-weight": 600 }, title));
    rows.forEach((row, i) => {
      const y = 34 + i * high + high / 2, ink = colour(row.noise ? "soft" : "ink");
      drawing.append(text({ x: left - 8, y, "text-anchor": "end", fill: ink }, row.name),
        svg("rect", { x: left, y: y - 6, width: Math.max(1, x(row.part) - left), height: 12, fill: colour(row.noise ? "noise" : "target") }),
        text({ x: Math.max(x(row.part), x(row.high || 0)) + 6, y, fill: ink }, `${row.noise ? "~ " : ""}${pedanova.percent(row.part)}`));
      if (Number.isFinite(row.low) && Number.isFinite(row.high)) drawing.append(svg("line", { x1: x(row.low), x2: x(row.high), y1: y, y2: y, stroke: colour("ink"), "stroke-width": 1.5 }));
    });
    return { text: new XMLSerializer().serializeToString(drawing), wide: size.width, high: size.height };
  }

  function densityLines() {
    const bins = (name) => { const { shape } = pedanova.parameter(name); return shape.labels || shape.edges.slice(1).map((edge, i) => `${shape.edges[i]} … ${edge}`); };
    const keys = ["target", "region", "uniform", "low", "high"], all = Object.entries(answer().densities || {}).filter(([name]) => pedanova.parameter(name).shape);
    return [["parameter", "bin", ...keys], ...all.flatMap(([name, density]) => bins(name).map((bin, i) => [name, bin, ...keys.map((key) => (density[key] || [])[i])]))];
  }

  /* All cards of densities side by side, three in a row, each under its name. */
  function densityDrawing() {
    const cards = [...document.querySelectorAll("#densities .density")].map((card) => [card.querySelector("svg"), pedanova.nameOf(card.dataset.parameter)]).filter(([drawing]) => drawing);
    const pieces = cards.map(([drawing, name]) => ({ ...plainOf(drawing), name })), many = Math.min(3, pieces.length || 1);
    const wide = Math.max(0, ...pieces.map((one) => one.wide)) + 16, high = Math.max(0, ...pieces.map((one) => one.high)) + 30, style = pedanova.theme.colour;
    const size = { width: many * wide, height: Math.ceil(pieces.length / many) * high };
    const outer = pedanova.svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${size.width} ${size.height}`, ...size }, pedanova.svg("rect", { ...size, fill: style("ground") }));
    pieces.forEach((one, i) => {
      const [x, y] = [(i % many) * wide + 8, Math.floor(i / many) * high];
      const inner = document.importNode(new DOMParser().parseFromString(one.text, "image/svg+xml").documentElement, true);
      outer.append(pedanova.svg("text", { x, y: y + 16, "font-family": "system-ui, sans-serif", "font-size": 13, "font-weight": 600, fill: style("ink") }, one.name || ""), pedanova.set(inner, { x, y: y + 24 }));
    });
    return { text: new XMLSerializer().serializeToString(outer), wide: size.width, high: size.height };
  }

  let placed = false;
  pedanova.on("shown", () => {
    if (placed) return;
    placed = true;
    document.querySelector("#matters .card-head").append(buttons({ key: "importance", what: "the ranking", csv: rankingLines, drawing: rankingDrawing }));
    document.querySelector("#densities .card-head > div").append(buttons({ key: "densities", what: "the densities", csv: densityLines, drawing: densityDrawing }));
  });

  return { barsDrawing, buttons, plainOf, save };
})();
