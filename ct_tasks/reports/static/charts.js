"use strict";
// Two charts of the front page: a dot a run, accuracy against RCS; and how each run's replies ended, as stacked bars.
(() => {
  const { $, el, percent } = CT;
  const LISTED = 30, PRONE = 0.2;  // a run is prone to luck when a fifth of its right answers stand below wrong traces
  const svg = (tag, attributes, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  let width = 0;
  function byRun() {
    const runs = new Map();
    for (const r of CT.chosen()) if (!r.derived) { if (!runs.has(r.run)) runs.set(r.run, []); runs.get(r.run).push(r); }
    return runs;
  }
  const mean = (values) => values.reduce((s, v) => s + v, 0) / values.length;

  function dots() {
    const points = [];
    for (const [name, rows] of byRun()) {
      const traced = rows.filter((r) => typeof r.metrics.rcs === "number" && typeof r.metrics.acc === "number");
      if (!traced.length) continue;
      const acc = mean(traced.map((r) => r.metrics.acc)), luck = mean(traced.map((r) => r.metrics.hack_rate ?? 0));
      points.push({ name, acc, rcs: mean(traced.map((r) => r.metrics.rcs)), luck: acc ? luck / acc : 0, row: traced[0] });
    }
    if (!points.length) { $("dots").replaceChildren(el("p", {}, "No run has reasoning scores; they come from the paradigm contra.")); return; }
    points.sort((a, b) => b.acc - a.acc);
    width = $("dots").clientWidth;
    const w = Math.max(260, Math.min(width || 480, 620)), h = Math.round(w * 0.62), left = 42, bottom = 36, right = 14, top = 12;
    const x = (v) => left + v * (w - left - right), y = (v) => h - bottom - v * (h - bottom - top);
    const picture = svg("svg", { width: w, height: h, role: "group", "aria-label": points.length + " runs: accuracy upwards, RCS to the right, both from 0 to 100 percent", class: "chart" });
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      picture.append(svg("line", { x1: x(tick), x2: x(tick), y1: y(0), y2: y(1), class: "rule" }), svg("line", { x1: x(0), x2: x(1), y1: y(tick), y2: y(tick), class: "rule" }));
      picture.append(svg("text", { x: x(tick), y: h - bottom + 15, "text-anchor": "middle" }, String(100 * tick)), svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, String(100 * tick)));
    }
    picture.append(svg("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: "diagonal" }));
    picture.append(svg("text", { x: (x(0) + x(1)) / 2, y: h - 4, "text-anchor": "middle" }, "RCS, %"), svg("text", { x: 0, y: 0, "text-anchor": "middle", transform: "translate(11 " + (y(0) + y(1)) / 2 + ") rotate(-90)" }, "accuracy, %"));
    // Marks that lie on one another share a label with all their numbers.
    const near = (p, q) => Math.hypot(x(p.rcs) - x(q.rcs), y(p.acc) - y(q.acc)) < 9;
    points.forEach((p, i) => {
      const same = points.map((q, k) => [q, k]).filter(([q, k]) => k < LISTED && near(p, q)).map(([, k]) => k + 1);
      const prone = p.luck >= PRONE, at = { class: prone ? "dot prone" : "dot" };
      const told = p.name + ": accuracy " + percent(p.acc, 1) + ", RCS " + percent(p.rcs, 1) + "; " + percent(p.luck, 0) + " % of its right answers stand below a wrong trace";
      const link = svg("a", { href: CT.link({ run: p.row.key, task: p.row.task, ...(prone ? { show: "hack" } : {}) }), "aria-label": (i < LISTED ? i + 1 + " " : "") + told, "data-tip": told });
      const cx = x(p.rcs), cy = y(p.acc);
      link.append(prone ? svg("path", { ...at, d: "M" + cx + " " + (cy - 10) + "l10 10l-10 10l-10 -10z" }) : svg("circle", { ...at, cx, cy, r: 8 }));
      if (i < LISTED && same.length < 2) link.append(svg("text", { x: cx, y: cy + 4, "text-anchor": "middle", class: "in" }, String(i + 1)));
      else if (same[0] === i + 1) picture.append(svg("text", { x: cx + 12, y: cy - 7 }, same.join(", ")));
      picture.append(link);
    });
    const items = points.slice(0, LISTED).map((p) => el("li", {}, p.name + " ", el("span", { class: "note" }, percent(p.acc, 1) + " / " + percent(p.rcs, 1)), p.luck >= PRONE ? el("span", { class: "tag lucky" }, " ◆ " + percent(p.luck, 0) + " % of its right answers by luck") : null));
    $("dots").replaceChildren(picture, el("ol", { class: "legend" }, items),
      el("p", { class: "note" }, "One mark a run: means over its tasks with traces, accuracy / RCS. On the line an answer is as often right as its reasoning lasts. ◆: at least a fifth of the right answers stand below a wrong trace." + (points.length > LISTED ? " The best " + LISTED + " are numbered." : "")));
  }

  function bars() {
    const all = [];
    for (const [name, rows] of byRun()) {
      const sums = {}; let n = 0;
      for (const r of rows) if (Object.keys(r.shares).length) { n += r.n; for (const [s, v] of Object.entries(r.shares)) sums[s] = (sums[s] || 0) + v * r.n; }
      if (!n) continue;
      const flexible = rows.filter((r) => typeof r.metrics.acc_flexible === "number");
      all.push({ name, n, shares: Object.fromEntries(CT.index.statuses.filter((s) => sums[s]).map((s) => [s, sums[s] / n])), flexible: flexible.length === rows.length ? flexible.reduce((t, r) => t + r.metrics.acc_flexible * r.n, 0) / n : null });
    }
    if (!all.length) { $("bars").replaceChildren(el("p", {}, "No run has samples; run lm_eval with --log_samples.")); return; }
    all.sort((a, b) => (b.shares.right || 0) - (a.shares.right || 0));
    const used = CT.index.statuses.filter((s) => all.some((r) => r.shares[s]));
    const key = el("ul", { class: "key" }, used.map((s) => el("li", { "data-tip": CT.tip(s), tabindex: 0 }, el("span", { class: "swatch s-" + s, "aria-hidden": "true" }), CT.status(s))));
    const rows = all.slice(0, LISTED).map((r) => {
      const told = Object.entries(r.shares).map(([s, v]) => CT.status(s) + " " + percent(v, 1) + " %").join(", ");
      const bar = el("div", { class: "bar", role: "img", "aria-label": told, "data-tip": told });
      for (const [s, v] of Object.entries(r.shares)) { const part = el("span", { class: "s-" + s }, v >= 0.09 ? percent(v, 0) : ""); part.style.width = 100 * v + "%"; bar.append(part); }
      return el("div", { class: "bar-row" }, el("div", {}, r.name, r.flexible !== null && Math.abs(r.flexible - (r.shares.right || 0)) > 0.0005 ? el("span", { class: "note", "data-tip": CT.tip("acc_flexible") }, " right in the flexible reading: " + percent(r.flexible, 1) + " %") : null), bar);
    });
    $("bars").replaceChildren(key, ...rows, all.length > LISTED ? el("p", { class: "note" }, "The best " + LISTED + " of " + all.length + " runs; the filter shows others.") : "");
  }
  CT.charts = () => { dots(); bars(); };
  CT.ready.push(() => window.addEventListener("resize", () => { if (!$("board-view").hidden && Math.abs($("dots").clientWidth - width) > 10) dots(); }));
})();
