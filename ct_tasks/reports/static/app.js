"use strict";
// Data files are scripts that call CT.data(name, value): the only way to load files on demand from file://.
// Text of models is only ever set through textContent.
const CT = (() => {
  const kept = new Map(), waiting = new Map();
  const state = { sort: ["value", -1], run: null, other: "", task: null, id: null, show: "", search: "" };
  let index = null, list = [];
  const $ = (id) => document.getElementById(id);
  const el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick") node.addEventListener("click", value);
      else if (value !== null && value !== undefined) node.setAttribute(key, value);
    }
    for (const child of children) node.append(child instanceof Node ? child : document.createTextNode(clean(child)));
    return node;
  };
  // Control characters and direction overrides become visible, so that a reply cannot rearrange the page.
  const clean = (text) => String(text ?? "").replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  const percent = (v) => (v === null || v === undefined ? "–" : (100 * v).toFixed(2));

  function data(name, value) {
    kept.set(name, value);
    if (name === "index") start(value);
    (waiting.get(name) || []).forEach((resolve) => resolve(value));
    waiting.delete(name);
  }
  function load(name) {
    if (kept.has(name)) return Promise.resolve(kept.get(name));
    return new Promise((resolve, reject) => {
      if (waiting.has(name)) { waiting.get(name).push(resolve); return; }
      waiting.set(name, [resolve]);
      const script = document.createElement("script");
      script.src = "data/" + encodeURIComponent(name) + ".js";
      script.onerror = () => { waiting.delete(name); reject(new Error("missing data file " + name)); };
      document.head.append(script);
    });
  }

  // ---- leaderboard
  function columns() {
    const names = new Set();
    index.rows.forEach((r) => Object.keys(r.metrics).forEach((m) => names.add(m)));
    return [...names];
  }
  function board() {
    const words = $("board-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = [...document.querySelectorAll("#board-columns input:checked")].map((i) => i.value);
    const base = $("board-baseline").value;
    const rows = index.rows.filter((r) => words.every((w) => (r.run + " " + r.task).toLowerCase().includes(w)));
    const [key, direction] = state.sort;
    const value = (r) => (key === "run" || key === "task" ? r[key] : key === "value" || key === "n" ? r[key] : r.metrics[key]);
    rows.sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === undefined || x === null) return 1;
      if (y === undefined || y === null) return -1;
      return (x < y ? -1 : x > y ? 1 : 0) * direction;
    });
    const best = {};
    index.rows.forEach((r) => { (best[r.task] ||= new Set()).add(r.value); });
    const rank = (r) => { const v = [...best[r.task]].filter((x) => x !== null).sort((a, b) => b - a); return v.length < 2 ? 0 : r.value === v[0] ? 1 : r.value === v[1] ? 2 : 0; };
    const head = (name, label) => el("th", { scope: "col", "aria-sort": state.sort[0] === name ? (direction > 0 ? "ascending" : "descending") : null },
      el("button", { type: "button", onclick: () => { state.sort = [name, state.sort[0] === name ? -state.sort[1] : -1]; board(); } }, label));
    const table = el("table", { id: "board" }, el("caption", { class: "note" }, rows.length + " of " + index.rows.length + " results; interval: Wilson, 95 %"),
      el("thead", {}, el("tr", {}, head("run", "run"), head("task", "task"), head("n", "n"), head("value", "accuracy"), el("th", { scope: "col" }, "interval"),
        ...(base ? [el("th", { scope: "col" }, "Δ")] : []), ...shown.map((m) => head(m, m)))));
    const body = el("tbody");
    for (const r of rows) {
      const other = base ? index.rows.find((x) => x.run === base && x.task === r.task) : null;
      body.append(el("tr", {}, el("td", {}, r.run), el("td", { class: "left" }, r.task), el("td", {}, r.n),
        el("td", { class: ["", "best", "second"][rank(r)] }, r.value !== null && r.value <= 1 ? percent(r.value) : r.value ?? "–"),
        el("td", { class: "note" }, r.low === null ? "–" : percent(r.low) + " – " + percent(r.high)),
        ...(base ? [el("td", {}, other && r.value !== null ? (100 * (r.value - other.value)).toFixed(2) : "–")] : []),
        ...shown.map((m) => el("td", {}, r.metrics[m] === undefined ? "–" : Number(r.metrics[m]).toPrecision(4)))));
    }
    table.append(body);
    $("board").replaceWith(table);
  }

  // ---- explorer
  const sets = (run) => index.runs.find((r) => r.id === run)?.sets || [];
  const setOf = (run, task) => sets(run).find((s) => s.task === task);
  function fill(select, options, chosen) {
    select.replaceChildren(...options.map(([value, label]) => el("option", { value, ...(value === chosen ? { selected: "" } : {}) }, label)));
    select.value = chosen;
  }
  async function explorer() {
    const runs = index.runs.filter((r) => r.sets.length);
    if (!runs.length) { $("sample-count").textContent = "No run has samples; run lm_eval with --log_samples."; return; }
    if (!runs.some((r) => r.id === state.run)) state.run = runs[0].id;
    if (!setOf(state.run, state.task)) state.task = sets(state.run)[0].task;
    fill($("sample-run"), runs.map((r) => [r.id, r.name]), state.run);
    fill($("sample-other"), [["", "–"], ...runs.filter((r) => r.id !== state.run).map((r) => [r.id, r.name])], state.other);
    fill($("sample-task"), sets(state.run).map((s) => [s.task, s.task]), state.task);
    $("sample-show").value = state.show;
    $("sample-search").value = state.search;
    const all = await load(state.run + "-" + state.task + "-index");
    const fits = ([id, status, rcs, first, hack]) => id.includes(state.search) && (!state.show || status === state.show
      || (state.show === "hack" && hack) || (state.show === "unlucky" && status === "wrong" && rcs === 1)
      || (state.show === "first0" && first === 0) || (state.show === "later" && first > 0));
    list = all.map((row, i) => [i, ...row]).filter((row) => fits(row.slice(1)));
    $("sample-count").textContent = list.length + " of " + all.length + " samples";
    $("sample-list").replaceChildren(...list.slice(0, 2000).map(([i, id, status]) =>
      el("li", {}, el("button", { type: "button", "data-id": id, onclick: () => open(id) }, el("span", { class: "tag " + status }, status || "–"), " " + id))));
    if (state.id === null || !list.some((r) => r[1] === state.id)) state.id = list.length ? list[0][1] : null;
    await sample();
  }
  function open(id) { state.id = id; remember(); sample(); }
  async function find(run, task, id) {
    const set = setOf(run, task);
    if (!set) return null;
    const all = await load(run + "-" + task + "-index");
    const at = all.findIndex((row) => row[0] === id);
    if (at < 0) return null;
    return (await load(run + "-" + task + "-" + Math.floor(at / set.page)))[at % set.page];
  }
  async function sample() {
    for (const button of document.querySelectorAll("#sample-list button")) {
      const here = button.dataset.id === state.id;
      button.setAttribute("aria-current", here);
      if (here) button.scrollIntoView({ block: "nearest" });
    }
    if (state.id === null) { $("sample").replaceChildren("No sample fits the filter."); return; }
    const mine = await find(state.run, state.task, state.id);
    const other = state.other ? await find(state.other, state.task, state.id) : undefined;
    const parts = [el("h2", {}, state.task + " / " + state.id)];
    if (mine) parts.push(state.other ? el("div", { class: "beside" }, view(mine), other ? view(other) : el("p", {}, "The other run does not have this sample.")) : view(mine));
    $("sample").replaceChildren(...parts);
  }
  function view(row) {
    const box = el("div", {});
    row.verdicts.forEach((v, i) => {
      box.append(el("p", {}, el("span", { class: "tag " + v.status }, v.status || "no verdict"), row.verdicts.length > 1 ? " reply " + (i + 1) : "",
        v.rcs === null || v.rcs === undefined ? "" : "  RCS " + Number(v.rcs).toFixed(2) + ", R_proc " + Number(v.r_proc).toFixed(2) + ", R " + Number(v.reward).toFixed(2), v.hack ? "  (right answer, wrong trace)" : ""));
      if (v.reason) box.append(el("p", { class: "note" }, v.reason));
      if (v.detail && v.detail.trace) box.append(trace(v.detail.trace, row.program));
      box.append(el("h3", {}, "Answer"), el("pre", { tabindex: 0 }, v.answer ?? "none"), el("h3", {}, "Reply"), el("pre", { tabindex: 0 }, row.replies[i] ?? ""));
    });
    box.append(el("h3", {}, "Gold"), el("pre", { tabindex: 0 }, row.target), el("h3", {}, "Prompt"), el("pre", { tabindex: 0 }, row.prompt));
    return box;
  }
  function trace(t, program) {
    const box = el("div", { class: "blocks" });
    let failed = false;
    t.blocks.forEach((b, i) => {
      const right = t.deltas[i], kind = failed ? "after" : right ? "right" : "wrong";
      const part = el("div", { class: "block " + kind, role: "group", "aria-label": "block " + (i + 1) + " " + kind },
        el("h3", {}, "Block " + (i + 1) + ": " + (right ? "right" : b.predicted === null ? "missing" : !b.code_ok ? "code differs" : "LOCALS differ") + (b.weight ? ", weight " + b.weight : "") + (failed ? " (after the first error)" : "")));
      if (program && b.start !== undefined) part.append(el("pre", { tabindex: 0 }, program.slice(b.start, b.stop).map((l, k) => b.start + k + "  " + l).join("\n")));
      if (b.predicted !== null) part.append(el("p", { class: "note" }, "the model's LOCALS"), el("pre", { tabindex: 0 }, b.predicted));
      if (b.truth) part.append(el("p", { class: "note" }, "the true LOCALS"), el("pre", { tabindex: 0 }, b.truth));
      if (b.wrong.length && !failed) part.append(el("p", {}, el("span", { class: "tag wrong" }, "wrong: "), b.wrong.join(", ")));
      if (!right) failed = true;
      box.append(part);
    });
    if (t.issues.length) box.append(el("p", { class: "note" }, "Format: " + t.issues.map((x) => "line " + x.line + " " + x.rule + ": " + x.message).join("; ")));
    return box;
  }
  function move(step) {
    const at = list.findIndex((r) => r[1] === state.id), next = list[Math.max(0, Math.min(list.length - 1, at + step))];
    if (next) open(next[1]);
  }

  // ---- address and start
  function remember() {
    const p = new URLSearchParams({ run: state.run, task: state.task, id: state.id ?? "" });
    if (state.other) p.set("other", state.other);
    if (state.show) p.set("show", state.show);
    history.replaceState(null, "", "#samples?" + p);
  }
  function route() {
    const [view, query] = location.hash.replace(/^#/, "").split("?");
    const samples = view === "samples";
    $("board-view").hidden = samples;
    $("samples-view").hidden = !samples;
    $("to-board").toggleAttribute("aria-current", !samples);
    $("to-samples").toggleAttribute("aria-current", samples);
    if (samples) {
      const p = new URLSearchParams(query || "");
      for (const key of ["run", "task", "id"]) if (p.get(key)) state[key] = p.get(key);
      state.other = p.get("other") || "";
      state.show = p.get("show") || "";
      explorer();
    }
  }
  function start(value) {
    index = value;
    for (const m of columns()) {
      const box = el("input", { type: "checkbox", value: m });
      box.checked = ["acc_official", "rcs", "hack_rate", "no_answer", "truncated", "tokens_out"].includes(m);
      $("board-columns").append(el("label", {}, box, " " + m + " "));
    }
    fill($("board-baseline"), [["", "none"], ...[...new Set(index.rows.map((r) => r.run))].map((r) => [r, r])], "");
    $("paper").replaceChildren(...index.paper.map(([name, v]) => el("li", {}, name + ": " + v)));
    if (index.problems.length) $("problems").append(el("h2", {}, "Left out"), el("ul", {}, ...index.problems.map((p) => el("li", {}, p))));
    $("board-filter").addEventListener("input", board);
    $("board-baseline").addEventListener("change", board);
    $("board-columns").addEventListener("change", board);
    for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (e) => e.preventDefault());
    const pick = (id, key) => $(id).addEventListener("change", () => { state[key] = $(id).value; if (key !== "other") state.id = key === "show" ? null : state.id; explorer().then(remember); });
    pick("sample-run", "run"); pick("sample-other", "other"); pick("sample-task", "task"); pick("sample-show", "show");
    $("sample-search").addEventListener("input", () => { state.search = $("sample-search").value; explorer(); });
    document.addEventListener("keydown", (e) => {
      if ($("samples-view").hidden || /INPUT|SELECT/.test(document.activeElement.tagName)) return;
      const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20 }[e.key];
      if (step) { e.preventDefault(); move(step); }
    });
    window.addEventListener("hashchange", route);
    board();
    route();
  }
  return { data, state };
})();
