"use strict";
/* Vega charts: built once for each spec and theme, then fed with rows. */
pedanova.charts = (function () {
  const { data, theme } = pedanova;
  const charts = new Map();
  const MARGIN = 150; // pixels beyond the window that count as seen
  const silent = { load: () => Promise.reject(new Error("nothing is loaded")), sanitize: () => Promise.reject(new Error("no links")) };

  function open(spec, config, options) {
    const compiled = vegaLite.compile(spec, { config }).spec;
    const runtime = vega.parse(compiled, null, { ast: true });
    return new vega.View(runtime, { expr: vegaInterpreter.expressionInterpreter, loader: silent, ...options });
  }

  function feed(view, { rows, words = {} }) {
    for (const [name, list] of Object.entries(words)) view.signal(name, list);
    for (const [name, values] of Object.entries(rows)) view.data(name, values.map((row) => ({ ...row })));
    return view;
  }

  function specOf(drawn) {
    const spec = structuredClone(data.specs[drawn.spec]);
    if (drawn.height) spec.height = drawn.height;
    return spec;
  }

  /* Draw in the place of `key`; `drawn` is { spec, height, rows, words, label, click }. What is out of sight
     waits until it is scrolled to, so that a drag moves only what is seen. */
  function show(key, drawn) {
    const host = pedanova.byId(`${key}-chart`);
    const chart = charts.get(key) || { host, near: isNear(host) };
    chart.drawn = drawn;
    chart.stale = true;
    if (!charts.has(key)) {
      charts.set(key, chart);
      host.style.minHeight = `${drawn.height || data.specs[drawn.spec].height}px`;
      sight.observe(host);
    }
    host.setAttribute("aria-label", drawn.label);
    if (chart.near) paint(chart);
  }

  function paint(chart) {
    if (!chart.stale) return;
    const { drawn, host } = chart;
    const shape = `${drawn.spec} ${drawn.height || ""} ${document.documentElement.dataset.theme} ${document.body.className}`;
    if (chart.shape !== shape) {
      if (chart.view) chart.view.finalize();
      host.textContent = "";
      chart.view = open(specOf(drawn), theme.config(), { renderer: "svg", container: host });
      chart.view.addEventListener("click", (_, item) => item && item.datum && chart.drawn.click && chart.drawn.click(item.datum));
      chart.shape = shape;
    }
    feed(chart.view, drawn).run();
    host.setAttribute("role", "img"); // Vega has said its own of the place
    host.setAttribute("aria-label", drawn.label);
    chart.stale = false;
  }

  function isNear(host) {
    const { top, bottom } = host.getBoundingClientRect();
    return bottom > -MARGIN && top < window.innerHeight + MARGIN;
  }

  const sight = new IntersectionObserver((entries) => {
    entries.forEach((entry) => {
      const chart = [...charts.values()].find((one) => one.host === entry.target);
      if (!chart) return;
      chart.near = entry.isIntersecting;
      if (chart.near) paint(chart);
    });
  }, { rootMargin: `${MARGIN}px` });

  const paintAll = () => charts.forEach(paint);

  function clear(key) {
    const chart = charts.get(key);
    const host = pedanova.byId(`${key}-chart`);
    if (chart && chart.view) chart.view.finalize();
    sight.unobserve(host);
    charts.delete(key);
    host.style.minHeight = `${host.offsetHeight}px`; // the place stays as high as the chart was
    host.textContent = "";
  }

  /* The same chart for a file: of fixed width, with its title and a ground. */
  function forExport(drawn, heading) {
    const spec = specOf(drawn);
    spec.width = 640;
    spec.background = theme.colour("card");
    spec.padding = 12;
    spec.params = [...spec.params, { name: "heading", value: heading }];
    spec.title = { text: { expr: "heading" } };
    return feed(open(spec, theme.config(), { renderer: "none" }), drawn);
  }

  async function svg(drawn, heading) {
    const view = forExport(drawn, heading);
    const text = await view.toSVG();
    view.finalize();
    return new Blob([text], { type: "image/svg+xml" });
  }

  async function png(drawn, heading) {
    const view = forExport(drawn, heading);
    const canvas = await view.toCanvas(2);
    view.finalize();
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  window.addEventListener("beforeprint", paintAll);
  return { show, clear, paintAll, svg, png, drawn: (key) => charts.get(key) && charts.get(key).drawn };
})();
