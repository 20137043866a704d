/* What a card shows, as a file: numbers with all digits (CSV), the drawing (SVG), and a picture of it (PNG). */
"use strict";
pedanova.exports = (function () {
  const { button, make } = pedanova;
  const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity",
    "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "visibility"];

  const quoted = (cell) => {
    const text = cell === null || cell === undefined ? "" : String(cell);
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
    const { text, wide, high } = plainOf(drawing);
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    await image.decode();
    const canvas = make("canvas");
    canvas.width = 2 * wide;
    canvas.height = 2 * high;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  /* Buttons of one card. `csv` gives lines of cells (or a promise of them), `drawing` an SVG or a canvas; each may be left out. */
  function buttons({ key, what, csv, drawing, vector = true }) {
    const files = {
      csv: csv && (async () => new Blob([csvOf(await csv())], { type: "text/csv" })),
      svg: drawing && vector && (async () => new Blob([plainOf(drawing()).text], { type: "image/svg+xml" })),
      png: drawing && (() => pictureOf(drawing())),
    };
    const place = make("span", "exports");
    for (const [form, blobOf] of Object.entries(files)) {
      if (!blobOf) continue;
      const one = button(form.toUpperCase(), `Save ${what} as ${form.toUpperCase()}`, async () => {
        const blob = await blobOf();
        if (blob) save(`pedanova-${key}.${form}`, blob);
      });
      pedanova.set(one, { "data-export": form, "data-of": key });
      place.append(one);
    }
    return place;
  }

  return { buttons, csvOf, plainOf, save };
})();
