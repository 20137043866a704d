"use strict";
/* Light and dark: colours live in the style sheet, charts read them from there. */
pedanova.theme = (function () {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const listeners = [];
  let chosen = null; // what the reader asked for; null follows the system

  const name = () => chosen || (dark.matches ? "dark" : "light");

  function apply(which = name()) {
    root.dataset.theme = which;
    const button = pedanova.byId("theme");
    button.textContent = which === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", which === "dark" ? "Use light colours" : "Use dark colours");
    listeners.forEach((listener) => listener());
  }

  function colour(variable) {
    return getComputedStyle(root).getPropertyValue(`--${variable}`).trim();
  }

  /* What Vega needs to draw like the rest of the page. */
  function config() {
    const [ink, soft, line, target, region, uniform, good, card] =
      ["ink", "soft", "line", "target", "region", "uniform", "good", "card"].map(colour);
    const slots = [0, 1, 2, 3, 4, 5].map((i) => colour(`c${i}`));
    const size = 0.75 * parseFloat(getComputedStyle(root).fontSize);
    const text = { labelColor: soft, titleColor: soft, labelFontSize: size, titleFontSize: size, titleFontWeight: 400 };
    return {
      font: "system-ui, sans-serif",
      background: "transparent",
      padding: 2,
      view: { stroke: null },
      title: { color: ink, anchor: "start", fontSize: 14, limit: 620 },
      axis: { ...text, domainColor: line, tickColor: line, gridColor: line, gridOpacity: 0.5 },
      axisX: { grid: false },
      legend: { ...text },
      range: {
        category: slots,
        heatmap: ["heat-low", "heat-mid", "heat-high"].map(colour),
        diverging: ["less", "even", "more"].map(colour),
      },
      style: {
        good: { color: good, opacity: 0.16 },
        target: { color: target, strokeWidth: 3 },
        region: { color: region, strokeWidth: 2 },
        uniform: { color: uniform, strokeWidth: 1.5, strokeDash: [5, 4] },
        "region-tick": { color: region, thickness: 5 },
        "uniform-tick": { color: uniform, thickness: 2 },
        interval: { color: ink, strokeWidth: 2 },
        here: { color: ink, strokeDash: [3, 3], strokeWidth: 1.5 },
        other: { color: region, strokeWidth: 1, opacity: 0.45 },
        known: { strokeWidth: 2 },
        "known-point": { filled: true, size: 45, opacity: 1 },
        chosen: { color: ink, strokeWidth: 4 },
        "chosen-known": { strokeWidth: 5 },
        cell: { stroke: null },
        sure: { color: colour("sure"), filled: true, size: 60, opacity: 1, stroke: card, strokeWidth: 1 },
        picked: { color: ink, filled: false, strokeWidth: 2.5 },
        plain: { color: ink, strokeWidth: 1.5 },
        "target-area": { color: target, opacity: 0.75 },
        "region-area": { color: region, opacity: 0.35 },
        "target-rule": { color: target, strokeWidth: 2 },
        "region-rule": { color: region, strokeWidth: 2, strokeDash: [6, 3] },
      },
    };
  }

  dark.addEventListener("change", () => apply());
  /* On paper: light, and as wide as a page while the charts are drawn for it. */
  function print(on) {
    document.body.classList.toggle("printing", on);
    apply(on ? "light" : name());
  }

  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
  return {
    apply, colour, config, name,
    toggle() { chosen = name() === "dark" ? "light" : "dark"; apply(); },
    whenChanged: (listener) => listeners.push(listener),
  };
})();
