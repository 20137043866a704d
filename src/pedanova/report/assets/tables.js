"use strict";
/* The table behind every chart, and files to take away. */
pedanova.tables = (function () {
  const { make, byId, short } = pedanova;
  const tables = new Map();

  /* `table` is { header, rows (what is shown), csv: { header, rows } (in full) }. */
  function keep(key, table) {
    tables.set(key, table);
    const details = byId(`${key}-table`);
    if (details.open) draw(key);
  }

  function draw(key) {
    const table = tables.get(key)();
    const element = make("table");
    const head = element.createTHead().insertRow();
    table.header.forEach((name) => {
      const cell = make("th", "", name);
      cell.scope = "col";
      head.append(cell);
    });
    const body = element.createTBody();
    table.rows.forEach((row) => {
      const line = body.insertRow();
      row.forEach((value, i) => {
        const cell = make(i ? "td" : "th", "", typeof value === "number" ? short(value) : value);
        if (!i) cell.scope = "row";
        line.append(cell);
      });
    });
    byId(`${key}-table`).querySelector(".scroll").replaceChildren(element);
  }

  /* As Python's csv module writes: quotes only where needed, True and False, nothing for None. */
  function field(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "boolean") return value ? "True" : "False";
    const text = String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function csv(key) {
    const table = tables.get(key)();
    const { header, rows } = table.csv || table;
    return [header, ...rows].map((row) => row.map(field).join(",")).join("\n") + "\n";
  }

  function download(blob, name) {
    const link = make("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  async function save(key, form) {
    const name = `pedanova-${key}.${form}`;
    if (form === "csv") return download(new Blob([csv(key)], { type: "text/csv;charset=utf-8" }), name);
    const { drawn, heading } = pedanova.cards.forExport(key);
    if (drawn) download(await pedanova.charts[form](drawn, heading), name);
  }

  document.querySelectorAll(".tools details").forEach((details) => {
    const key = details.id.replace(/-table$/, "");
    details.addEventListener("toggle", () => { if (details.open && tables.has(key)) draw(key); });
  });
  document.querySelectorAll("[data-export]").forEach((button) => {
    const what = { csv: "the table as CSV", svg: "the chart as SVG", png: "the chart as PNG" }[button.dataset.export];
    const title = button.closest("section").querySelector("h2");
    button.setAttribute("aria-label", `Save ${what}: ${title.textContent.replace(/:\s*$/, "")}`);
    button.addEventListener("click", () => save(button.dataset.of, button.dataset.export));
  });
  return { keep, csv };
})();
