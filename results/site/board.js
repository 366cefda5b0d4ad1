"use strict";
// The front page: what the runs say in three sentences, and a table of runs by tasks.
(() => {
  const { $, el, percent } = CT;
  const STRETCH = 100;  // rows drawn at once; more on demand
  const sort = { key: "average", direction: -1 };
  let most = STRETCH, months = null;
  const known = (v) => v !== undefined && v !== null;

  // ---- the rows that the reader chose: window of dated problems, words of the filter
  function windowed(rows) {
    const from = $("board-from").value, to = $("board-to").value;
    if ((!from && !to) || !months) return rows;
    return rows.map((r) => {
      const found = months[r.key + " " + r.task];
      if (!found || r.derived) return r;
      const sums = {};
      for (const [month, row] of Object.entries(found)) if ((!from || month >= from) && (!to || month <= to))
        for (const [name, [sum, n]] of Object.entries(row)) { const s = (sums[name] ??= [0, 0]); s[0] += sum; s[1] += n; }
      const n = sums.n?.[0] ?? 0, metrics = {}, shares = {};
      // Of the metrics that the run has, those that are means over documents; pass@k and the like have no window.
      for (const name of Object.keys(r.metrics)) if (sums[name]) metrics[name] = sums[name][0] / sums[name][1];
      for (const name of CT.index.statuses) if (sums[name]?.[0]) shares[name] = sums[name][0] / sums[name][1];
      const value = metrics[r.headline] ?? null, of = sums[r.headline]?.[1] ?? 0, [low, high] = value === null ? [null, null] : CT.stats.wilson(value * of, of);
      return { ...r, value, n, low, high, metrics, shares, clustered: undefined, clusters: undefined, spread: undefined, windowed: true };
    });
  }
  CT.chosen = () => {
    const words = $("board-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    return windowed(CT.index.rows).filter((r) => words.every((w) => (r.run + " " + r.task).toLowerCase().includes(w)));
  };
  CT.interval = (r) => ($("board-interval").value === "clustered" && r.clustered ? r.clustered : [r.low, r.high]);
  CT.every = () => windowed(CT.index.rows);

  // ---- cells: the chosen metric of a row with its interval
  function cellOf(r, metric) {
    if (!r) return null;
    if (metric === "value" || metric === r.headline) { const [low, high] = CT.interval(r); return known(r.value) ? { value: r.value, low, high, row: r } : null; }
    const v = r.metrics[metric];
    if (!known(v)) return null;
    const [low, high] = CT.isShare(metric) && metric !== "rcs" && metric !== "acc_std" ? CT.stats.wilson(v * r.n, r.n) : [null, null];
    return { value: v, low, high, row: r };
  }
  const share = (metric, v) => (metric === "value" ? v >= 0 && v <= 1 : CT.isShare(metric));
  const text = (metric, v) => (share(metric, v) ? percent(v, 1) : String(Number(v.toPrecision(4))));

  function grid(metric) {
    const rows = CT.chosen(), tasks = [...new Set([...rows.filter((r) => !r.derived), ...rows.filter((r) => r.derived)].map((r) => r.task))];
    const derived = new Set(rows.filter((r) => r.derived).map((r) => r.task)), counted = tasks.filter((t) => !derived.has(t));
    const runs = new Map();
    for (const r of rows) { if (!runs.has(r.run)) runs.set(r.run, { name: r.run, cells: new Map() }); const c = cellOf(r, metric); if (c) runs.get(r.run).cells.set(r.task, c); }
    const averaged = counted.length > 1;
    for (const run of runs.values()) {
      const have = counted.map((t) => run.cells.get(t)).filter((c) => c && share(metric, c.value));
      run.average = averaged && have.length ? { ...CT.stats.average(have), tasks: have.length, whole: have.length === counted.length } : null;
    }
    return { tasks, counted, averaged, runs: [...runs.values()] };
  }
  CT.grid = grid;

  function wide() {
    const metric = $("board-metric").value || "value", base = $("board-baseline").value;
    const { tasks, counted, averaged, runs } = grid(metric);
    const at = (run, key) => (key === "run" ? run.name : key === "average" ? (averaged ? run.average?.value : run.cells.get(tasks[0])?.value) : run.cells.get(key)?.value);
    if (sort.key !== "run" && sort.key !== "average" && !tasks.includes(sort.key)) sort.key = "average";
    // A run that lacks tasks stands behind those that have them all: its average is over other tasks.
    const whole = (run) => (sort.key === "average" && averaged && run.average && !run.average.whole ? 1 : 0);
    runs.sort((a, b) => {
      const x = at(a, sort.key), y = at(b, sort.key);
      if (!known(x) || !known(y)) return known(x) ? -1 : known(y) ? 1 : 0;
      return whole(a) - whole(b) || (x < y ? -1 : x > y ? 1 : 0) * sort.direction;
    });
    const up = metric === "value" ? true : CT.index.higher[metric] ?? CT.index.words[metric]?.[1];
    const best = new Map();
    for (const key of [...(averaged ? ["average"] : []), ...tasks]) {
      const values = [...new Set(runs.filter((r) => key !== "average" || r.average?.whole).map((r) => at(r, key)).filter(known))];
      if (values.length > 1 && typeof up === "boolean") best.set(key, values.sort((a, b) => (up ? b - a : a - b)).slice(0, 2));
    }
    const mark = (key, v) => ["", "best", "second"][(best.get(key) || []).indexOf(v) + 1] || "";
    const baseRun = runs.find((r) => r.name === base);
    const head = (key, label, tip) => {
      const on = sort.key === key || (sort.key === "average" && !averaged && key === tasks[0]);
      return el("th", { scope: "col", class: key === "run" ? "left" : null, "aria-sort": on ? (sort.direction > 0 ? "ascending" : "descending") : null },
        el("button", { type: "button", "data-tip": tip, "data-key": key, onclick: () => { sort.direction = on ? -sort.direction : key === "run" ? 1 : -1; sort.key = key; wide(); document.querySelector("#wide [data-key=\"" + CSS.escape(key) + "\"]")?.focus(); } }, label));
    };
    const sets = new Map(CT.index.runs.map((run) => [run.key, new Map(run.sets.map((s) => [s.task, s]))]));
    const cell = (run, key, c) => {
      if (!c) return el("td", {}, "–");
      const delta = baseRun && baseRun !== run && known(at(baseRun, key)) ? c.value - at(baseRun, key) : null;
      const td = el("td", { class: key === "average" && !c.whole ? "partial" : mark(key, c.value) || null });
      const label = text(metric, c.value) + (key === "average" && !c.whole ? " (" + c.tasks + "/" + counted.length + ")" : "");
      const told = (c.row ? c.row.n + " samples" : "mean of " + c.tasks + " tasks") + (known(c.low) ? "; 95 % interval " + percent(c.low, 1) + " to " + percent(c.high, 1) : "");
      const set = c.row && sets.get(c.row.key)?.get(c.row.task);
      td.append(set ? el("a", { href: CT.link({ run: c.row.key, task: c.row.task }), "data-tip": told }, label) : el("span", { "data-tip": told }, label));
      if (delta !== null) td.append(el("small", { class: "delta" }, (delta < 0 ? "−" : "+") + text(metric, Math.abs(delta))));
      if (known(c.low) && share(metric, c.value)) {
        const range = el("i"), point = el("b");
        range.style.left = 100 * c.low + "%"; range.style.width = 100 * (c.high - c.low) + "%"; point.style.left = 100 * c.value + "%";
        td.append(el("div", { class: "whisker", "aria-hidden": "true" }, range, point));
      }
      return td;
    };
    const drawn = runs.slice(0, most), body = el("tbody");
    for (const run of drawn) body.append(el("tr", {}, el("th", { scope: "row" }, run.name), averaged ? cell(run, "average", run.average) : null, tasks.map((t) => cell(run, t, run.cells.get(t)))));
    const title = metric === "value" ? "Accuracy" : CT.metricName(metric), unit = metric === "value" || CT.isShare(metric) ? ", percent, every bar from 0 to 100" : "";
    $("wide-note").textContent = runs.length + " runs. " + title + unit + "; whiskers: 95 % intervals; best bold, second best underlined. " + (CT.tip(metric === "value" ? "acc" : metric) || "");
    $("wide").replaceWith(el("table", { id: "wide", "aria-describedby": "wide-note" },
      el("thead", {}, el("tr", {}, head("run", "run", "Model, stage of training, paradigm; options where they differ"), averaged ? head("average", "average", "Mean over the tasks shown, each counting the same. Grey: the run lacks some of them.") : null,
        tasks.map((t) => head(t, t.replace(/^ct_/, ""), t + ": " + title)))), body));
    $("board-more").hidden = drawn.length === runs.length;
    $("board-more").textContent = "Show " + Math.min(STRETCH, runs.length - drawn.length) + " more of " + runs.length + " runs";
  }
  CT.metricName = (m) => ({ acc: "accuracy", acc_flexible: "accuracy, flexible reading", acc_official: "accuracy, published scorer", rcs: "RCS (reasoning consistency)", hack_rate: "right by luck", tokens_out: "tokens of a reply" }[m] || CT.status(m));

  function board() { wide(); CT.charts(); CT.long(); }
  async function choose() {
    if ($("board-from").value || $("board-to").value) months ??= await CT.load("months");
    board();
  }

  // ---- three answers
  const card = (title, ...said) => el("section", { class: "card" }, el("h2", {}, title), ...said);
  const few = (text, most = 70) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
  async function answers() {
    const { counted, runs } = grid("value"), shared = counted.filter((t) => runs.filter((r) => r.cells.has(t)).length > 1);
    const boxes = [el("p", {}, "…"), el("p", {}, "…"), el("p", {}, "…")];
    $("answers").replaceChildren(card("Which is better, and is it sure?", boxes[0]), card("Where does the reasoning first go wrong?", boxes[1]), card("What is right by luck?", boxes[2]));
    const has = (ts) => runs.filter((r) => ts.every((t) => r.cells.has(t)));
    const scope = shared.length && has(shared).length > 1 ? shared : shared.slice().sort((a, b) => has([b]).length - has([a]).length).slice(0, 1);
    const mean = (r) => scope.reduce((s, t) => s + r.cells.get(t).value, 0) / scope.length;
    const ranked = has(scope).map((r) => [r, mean(r)]).sort((a, b) => b[1] - a[1]);
    lucky(boxes[2]);
    where(boxes[1], ranked[0]?.[0]);
    if (!scope.length || ranked.length < 2) { boxes[0].replaceWith(el("p", {}, "No two runs have a task in common, so there is nothing to compare.")); return; }
    const [[first, high], [second, low]] = ranked, keys = (r) => scope.map((t) => r.cells.get(t).row.key);
    const place = scope.length > 1 ? " on the average of " + scope.length + " tasks" : " in " + scope[0], level = high === low;
    const said = el("p", {}, el("strong", {}, few(first.name)), level ? " and " : " is best" + place + ": " + percent(high, 1) + " %. Next: ", el("strong", {}, few(second.name)), level ? " are level" + place + ": " + percent(high, 1) + " %. " : ", " + percent(low, 1) + " %. ");
    boxes[0].replaceWith(said);
    const rows = [];
    for (const [i, task] of scope.entries()) {
      const [a, b] = await Promise.all([CT.samples(keys(second)[i], task), CT.samples(keys(first)[i], task)].map((p) => p.catch(() => null)));
      rows.push(...CT.stats.pairs(a, b));
    }
    if (!rows.length) { said.append("Samples of both would say whether that is chance (--log_samples)."); return; }
    const won = rows.filter(([a, b]) => b[CT.I.ACC] > a[CT.I.ACC]).length, lost = rows.filter(([a, b]) => b[CT.I.ACC] < a[CT.I.ACC]).length, p = CT.stats.mcnemar(won, lost);
    said.append("On " + rows.length + " samples of both, only the first is right in " + won + ", only the second in " + lost + " (p = " + CT.stats.p2(p) + "): ", el("strong", {}, p < 0.05 ? "unlikely to be chance." : "it may be chance."), " ",
      el("a", { href: "#compare?" + new URLSearchParams({ a: keys(second)[0], b: keys(first)[0] }) }, "Compare them"));
  }
  async function where(box, best) {
    const atlas = await CT.load("atlas").catch(() => ({}));
    const mine = (run) => [...(run?.cells.values() || [])].filter((c) => atlas[c.row.key + " " + c.row.task]);
    const score = (r) => r.average?.value ?? [...r.cells.values()][0]?.value ?? 0, traced = grid("value").runs.filter((r) => mine(r).length).sort((a, b) => score(b) - score(a));
    const run = mine(best).length ? best : traced[0];
    if (!run) { box.replaceWith(el("p", {}, "No run wrote traces (paradigm contra), so nothing tells.")); return; }
    const found = CT.atlasOf(mine(run).map((c) => [c.row.key, c.row.task]), atlas).filter((row) => row.errors);
    // By the lower end of the rate's interval: one error in six blocks says less than ten in sixty.
    const sure = (row) => CT.stats.wilson(row.errors, row.reached)[0];
    const top = found.filter((row) => row.reached >= 5 && !row.general).sort((a, b) => sure(b) - sure(a)).slice(0, 3);
    const general = found.filter((row) => row.general);
    box.replaceWith(el("p", {}, el("strong", {}, few(run.name)), top.length ? ": its first error comes most often at " : ": no first error at a construct it met five times. ",
      top.map((row, i) => [i ? ", " : "", el("a", { href: CT.link({ run: row.key, task: row.task, kind: row.kind }) }, row.name), " (" + row.errors + " of " + row.reached + " blocks)"]), top.length ? ". " : "",
      general.map((row) => [el("a", { href: CT.link({ run: row.key, task: row.task, kind: row.kind }) }, row.name), ": " + row.errors + ". "]), el("a", { href: "#atlas" }, "Failure atlas")));
  }
  function lucky(box) {
    const found = CT.index.runs.flatMap((run) => run.sets.filter((s) => s.lucky).map((s) => [run, s])).sort((a, b) => b[1].lucky - a[1].lucky);
    const traced = CT.index.runs.some((run) => run.sets.some((s) => s.traces));
    if (!found.length) { box.replaceWith(el("p", {}, traced ? "Nothing: no right answer stands below a wrong trace." : "No run wrote traces (paradigm contra), so nothing tells.")); return; }
    box.replaceWith(el("ul", {}, found.slice(0, 3).map(([run, s]) => el("li", {}, el("a", { href: CT.link({ run: run.key, task: s.task, show: "hack" }) }, s.lucky + (s.lucky === 1 ? " right answer" : " right answers") + " with a wrong trace"), " of " + s.n + ": " + few(run.name) + ", " + s.task))));
  }

  CT.ready.push(() => {
    const names = [...new Set(CT.index.rows.flatMap((r) => Object.keys(r.metrics)))];
    CT.fill($("board-metric"), [["value", "accuracy (each task's own)"], ...names.filter((m) => m !== "acc").map((m) => [m, CT.metricName(m)])], "value");
    CT.fill($("board-baseline"), [["", "none"], ...[...new Set(CT.index.rows.map((r) => r.run))].map((r) => [r, r])], "");
    const dated = [...new Set(CT.index.rows.flatMap((r) => r.months || []))].sort();
    $("board-window").hidden = !dated.length;
    for (const id of ["board-from", "board-to"]) CT.fill($(id), [["", "all"], ...dated.map((m) => [m, m])], "");
    for (const [id, event] of [["board-filter", "input"], ["board-metric", "change"], ["board-baseline", "change"], ["board-interval", "change"], ["board-from", "change"], ["board-to", "change"]])
      $(id).addEventListener(event, choose);
    $("board-more").addEventListener("click", () => { most += STRETCH; wide(); });
    let answered = false;
    CT.views.board = () => { board(); if (!answered) { answered = true; answers(); } };
  });
})();
