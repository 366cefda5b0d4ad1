"use strict";
// Every metric of every run and task, the tables shaped like the paper's, and the plots.
(() => {
  const { $, el, percent } = CT;
  const STRETCH = 100;
  const SHOWN = ["acc_flexible", "acc_official", "rcs", "hack_rate", "unreadable", "no_answer", "unclosed", "truncated", "tokens_out"];
  // What a row holds beside its metrics, as further columns.
  const EXTRA = {
    "spread of repeats": (r) => r.spread, "repeats": (r) => r.repeats || undefined, "programs": (r) => r.clusters || undefined,
    "run time, s": (r) => r.seconds, "stage": (r) => r.stage, "paradigm": (r) => r.paradigm,
    "dated problems": (r) => (r.window ? r.window.join(" – ") : undefined),
  };
  const sort = { key: "value", direction: -1 };
  let most = STRETCH, best = new Map();
  const value = (r, key) => {
    if (key === "run" || key === "task" || key === "value" || key === "n") return r[key];
    return key in EXTRA ? EXTRA[key](r) : r.metrics[key];
  };
  // The best two values of each task in each column that has a better direction.
  function rank(rows, columns) {
    best = new Map();
    for (const key of ["value", ...columns.filter((c) => c in CT.index.higher)]) {
      const up = key === "value" || CT.index.higher[key], seen = new Map();
      for (const r of rows) {
        const v = value(r, key);
        if (v === undefined || v === null) continue;
        if (!seen.has(r.task)) seen.set(r.task, new Set());
        seen.get(r.task).add(v);
      }
      for (const [task, values] of seen) if (values.size > 1) best.set(key + "\n" + task, [...values].sort((a, b) => (up ? b - a : a - b)).slice(0, 2));
    }
  }
  const mark = (r, key) => ["", "best", "second"][(best.get(key + "\n" + r.task) || []).indexOf(value(r, key)) + 1] || null;

  function draw() {
    if (!$("every").open) return;
    const shown = [...document.querySelectorAll("#board-columns input:checked")].map((i) => i.value);
    const base = $("board-baseline").value, every = CT.every(), rows = CT.chosen();
    rows.sort((a, b) => {
      const x = value(a, sort.key), y = value(b, sort.key);
      if (x === undefined || x === null) return 1;
      if (y === undefined || y === null) return -1;
      return (x < y ? -1 : x > y ? 1 : 0) * sort.direction;
    });
    rank(every, shown);
    const bases = new Map(every.filter((r) => r.run === base).map((r) => [r.task, r]));
    const head = (key, label) => el("th", { scope: "col", class: key === "run" || key === "task" ? "left" : null, "aria-sort": sort.key === key ? (sort.direction > 0 ? "ascending" : "descending") : null },
      el("button", { type: "button", "data-key": key, "data-tip": CT.tip(key), onclick: () => { sort.direction = sort.key === key ? -sort.direction : -1; sort.key = key; draw(); } }, label));
    const links = new Map(CT.index.runs.map((run) => [run.key, new Set(run.sets.map((s) => s.task))]));
    const drawn = rows.slice(0, most), body = el("tbody");
    for (const r of drawn) {
      const other = bases.get(r.task), [low, high] = CT.interval(r);
      const name = links.get(r.key)?.has(r.task) ? el("a", { href: CT.link({ run: r.key, task: r.task }) }, r.task) : r.task;
      body.append(el("tr", {}, el("td", {}, r.run), el("td", { class: "left" }, name), el("td", {}, r.n),
        el("td", { class: mark(r, "value") }, typeof r.value === "number" && r.value <= 1 ? percent(r.value) : r.value ?? "–"),
        el("td", { class: "note" }, low === null || low === undefined ? "–" : percent(low) + " – " + percent(high) + (low !== r.low && r.clusters < r.n ? " *" : "")),
        base ? el("td", {}, other && typeof r.value === "number" && typeof other.value === "number" ? (100 * (r.value - other.value)).toFixed(2) : "–") : null,
        shown.map((key) => el("td", { class: mark(r, key) }, key === "spread of repeats" ? percent(EXTRA[key](r)) : CT.metric(key, value(r, key))))));
    }
    $("metrics-note").textContent = rows.length + " of " + every.length + " results; shares in percent; 95 % intervals: Wilson, * over programs where one has several samples; best bold, second best underlined";
    $("metrics").replaceWith(el("table", { id: "metrics", "aria-describedby": "metrics-note" },
      el("thead", {}, el("tr", {}, head("run", "run"), head("task", "task"), head("n", "n"), head("value", "accuracy"), el("th", { scope: "col" }, "interval"),
        base ? el("th", { scope: "col" }, "Δ") : null, shown.map((m) => head(m, m)))), body));
    $("every-more").hidden = drawn.length === rows.length;
    $("every-more").textContent = "Show " + Math.min(STRETCH, rows.length - drawn.length) + " more of " + rows.length + " rows";
  }
  CT.long = draw;

  function shaped() {
    for (const t of CT.index.shaped) {
      const body = el("tbody", {}, t.rows.map(([name, values, gains], i) => el("tr", {}, el("td", {}, name), values.map((v, c) =>
        el("td", { class: ["", "best", "second"][t.ranks[c][i] || 0] || null }, (v === null ? "–" : v.toFixed(2)) + (gains[c] === null ? "" : " (" + (gains[c] < 0 ? "" : "+") + gains[c].toFixed(2) + ")"))))));
      $("shaped").append(el("h2", {}, "As Table " + t.number + ": " + t.title), el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table " + t.number },
        el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "run"), t.columns.map((c) => el("th", { scope: "col" }, c)))), body)));
    }
    $("shaped-box").hidden = !CT.index.shaped.length;
    $("paper-heading").textContent = CT.index.paper.heading;
    $("paper").append(el("thead", {}, el("tr", {}, ["where", "model", "row", "metric", "value", "section"].map((h) => el("th", { scope: "col", class: "left" }, h)))),
      el("tbody", {}, CT.index.paper.rows.map((row) => el("tr", {}, row.map((c) => el("td", { class: "left" }, c))))));
  }
  CT.ready.push(() => {
    const names = new Set(CT.index.rows.flatMap((r) => Object.keys(r.metrics)));
    for (const name of [...names, ...Object.keys(EXTRA).filter((k) => CT.index.rows.some((r) => EXTRA[k](r) !== undefined && EXTRA[k](r) !== null))]) {
      const box = el("input", { type: "checkbox", value: name });
      box.checked = SHOWN.includes(name);
      $("board-columns").append(el("label", { "data-tip": CT.tip(name) }, box, " " + name + " "));
    }
    $("board-columns").addEventListener("change", draw);
    $("every").addEventListener("toggle", draw);
    $("every-more").addEventListener("click", () => { most += STRETCH; draw(); });
    shaped();
    let plotted = false;
    CT.views.plots = () => {
      if (plotted) return;
      plotted = true;
      $("plot-list").replaceChildren(...(CT.index.plots.length ? CT.index.plots.map((p) => el("figure", {}, el("figcaption", {}, p.title, " (", el("a", { href: "plots/" + p.name + ".png" }, "PNG"), ")"),
        el("img", { src: "plots/" + p.name + ".svg", alt: p.title + ": " + p.text }))) : [el("p", {}, "These runs hold nothing to plot.")]));
    };
  });
})();
