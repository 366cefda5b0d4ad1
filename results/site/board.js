"use strict";
// The leaderboard, the tables shaped like the paper's, and the plots.
(() => {
  const { $, el, percent } = CT;
  const STRETCH = 100;  // rows drawn at once; more on demand
  const SHOWN = ["acc_official", "rcs", "hack_rate", "no_answer", "truncated", "tokens_out"];
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
  // Wilson's score interval, 95 %.
  function wilson(right, n) {
    if (!n) return [null, null];
    const z = 1.959963984540054, p = right / n, s = 1 + z * z / n, c = p + z * z / (2 * n);
    const d = z * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return [Math.max(0, (c - d) / s), Math.min(1, (c + d) / s)];
  }
  // Rows of dated problems counted anew for the window that the reader chose.
  function windowed(rows) {
    const from = $("board-from").value, to = $("board-to").value;
    if (!from && !to) return rows;
    return rows.map((r) => {
      if (!r.months || !Object.keys(r.months).length) return r;
      let right = 0, n = 0;
      for (const [month, [k, m]] of Object.entries(r.months)) if ((!from || month >= from) && (!to || month <= to)) { right += k; n += m; }
      const [low, high] = wilson(right, n);
      return { ...r, value: n ? right / n : null, n, low, high, clustered: undefined, windowed: true };
    });
  }
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
  const show = (v) => (v === undefined || v === null ? "–" : typeof v === "number" ? String(Number(v.toPrecision(4))) : v);

  function board() {
    const words = $("board-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = [...document.querySelectorAll("#board-columns input:checked")].map((i) => i.value);
    const base = $("board-baseline").value, clustered = $("board-interval").value === "clustered";
    const every = windowed(CT.index.rows);
    const rows = every.filter((r) => words.every((w) => (r.run + " " + r.task).toLowerCase().includes(w)));
    rows.sort((a, b) => {
      const x = value(a, sort.key), y = value(b, sort.key);
      if (x === undefined || x === null) return 1;
      if (y === undefined || y === null) return -1;
      return (x < y ? -1 : x > y ? 1 : 0) * sort.direction;
    });
    rank(every, shown);
    const bases = new Map(every.filter((r) => r.run === base).map((r) => [r.task, r]));
    const head = (key, label) => el("th", { scope: "col", class: key === "task" ? "left" : null, "aria-sort": sort.key === key ? (sort.direction > 0 ? "ascending" : "descending") : null },
      el("button", { type: "button", onclick: () => { sort.direction = sort.key === key ? -sort.direction : -1; sort.key = key; board(); } }, label));
    const links = new Map(CT.index.runs.map((run) => [run.key, new Set(run.sets.map((s) => s.task))]));
    const drawn = rows.slice(0, most);
    const body = el("tbody");
    for (const r of drawn) {
      const other = bases.get(r.task), wide = clustered && r.clustered;
      const [low, high] = wide ? r.clustered : [r.low, r.high];
      const name = links.get(r.key)?.has(r.task) ? el("a", { href: "#samples?" + new URLSearchParams({ run: r.key, task: r.task }) }, r.task) : r.task;
      body.append(el("tr", {}, el("td", {}, r.run), el("td", { class: "left" }, name), el("td", {}, r.n),
        el("td", { class: mark(r, "value") }, typeof r.value === "number" && r.value <= 1 ? percent(r.value) : r.value ?? "–"),
        el("td", { class: "note" }, low === null || low === undefined ? "–" : percent(low) + " – " + percent(high) + (wide && r.clusters < r.n ? " *" : "")),
        ...(base ? [el("td", {}, other && typeof r.value === "number" && typeof other.value === "number" ? (100 * (r.value - other.value)).toFixed(2) : "–")] : []),
        ...shown.map((key) => el("td", { class: mark(r, key) }, show(value(r, key))))));
    }
    const table = el("table", { id: "board" },
      el("caption", { class: "note" }, rows.length + " of " + every.length + " results; 95 % intervals: Wilson" + (clustered ? ", * over programs where one has several samples" : "") + "; best bold, second best underlined"),
      el("thead", {}, el("tr", {}, head("run", "run"), head("task", "task"), head("n", "n"), head("value", "accuracy"), el("th", { scope: "col" }, "interval"),
        ...(base ? [el("th", { scope: "col" }, "Δ")] : []), ...shown.map((m) => head(m, m)))), body);
    $("board").replaceWith(table);
    $("board-more").hidden = drawn.length === rows.length;
    $("board-more").textContent = "Show " + Math.min(STRETCH, rows.length - drawn.length) + " more of " + rows.length + " rows";
  }

  function shaped() {
    const box = $("shaped");
    for (const t of CT.index.shaped) {
      const body = el("tbody", {}, ...t.rows.map(([name, values, gains], i) => el("tr", {}, el("td", {}, name), ...values.map((v, c) =>
        el("td", { class: ["", "best", "second"][t.ranks[c][i] || 0] || null }, (v === null ? "–" : v.toFixed(2)) + (gains[c] === null ? "" : " (" + (gains[c] < 0 ? "" : "+") + gains[c].toFixed(2) + ")"))))));
      box.append(el("h2", {}, "As Table " + t.number + ": " + t.title), el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table " + t.number },
        el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "run"), ...t.columns.map((c) => el("th", { scope: "col" }, c)))), body)));
    }
    $("paper-heading").textContent = CT.index.paper.heading;
    $("paper").append(el("thead", {}, el("tr", {}, ...["where", "model", "row", "metric", "value", "section"].map((h) => el("th", { scope: "col", class: "left" }, h)))),
      el("tbody", {}, ...CT.index.paper.rows.map((row) => el("tr", {}, ...row.map((c) => el("td", { class: "left" }, c))))));
  }

  CT.ready.push(() => {
    const names = new Set();
    CT.index.rows.forEach((r) => Object.keys(r.metrics).forEach((m) => names.add(m)));
    for (const name of [...names, ...Object.keys(EXTRA).filter((k) => CT.index.rows.some((r) => EXTRA[k](r) !== undefined && EXTRA[k](r) !== null))]) {
      const box = el("input", { type: "checkbox", value: name });
      box.checked = SHOWN.includes(name);
      $("board-columns").append(el("label", {}, box, " " + name + " "));
    }
    CT.fill($("board-baseline"), [["", "none"], ...[...new Set(CT.index.rows.map((r) => r.run))].map((r) => [r, r])], "");
    const months = new Set();
    CT.index.rows.forEach((r) => Object.keys(r.months || {}).forEach((m) => months.add(m)));
    $("board-window").hidden = !months.size;
    for (const id of ["board-from", "board-to"]) CT.fill($(id), [["", "all"], ...[...months].sort().map((m) => [m, m])], "");
    for (const [id, event] of [["board-filter", "input"], ["board-baseline", "change"], ["board-columns", "change"], ["board-interval", "change"], ["board-from", "change"], ["board-to", "change"]])
      $(id).addEventListener(event, board);
    $("board-more").addEventListener("click", () => { most += STRETCH; board(); });
    shaped();
    let plotted = false;
    CT.views.board = board;
    CT.views.plots = () => {
      if (plotted) return;
      plotted = true;
      $("plot-list").replaceChildren(...(CT.index.plots.length ? CT.index.plots.map((p) => el("figure", {}, el("figcaption", {}, p.title, " (", el("a", { href: "plots/" + p.name + ".png" }, "PNG"), ")"),
        el("img", { src: "plots/" + p.name + ".svg", alt: p.title + ": " + p.text }))) : [el("p", {}, "These runs hold nothing to plot.")]));
    };
  });
})();
