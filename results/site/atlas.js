"use strict";
// At which construct the first error falls: of the blocks with it that a run reached without an error, the share it got wrong.
(() => {
  const { $, el, percent } = CT;
  const SHOWN = 12, FEW = 5;
  let most = SHOWN;
  // Counts of several tasks of a run together; key and task are those with the most errors, for the link.
  CT.atlasOf = (parts, atlas) => CT.index.kinds.map((name, kind) => {
    const row = { name, kind, errors: 0, reached: 0, key: null, task: null, general: kind >= CT.index.kinds.length - 2 };
    let top = -1;
    for (const [key, task] of parts) {
      const [errors, reached] = atlas[key + " " + task]?.[name] || [0, 0];
      row.errors += errors; row.reached += reached;
      if (errors > top) { top = errors; row.key = key; row.task = task; }
    }
    return row;
  });
  async function draw() {
    const atlas = await CT.load("atlas"), task = $("atlas-task").value, words = $("atlas-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const byName = new Map();
    for (const run of CT.index.runs) for (const s of run.sets) if (atlas[run.key + " " + s.task] && (!task || s.task === task) && words.every((w) => run.name.toLowerCase().includes(w))) {
      if (!byName.has(run.name)) byName.set(run.name, []);
      byName.get(run.name).push([run.key, s.task]);
    }
    const names = [...byName.keys()].slice(0, most), columns = names.map((n) => CT.atlasOf(byName.get(n), atlas));
    if (!names.length) { $("atlas-result").replaceChildren(el("p", {}, "No run wrote traces (paradigm contra), so nothing tells where reasoning fails.")); return; }
    const total = (kind) => columns.reduce((s, c) => s + c[kind].errors, 0), seen = (kind) => columns.reduce((s, c) => s + c[kind].reached, 0);
    const kinds = CT.index.kinds.map((name, kind) => ({ name, kind, general: columns[0][kind].general })).filter((k) => seen(k.kind)).sort((a, b) => a.general - b.general || total(b.kind) - total(a.kind));
    const cell = (c) => {
      if (!c.reached) return el("td", {}, "–");
      const rate = c.errors / c.reached, bar = el("b"), told = c.errors + " first errors in " + c.reached + " blocks reached without an error";
      bar.style.width = 100 * rate + "%";
      const shown = c.errors ? el("a", { href: CT.link({ run: c.key, task: c.task, kind: c.kind }), "data-tip": told }, percent(rate, 0) + " %") : el("span", { "data-tip": told }, "0 %");
      return el("td", { class: c.reached < FEW ? "partial" : null }, shown, el("small", { class: "note" }, " " + c.errors + "/" + c.reached), el("div", { class: "meter", "aria-hidden": "true" }, bar));
    };
    const body = el("tbody", {}, kinds.map((k) => el("tr", {}, el("th", { scope: "row" }, k.name), columns.map((c) => cell(c[k.kind])))));
    $("atlas-result").replaceChildren(el("p", {}, "Each cell: of the blocks with that construct which the run reached without an error, the share in which it made its first error. A block counts for every construct in it; grey: fewer than " + FEW + " blocks. A number links to the samples."),
      el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "First errors by construct" }, el("table", { id: "atlas-table" }, el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "left" }, "first error at"), names.map((n) => el("th", { scope: "col", class: "name" }, n)))), body)),
      byName.size > names.length ? el("p", {}, el("button", { type: "button", onclick: () => { most += SHOWN; draw(); } }, "Show more of " + byName.size + " runs")) : "");
  }
  CT.views.atlas = () => {
    const tasks = [...new Set(CT.index.runs.flatMap((r) => r.sets.filter((s) => s.traces).map((s) => s.task)))];
    if (!$("atlas-task").options.length) CT.fill($("atlas-task"), [["", "all"], ...tasks.map((t) => [t, t])], "");
    draw();
  };
  CT.ready.push(() => { $("atlas-task").addEventListener("change", draw); $("atlas-filter").addEventListener("input", draw); });
})();
