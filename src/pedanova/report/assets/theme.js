/* Light and dark: colours live in the style sheet; this only says which. */
"use strict";
pedanova.theme = (function () {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null; // what the reader asked for; null follows the system

  const name = () => chosen || (dark.matches ? "dark" : "light");

  function apply(which = name()) {
    root.dataset.theme = which;
    pedanova.emit("theme", which);
  }

  dark.addEventListener("change", () => apply());
  window.addEventListener("beforeprint", () => apply("light")); // on paper
  window.addEventListener("afterprint", () => apply());
  apply();
  return {
    apply, name,
    colour: (variable) => getComputedStyle(root).getPropertyValue(`--${variable}`).trim(),
    toggle() { chosen = name() === "dark" ? "light" : "dark"; apply(); },
  };
})();
