"use strict";
// Two runs: a table of the tasks that both have, then their samples row by row.
(() => {
  const { $, el, percent } = CT;
  const { ID, STATUSES, RCS, FIRST, ACC, BLOCKS } = CT.I;
  const ROWS = 200;
  let turn = 0, most = ROWS;

  const signed = (v, digits = 1) => (v < 0 ? "−" : "+") + (100 * Math.abs(v)).toFixed(digits);
  const ending = (r) => CT.status(r[STATUSES].length > 1 && r[ACC] !== null ? Math.round(100 * r[ACC]) + " % right" : r[STATUSES][0] || "–");
  const told = (r) => [el("span", { class: "tag " + (r[STATUSES][0] || "") }, ending(r)), typeof r[RCS] === "number" ? el("span", { class: "note" }, " RCS " + percent(r[RCS], 0) + (r[FIRST] !== null ? ", first error in block " + (r[FIRST] + 1) + " of " + r[BLOCKS] : "")) : null];

  async function compare() {
    const now = ++turn, a = CT.runOf($("compare-a").value), b = CT.runOf($("compare-b").value), box = $("compare-result");
    if (!a || !b) { box.replaceChildren(el("p", {}, "Two runs with samples are needed; run lm_eval with --log_samples.")); return; }
    const tasks = a.sets.map((s) => s.task).filter((t) => CT.setOf(b.id, t));
    CT.fill($("compare-task"), tasks.map((t) => [t, t]), tasks.includes($("compare-task").value) ? $("compare-task").value : tasks.includes(wanted) ? wanted : tasks[0] ?? "");
    if (!tasks.length) { box.replaceChildren(el("p", {}, "These two runs have no task with samples in common.")); return; }
    let found;
    try { found = await Promise.all(tasks.map(async (t) => [t, CT.stats.pairs(await CT.samples(a.id, t), await CT.samples(b.id, t))])); } catch (error) { box.replaceChildren(el("p", {}, error.message)); return; }
    if (now !== turn) return;
    const rows = found.filter(([, pairs]) => pairs.length).map(([t, pairs]) => [t, CT.stats.paired(pairs)]), corrected = CT.stats.holm(rows.map(([, r]) => r.p));
    const body = el("tbody", {}, rows.map(([t, r], i) => el("tr", {}, el("th", { scope: "row" }, t), [r.n, percent(r.a, 1), percent(r.b, 1)].map((v) => el("td", {}, v)),
      el("td", { class: corrected[i] < 0.05 ? "best" : null }, signed(r.difference)), el("td", { class: "note" }, r.low === null ? "one program" : signed(r.low) + " to " + signed(r.high)), [r.won, r.lost, CT.stats.p2(r.p), CT.stats.p2(corrected[i])].map((v) => el("td", {}, v)))));
    const note = "Samples that both have. Interval: 95 %, programs resampled. p: exact McNemar; corrected over the tasks after Holm; bold where that is below 0.05.";
    const table = el("table", { id: "pairs" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "task"), ["n", "A", "B", "B − A", "interval", "only B right", "only A right", "p", "p corrected"].map((h) => el("th", { scope: "col" }, h)))), body);
    const all = rows.map(([, r]) => r), sure = rows.filter((_, i) => corrected[i] < 0.05);
    const verdict = sure.length ? sure.map(([t, r]) => t + ": " + (r.difference > 0 ? "B" : "A") + " is better").join("; ") + "." : all.length ? "No difference that chance would not make." : "No sample has a verdict in both.";
    const names = el("p", {}, el("strong", {}, "A "), a.name, el("br"), el("strong", {}, "B "), b.name);
    box.replaceChildren(names, el("p", {}, el("strong", {}, verdict)), el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Tests by task" }, table), el("p", { class: "note" }, note), side(a, b, found));
    history.replaceState(null, "", "#compare?" + new URLSearchParams({ a: a.key, b: b.key, task: $("compare-task").value }));
  }
  // The samples of one task, each run's ending beside the other's.
  function side(a, b, found) {
    const task = $("compare-task").value, pairs = found.find(([t]) => t === task)?.[1] || [], show = $("compare-rows").value;
    const fits = { won: ([x, y]) => y[ACC] > x[ACC], lost: ([x, y]) => x[ACC] > y[ACC], changed: ([x, y]) => x[STATUSES].join() !== y[STATUSES].join() }[show] || (() => true);
    const chosen = pairs.filter(fits), kinds = new Map();
    for (const [x, y] of pairs) { const k = ending(x) + " → " + ending(y); if (ending(x) !== ending(y)) kinds.set(k, (kinds.get(k) || 0) + 1); }
    const changes = [...kinds].sort((x, y) => y[1] - x[1]).slice(0, 8).map(([k, n]) => k + ": " + n).join("; ");
    const body = el("tbody", {}, chosen.slice(0, most).map(([x, y]) => el("tr", {}, el("th", { scope: "row", class: "left" }, el("a", { href: CT.link({ run: a.key, task, id: x[ID], other: b.key }) }, x[ID].slice(0, 120))), el("td", { class: "left" }, told(x)), el("td", { class: "left" }, told(y)))));
    const more = el("button", { type: "button", onclick: () => { most += ROWS; compare(); } }, "Show more");
    return el("section", {}, el("h2", {}, task + ": " + chosen.length + " of " + pairs.length + " samples"), changes ? el("p", { class: "note" }, "A → B: " + changes) : null,
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Samples" }, el("table", { id: "pair-rows" }, el("thead", {}, el("tr", {}, ["sample", "A", "B"].map((h) => el("th", { scope: "col", class: "left" }, h)))), body)), chosen.length > most ? more : null);
  }
  let wanted = null;
  CT.views.compare = (p) => {
    const runs = CT.sampled(), options = runs.map((r) => [r.id, r.name]);
    const a = CT.runOf(p.get("a"))?.id ?? ($("compare-a").value || runs[0]?.id), b = CT.runOf(p.get("b"))?.id ?? ($("compare-b").value || (runs.find((r) => r.id !== a) || runs[0])?.id);
    CT.fill($("compare-a"), options, a ?? "");
    CT.fill($("compare-b"), options, b ?? "");
    wanted = p.get("task");
    $("compare-task").replaceChildren();
    compare();
  };
  CT.ready.push(() => { for (const id of ["a", "b", "task", "rows"]) $("compare-" + id).addEventListener("change", () => { most = ROWS; compare(); }); });
})();
