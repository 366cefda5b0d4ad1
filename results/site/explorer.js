"use strict";
// The trace explorer: samples of one task of one run, alone or beside another run's.
(() => {
  const { $, el, clean, load, state } = CT;
  const AROUND = 250;  // samples drawn on each side of the open one
  const [ID, STATUSES, RCS, FIRST, FLAGS, PAGE, ACC, TEXT] = [0, 1, 2, 3, 4, 5, 6, 7];
  let list = [], drawn = [0, 0], turn = 0;

  const sets = (run) => CT.runOf(run)?.sets || [];
  const setOf = (run, task) => sets(run).find((s) => s.task === task);
  const indexOf = (run, task) => { const set = setOf(run, task); return set ? load(set.data + "-index") : Promise.resolve(null); };
  const message = (text) => $("sample").replaceChildren(el("p", {}, text));

  const FITS = {
    hack: (r) => r[FLAGS].includes("h"), unlucky: (r) => r[FLAGS].includes("u"),
    lost: (r, o) => o && r[ACC] > o[ACC], won: (r, o) => o && r[ACC] < o[ACC], differs: (r, o) => o && r[ACC] !== o[ACC],
  };
  async function explorer() {
    const now = ++turn, runs = CT.index.runs.filter((r) => r.sets.length);
    if (!runs.length) { $("sample-count").textContent = "No run has samples; run lm_eval with --log_samples."; return; }
    if (!runs.some((r) => r.id === state.run)) state.run = runs[0].id;
    if (!setOf(state.run, state.task)) state.task = sets(state.run)[0].task;
    if (state.other === state.run) state.other = "";
    CT.fill($("sample-run"), runs.map((r) => [r.id, r.name]), state.run);
    CT.fill($("sample-other"), [["", "–"], ...runs.filter((r) => r.id !== state.run).map((r) => [r.id, r.name])], state.other);
    CT.fill($("sample-task"), sets(state.run).map((s) => [s.task, s.task]), state.task);
    for (const key of ["show", "block", "search"]) $("sample-" + key).value = state[key];
    let all, others;
    try {
      [all, others] = await Promise.all([indexOf(state.run, state.task), state.other ? indexOf(state.other, state.task) : null]);
    } catch (error) { message(error.message); return; }
    if (now !== turn) return;
    const beside = new Map((others || []).map((r) => [r[ID], r]));
    const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (r) => (!state.show || (FITS[state.show] ? FITS[state.show](r, beside.get(r[ID])) : r[STATUSES].includes(state.show)))
      && (state.block === "" || r[FIRST] === Number(state.block) - 1)
      && words.every((w) => r[ID].toLowerCase().includes(w) || r[TEXT].toLowerCase().includes(w));
    list = all.filter(fits);
    const both = all.filter((r) => beside.has(r[ID]) && r[ACC] !== null && beside.get(r[ID])[ACC] !== null);
    $("sample-count").textContent = list.length + " of " + all.length + " samples" + (state.other ? "; both runs have " + both.length + ": better here "
      + both.filter((r) => FITS.lost(r, beside.get(r[ID]))).length + ", better there " + both.filter((r) => FITS.won(r, beside.get(r[ID]))).length : "");
    if (state.id === null || !list.some((r) => r[ID] === state.id)) state.id = list.length ? list[0][ID] : null;
    drawn = [0, 0];
    draw();
    await sample();
  }
  const label = (r) => (r[STATUSES].length > 1 && r[ACC] !== null ? Math.round(100 * r[ACC]) + " % right" : r[STATUSES][0] || "–");
  // Only a stretch of the list around the open sample is in the page.
  function draw() {
    const at = Math.max(0, list.findIndex((r) => r[ID] === state.id));
    if (at < drawn[0] || at >= drawn[1]) {
      drawn = [Math.max(0, at - AROUND), Math.min(list.length, at + AROUND)];
      const go = (to, text) => el("li", {}, el("button", { type: "button", onclick: () => open(list[to][ID]) }, text));
      $("sample-list").replaceChildren(
        ...(drawn[0] > 0 ? [go(drawn[0] - 1, "… " + drawn[0] + " before")] : []),
        ...list.slice(...drawn).map((r) => el("li", {}, el("button", { type: "button", "data-id": r[ID], onclick: () => open(r[ID]) }, el("span", { class: "tag " + (r[STATUSES][0] || "") }, label(r)), " " + r[ID].slice(0, 200)))),
        ...(drawn[1] < list.length ? [go(drawn[1], "… " + (list.length - drawn[1]) + " after")] : []));
    }
    for (const button of document.querySelectorAll("#sample-list button[data-id]")) {
      const here = button.dataset.id === state.id;
      if (here || button.hasAttribute("aria-current")) button.toggleAttribute("aria-current", here);
      if (here) { button.setAttribute("aria-current", "true"); const box = $("sample-list"); const y = button.offsetTop - box.offsetTop; if (y < box.scrollTop || y > box.scrollTop + box.clientHeight - 30) box.scrollTop = y - box.clientHeight / 3; }
    }
  }
  function open(id) { state.id = id; CT.remember(); draw(); sample(); }
  async function find(run, task, id) {
    const rows = await indexOf(run, task);
    const row = rows && rows.find((r) => r[ID] === id);
    return row ? (await load(setOf(run, task).data + "-" + row[PAGE]))[id] : null;
  }
  async function sample() {
    const now = turn, id = state.id;
    if (id === null) { message("No sample fits the filter."); return; }
    let mine, other;
    try {
      [mine, other] = await Promise.all([find(state.run, state.task, id), state.other ? find(state.other, state.task, id) : null]);
    } catch (error) { message(error.message); return; }
    if (now !== turn || id !== state.id || !mine) return;
    const named = (run, row) => el("div", {}, el("h3", {}, CT.runOf(run).name), row ? view(row) : el("p", {}, "This run does not have this sample."));
    $("sample").replaceChildren(el("h2", {}, state.task + " / " + id), state.other ? el("div", { class: "beside" }, named(state.run, mine), named(state.other, other)) : view(mine));
  }
  const number = (v) => (typeof v === "number" ? v.toFixed(2) : "–");
  const text = (value) => el("pre", { tabindex: 0 }, value);
  function view(row) {
    const box = el("div", {});
    const replies = Math.max(row.verdicts.length, row.replies.length);
    for (let i = 0; i < replies; i++) {
      const v = row.verdicts[i] || {};
      box.append(el("p", {}, el("span", { class: "tag " + (v.status || "") }, v.status || "no verdict"), replies > 1 ? " reply " + (i + 1) : "",
        typeof v.rcs === "number" ? "  RCS " + number(v.rcs) + ", R_proc " + number(v.r_proc) + ", R_res " + number(v.r_res) + ", R " + number(v.reward) : "",
        v.tokens_out ? ", " + v.tokens_out + " tokens" : "", v.hack ? " (right answer, wrong trace)" : ""));
      if (v.reason) box.append(el("p", { class: "note" }, v.reason));
      if (v.detail && v.detail.trace) box.append(trace(v.detail.trace, row.program));
      box.append(el("h3", {}, "Answer"), text(v.answer ?? "none"), el("h3", {}, "Reply"), text(row.replies[i] ?? ""));
    }
    box.append(el("h3", {}, "Gold"), text(row.target), el("h3", {}, "Prompt"), text(row.prompt));
    return box;
  }
  // The program with its blocks on one side, the model's blocks with their variables on the other.
  function trace(t, program) {
    const box = el("div", { class: "blocks" });
    let failed = false;
    t.blocks.forEach((b, i) => {
      const right = t.deltas[i], kind = failed ? "after" : right ? "right" : "wrong";
      const said = right ? "right" : b.predicted === null ? "missing" : !b.code_ok ? "code differs" : "LOCALS differ";
      const part = el("div", { class: "block " + kind, role: "group", "aria-label": "block " + (i + 1) + " " + kind },
        el("h3", {}, "Block " + (i + 1) + ": " + said + (b.weight ? ", weight " + b.weight : "") + (failed ? " (after the first error)" : "")));
      const code = program && b.start !== undefined ? text(program.slice(b.start, b.stop).map((l, k) => String(b.start + k).padStart(3) + "  " + l).join("\n")) : null;
      part.append(el("div", { class: code ? "halves" : "half" }, ...(code ? [code] : []), el("div", {}, variables(b, failed))));
      if (b.wrong.length && !failed) part.append(el("p", {}, el("span", { class: "tag wrong" }, "wrong: "), b.wrong.join(", ")));
      if (!right) failed = true;
      box.append(part);
    });
    if (t.issues && t.issues.length) box.append(el("p", { class: "note" }, "Format: " + t.issues.map((x) => "line " + x.line + " " + x.rule + ": " + x.message).join("; ")));
    return box;
  }
  function variables(b, failed) {
    if (b.vars) {
      if (!b.vars.length) return el("p", { class: "note" }, "no locals");
      return el("table", { class: "vars" }, el("thead", {}, el("tr", {}, ...["variable", "the model's", "true"].map((h) => el("th", { scope: "col" }, h)))),
        el("tbody", {}, ...b.vars.map(([name, mine, truth, differs]) => el("tr", { class: differs && !failed ? "differs" : null }, el("th", { scope: "row" }, name + (differs ? " ✗" : "")), el("td", {}, mine ?? "missing"), el("td", {}, truth ?? "not there")))));
    }
    const box = el("div", {});
    if (b.predicted !== null) box.append(el("p", { class: "note" }, "the model's LOCALS"), text(b.predicted));
    if (b.truth) box.append(el("p", { class: "note" }, "the true LOCALS"), text(b.truth));
    return box;
  }
  function move(step) {
    const at = list.findIndex((r) => r[ID] === state.id), next = list[Math.max(0, Math.min(list.length - 1, at + step))];
    if (next) open(next[ID]);
  }
  CT.ready.push(() => {
    for (const key of ["run", "other", "task", "show", "block", "search"])
      $("sample-" + key).addEventListener(key === "search" || key === "block" ? "input" : "change", () => { state[key] = $("sample-" + key).value; explorer().then(CT.remember); });
    document.addEventListener("keydown", (e) => {
      if ($("samples-view").hidden || e.ctrlKey || e.altKey || e.metaKey || /INPUT|SELECT|PRE/.test(document.activeElement.tagName)) return;
      const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity }[e.key];
      if (step) { e.preventDefault(); move(step); }
    });
  });
  CT.views.samples = explorer;
})();
