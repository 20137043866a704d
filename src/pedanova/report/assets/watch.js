/* A source that grows: asks for news, says what changed, and lets every card answer anew. The selection stays. */
"use strict";
pedanova.watch = (function () {
  const { make, byId, plural } = pedanova;
  const EVERY = 2000; // milliseconds
  const MOST = 50; // sentences
  let since = 0, line = null, list = null, told = [];

  function mount() {
    if (!pedanova.facts.watch) return;
    since = pedanova.facts.version || 0;
    line = make("summary", "", "Watching for new trials.");
    list = make("ul", "");
    const place = make("details", "news", line, list);
    place.setAttribute("role", "status");
    byId("headline").after(place);
    setTimeout(poll, EVERY);
  }

  async function poll() {
    if (!document.hidden) await look();
    setTimeout(poll, EVERY);
  }

  async function look() {
    let news;
    try {
      news = await pedanova.source.ask("news", pedanova.asked(), { since }, { slot: "news" });
    } catch (error) {
      if (error !== pedanova.STALE) throw error;
      return;
    }
    if (news.refused) { line.textContent = news.refused; return; }
    const changed = news.version > since;
    since = Math.max(since, news.version || 0);
    told = [...(news.changes || []).map((one) => one.text).reverse(), ...told].slice(0, MOST);
    say(news);
    if (changed && pedanova.drag.isOn()) await new Promise((next) => { const off = pedanova.on("released", () => { off(); next(); }); });
    if (changed) await renew(news);
  }

  function say(news) {
    const best = typeof news.best === "number" ? `best ${pedanova.short(news.best)}` : "";
    const running = news.running ? `${plural(news.running, "trial")} running` : "";
    const parts = [news.trouble || told[0] || "", news.stable || "", news.stop || "", best, running];
    line.textContent = parts.filter(Boolean).join(" · ") || "Watching for new trials.";
    list.replaceChildren(...told.map((text) => make("li", "", text)));
  }

  /* Facts may change with the rows: their number, the steps of the objective, how a parameter is cut. */
  async function renew(news) {
    let facts = { ...pedanova.facts, rows: news.rows };
    if (pedanova.facts.live === "http") {
      try {
        facts = await (await pedanova.source.request("facts")).json();
      } catch {
        return; // the next look says who is missing
      }
    }
    pedanova.page.renew(facts);
  }

  return { mount, show() {}, look };
})();
