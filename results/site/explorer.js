"use strict";
// The list of samples of one task of one run, alone or beside another run's, and what it opens.
(() => {
  const { $, el, load, state } = CT;
  const AROUND = 250;  // samples drawn on each side of the open one
  const { ID, STATUSES, RCS, FIRST, FLAGS, PAGE, ACC, TEXT, BLOCKS, FAULTS } = CT.I;
  let list = [], drawn = [0, 0], turn = 0, reply = null;

  const message = (text) => $("sample").replaceChildren(el("p", {}, text));
  const FITS = {
    hack: (r) => r[FLAGS].includes("h"), unlucky: (r) => r[FLAGS].includes("u"), error: (r) => r[FIRST] !== null,
    lost: (r, o) => o && r[ACC] > o[ACC], won: (r, o) => o && r[ACC] < o[ACC],
  };
  const NAMED = [["", "all"], ["error", "trace with an error"], ["hack", "right answer, wrong trace"], ["unlucky", "wrong answer, right trace"], ["lost", "better here than beside"], ["won", "better beside than here"]];
  async function explorer() {
    const now = ++turn, runs = CT.sampled();
    if (!runs.length) { $("sample-count").textContent = "No run has samples; run lm_eval with --log_samples."; return; }
    if (!runs.some((r) => r.id === state.run)) state.run = runs[0].id;
    const sets = CT.runOf(state.run).sets;
    if (!CT.setOf(state.run, state.task)) state.task = sets[0].task;
    if (state.other === state.run) state.other = "";
    CT.fill($("sample-run"), runs.map((r) => [r.id, r.name]), state.run);
    CT.fill($("sample-other"), [["", "–"], ...runs.filter((r) => r.id !== state.run).map((r) => [r.id, r.name])], state.other);
    CT.fill($("sample-task"), sets.map((s) => [s.task, s.task]), state.task);
    let all, others;
    try {
      [all, others] = await Promise.all([CT.samples(state.run, state.task), state.other ? CT.samples(state.other, state.task) : null]);
    } catch (error) { message(error.message); return; }
    if (now !== turn) return;
    const kinds = new Set(all.flatMap((r) => r[FAULTS]));
    CT.fill($("sample-kind"), [["", "anything"], ...CT.index.kinds.map((k, i) => [String(i), k]).filter(([i]) => kinds.has(Number(i)) || i === state.kind)], state.kind);
    for (const key of ["show", "block", "search"]) $("sample-" + key).value = state[key];
    const beside = new Map((others || []).map((r) => [r[ID], r]));
    const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (r) => (!state.show || (FITS[state.show] ? FITS[state.show](r, beside.get(r[ID])) : r[STATUSES].includes(state.show)))
      && (state.block === "" || r[FIRST] === Number(state.block) - 1) && (state.kind === "" || r[FAULTS].includes(Number(state.kind)))
      && words.every((w) => r[ID].toLowerCase().includes(w) || r[TEXT].toLowerCase().includes(w));
    list = all.filter(fits);
    let both = "";
    if (state.other) {
      const t = CT.stats.pairs(all, others), won = t.filter(([a, b]) => b[ACC] > a[ACC]).length, lost = t.filter(([a, b]) => a[ACC] > b[ACC]).length;
      both = "; both runs have " + t.length + ": better here " + lost + ", better there " + won + ", p = " + CT.stats.p2(CT.stats.mcnemar(won, lost));
    }
    $("sample-count").textContent = list.length + " of " + all.length + " samples" + both;
    if (state.id === null || !list.some((r) => r[ID] === state.id)) state.id = (list.find((r) => r[FIRST] !== null) ?? list[0])?.[ID] ?? null;
    drawn = [0, 0];
    draw();
    await sample();
  }
  const label = (r) => (r[STATUSES].length > 1 && r[ACC] !== null ? Math.round(100 * r[ACC]) + " % right" : CT.status(r[STATUSES][0] || "–"));
  const facts = (r) => (typeof r[RCS] === "number" ? "RCS " + Math.round(100 * r[RCS]) + (r[FIRST] !== null ? " ✗ block " + (r[FIRST] + 1) + "/" + r[BLOCKS] : "") + (r[FLAGS].includes("h") ? " by luck" : "") : "");
  // Only a stretch of the list around the open sample is in the page.
  function draw() {
    const at = Math.max(0, list.findIndex((r) => r[ID] === state.id));
    if (at < drawn[0] || at >= drawn[1]) {
      drawn = [Math.max(0, at - AROUND), Math.min(list.length, at + AROUND)];
      const go = (to, text) => el("li", {}, el("button", { type: "button", onclick: () => open(list[to][ID]) }, text));
      $("sample-list").replaceChildren(
        ...(drawn[0] > 0 ? [go(drawn[0] - 1, "… " + drawn[0] + " before")] : []),
        ...list.slice(...drawn).map((r) => el("li", {}, el("button", { type: "button", "data-id": r[ID], onclick: () => open(r[ID]) }, el("span", { class: "id" }, r[ID].slice(0, 200)), el("span", { class: "tag " + (r[STATUSES][0] || "") }, label(r)), el("span", { class: "note" }, facts(r))))),
        ...(drawn[1] < list.length ? [go(drawn[1], "… " + (list.length - drawn[1]) + " after")] : []));
    }
    for (const button of document.querySelectorAll("#sample-list button[data-id]")) {
      const here = button.dataset.id === state.id;
      if (!here) button.removeAttribute("aria-current");
      else { button.setAttribute("aria-current", "true"); const box = $("sample-list"); const y = button.offsetTop - box.offsetTop; if (y < box.scrollTop || y > box.scrollTop + box.clientHeight - 60) box.scrollTop = y - box.clientHeight / 3; }
    }
  }
  function open(id) { state.id = id; reply = null; CT.remember(); draw(); sample(); }
  async function find(run, task, id) {
    const rows = await CT.samples(run, task);
    const row = rows && rows.find((r) => r[ID] === id);
    return row ? (await load(CT.setOf(run, task).data + "-" + row[PAGE]))[id] : null;
  }
  async function sample() {
    const now = turn, id = state.id;
    if (id === null) { message("No sample fits the filter."); return; }
    let mine, other;
    try {
      [mine, other] = await Promise.all([find(state.run, state.task, id), state.other ? find(state.other, state.task, id) : null]);
    } catch (error) { message(error.message); return; }
    if (now !== turn || id !== state.id || !mine) return;
    CT.stepping.reset(reply === null && state.other ? [mine, other] : []);
    const held = { reply: reply ?? undefined, redraw: (i) => { reply = i; sample(); } };
    const named = (run, row) => el("div", {}, el("h3", {}, CT.runOf(run).name), row ? CT.view(row, held) : el("p", {}, "This run does not have this sample."));
    $("sample").replaceChildren(el("h2", {}, state.task + " / " + id), state.other ? el("div", { class: "beside" }, named(state.run, mine), named(state.other, other)) : CT.view(mine, held));
  }
  function move(step) {
    const at = list.findIndex((r) => r[ID] === state.id), next = list[Math.max(0, Math.min(list.length - 1, at + step))];
    if (next) open(next[ID]);
  }
  CT.ready.push(() => {
    CT.fill($("sample-show"), [...NAMED.slice(0, 4), ...CT.index.statuses.map((s) => [s, CT.status(s)]), ...NAMED.slice(4)], "");
    for (const key of ["run", "other", "task", "show", "block", "kind", "search"])
      $("sample-" + key).addEventListener(key === "search" || key === "block" ? "input" : "change", () => { state[key] = $("sample-" + key).value; explorer().then(CT.remember); });
    document.addEventListener("keydown", (e) => {
      if ($("samples-view").hidden || e.ctrlKey || e.altKey || e.metaKey || /INPUT|SELECT|PRE/.test(document.activeElement.tagName)) return;
      const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key], step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity }[e.key];
      if (by) { e.preventDefault(); CT.stepping.by(by); } else if (step) { e.preventDefault(); move(step); }
    });
  });
  CT.views.samples = explorer;
})();
