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
  /* On paper: light, and as wide as a page while it is drawn for it. */
  function print(on) {
    document.body.classList.toggle("printing", on);
    apply(on ? "light" : name());
    pedanova.page.showNow();
  }

  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));
  apply();
  return {
    apply, name,
    colour: (variable) => getComputedStyle(root).getPropertyValue(`--${variable}`).trim(),
    toggle() { chosen = name() === "dark" ? "light" : "dark"; apply(); },
  };
})();
