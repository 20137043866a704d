"use strict";
/* Vega charts: built once for each spec and theme, then fed with rows. */
pedanova.charts = (function () {
  const { data, theme } = pedanova;
  const charts = new Map();
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

  /* Draw in the place of `key`; `drawn` is { spec, height, rows, words, label, click }. */
  function show(key, drawn) {
    const host = pedanova.byId(`${key}-chart`);
    const shape = `${drawn.spec} ${drawn.height || ""} ${theme.name()} ${document.documentElement.dataset.theme}`;
    let known = charts.get(key);
    if (!known || known.shape !== shape) {
      if (known) known.view.finalize();
      host.textContent = "";
      const view = open(specOf(drawn), theme.config(), { renderer: "svg", container: host });
      if (drawn.click) view.addEventListener("click", (_, item) => item && item.datum && drawn.click(item.datum));
      known = { view, shape };
      charts.set(key, known);
    }
    known.drawn = drawn;
    feed(known.view, drawn).run();
    host.setAttribute("aria-label", drawn.label);
  }

  function clear(key) {
    const known = charts.get(key);
    if (known) known.view.finalize();
    charts.delete(key);
    pedanova.byId(`${key}-chart`).textContent = "";
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

  return { show, clear, svg, png, drawn: (key) => charts.get(key) && charts.get(key).drawn };
})();
