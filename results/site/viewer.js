"use strict";
// One sample: answer against gold, then its program step by step, block by block, with the model's variables beside the true ones.
(() => {
  const { el, percent } = CT;
  const text = (value, name) => el("pre", { tabindex: 0, role: "group", "aria-label": name }, value);
  const number = (v) => (typeof v === "number" ? String(Number(v.toFixed(2))) : "–");
  const shared = { step: null, views: [] };  // runs side by side step together
  const SAID = { right: "right", wrong: "wrong", after: "after the first error" };

  function kindOf(t, i) {
    const first = t.deltas.indexOf(false);
    return first < 0 || i < first ? "right" : i === first ? "wrong" : "after";
  }
  function fault(b, right) {
    return right ? "right" : b.predicted === null ? "the model wrote no such block" : !b.code_ok ? "the model copied other code" : "wrong: " + (b.wrong.length ? b.wrong.join(", ") : "LOCALS cannot be read");
  }

  // ---- answer against gold
  function verdict(row, v) {
    const said = [el("span", { class: "tag " + (v.status || "") }, v.status ? CT.status(v.status) : "no verdict")];
    if (v.hack) said.push(el("span", { class: "tag lucky" }, " right by luck: the trace is wrong"));
    const facts = [];
    if (typeof v.rcs === "number") facts.push("RCS " + percent(v.rcs, 0) + " %", "reward " + number(v.reward) + " of 4 (process " + number(v.r_proc) + ", result " + number(v.r_res) + ")");
    if (v.tokens_out) facts.push(v.tokens_out + " tokens");
    if (v.status_flexible && v.status_flexible !== v.status) facts.push("flexible reading: " + CT.status(v.status_flexible) + (v.answer_flexible !== null && v.answer_flexible !== undefined ? " (" + String(v.answer_flexible).slice(0, 80) + ")" : ""));
    const right = v.status === "right";
    return el("div", {}, el("p", { class: "verdict" }, said, " ", el("span", { class: "note" }, facts.join("; "))), v.reason ? el("p", { class: "note" }, v.reason) : null,
      el("div", { class: "against" }, el("div", { class: right ? "good" : "bad" }, el("h3", {}, "The model's answer"), text(v.answer ?? "none", "the model's answer")), el("div", {}, el("h3", {}, "True answer"), text(row.gold, "true answer"))));
  }

  // ---- the stepper
  function stepper(row, v) {
    const t = v.detail.trace, count = t.blocks.length, first = t.deltas.indexOf(false);
    const box = el("div", { class: "trace" }), now = el("div", { class: "now" }), where = el("span", { class: "where", role: "status" });
    const button = (label, name, to) => el("button", { type: "button", "aria-label": name, "data-tip": name, onclick: () => go(to()) }, label);
    let step = 0;
    const go = (to) => { shared.step = Math.max(0, Math.min(count - 1, to)); for (const view of shared.views) view(); };
    const bar = el("div", { class: "steps" }, button("|◀", "first block", () => 0), button("◀", "block before (left arrow)", () => step - 1), where, button("▶", "next block (right arrow)", () => step + 1), button("▶|", "last block", () => count - 1), first >= 0 ? button("✗", "first error", () => first) : null);
    const lines = row.program ? source(row.program, t, (i) => go(i)) : null;
    const draw = () => {
      step = Math.min(count - 1, shared.step ?? (first >= 0 ? first : 0));
      const b = t.blocks[step], kind = kindOf(t, step);
      where.textContent = "Block " + (step + 1) + " of " + count + (step === first ? ": first error" : "");
      for (const line of lines?.querySelectorAll("[data-block]") || []) line.classList.toggle("here", Number(line.dataset.block) === step);
      now.className = "now " + kind;
      now.replaceChildren(el("h3", {}, "After block " + (step + 1) + ": " + CT.clean(fault(b, t.deltas[step])) + (kind === "after" ? " (after the first error: does not count)" : "")), variables(b, t.blocks[step - 1], kind));
    };
    shared.views.push(draw);
    shared.go = go;
    shared.at = () => step;
    draw();
    box.append(bar, el("div", { class: lines ? "halves" : "" }, lines, now));
    if (t.issues && t.issues.length) box.append(el("p", { class: "note" }, "Format: " + t.issues.map((x) => "line " + x.line + " " + x.rule + ": " + x.message).join("; ")));
    return box;
  }
  // The whole program; the gutter says to which block a line belongs, and how that block went.
  function source(program, t, go) {
    const of = new Map();
    t.blocks.forEach((b, i) => { for (let k = b.start; k < b.stop; k++) of.set(k, i); });
    const rows = program.map((line, k) => {
      const i = of.get(k), kind = i === undefined ? "unrun" : kindOf(t, i), top = i !== undefined && of.get(k - 1) !== i;
      const gutter = top ? el("button", { type: "button", class: "gutter", "aria-label": "block " + (i + 1) + ", " + SAID[kind], onclick: () => go(i) }, (kind === "right" ? "✓" : kind === "wrong" ? "✗" : "·") + (i + 1)) : el("span", { class: "gutter" });
      return el("div", { class: "line " + kind, "data-block": i }, gutter, el("span", { class: "no", "aria-hidden": "true" }, k), el("code", {}, line || " "));
    });
    return el("div", { class: "source", role: "group", "aria-label": "program", tabindex: 0 }, rows);
  }
  function variables(b, before, kind) {
    if (!b.vars) {
      const box = el("div", {});
      if (b.predicted !== null) box.append(el("p", { class: "note" }, "the model's LOCALS"), text(b.predicted, "the model's LOCALS"));
      if (b.truth) box.append(el("p", { class: "note" }, "the true LOCALS"), text(b.truth, "the true LOCALS"));
      return box;
    }
    if (!b.vars.length) return el("p", { class: "note" }, "no locals");
    const old = new Map((before?.vars || []).map(([name, , truth]) => [name, truth]));
    const changed = (name, truth) => (!before ? null : !old.has(name) || old.get(name) === null ? (truth === null ? null : "new") : old.get(name) !== truth ? "changed" : null);
    return el("table", { class: "vars" }, el("thead", {}, el("tr", {}, ["variable", "the model's", "true", ""].map((h) => el(h ? "th" : "td", h ? { scope: "col" } : {}, h)))),
      el("tbody", {}, b.vars.map(([name, mine, truth, differs]) => {
        const mark = changed(name, truth);
        return el("tr", { class: [differs && kind !== "after" ? "differs" : "", mark ? "changed" : ""].join(" ").trim() || null }, el("th", { scope: "row" }, name), el("td", {}, mine ?? "missing"), el("td", {}, truth ?? "not there"), el("td", { class: "note" }, [differs ? "✗ differs" : "", mark ? "● " + mark : ""].filter(Boolean).join(" ")));
      })));
  }

  // Where runs side by side open: at the earliest first error of any of them.
  function earliest(rows) {
    const firsts = rows.flatMap((row) => row?.verdicts || []).map((v) => v.detail?.trace?.deltas.indexOf(false) ?? -1).filter((i) => i >= 0);
    return firsts.length ? Math.min(...firsts) : null;
  }

  // ---- a sample of one run
  CT.view = (row, state) => {
    const count = Math.max(row.verdicts.length, row.replies.length, 1), reply = Math.min(state.reply ?? Math.max(0, row.verdicts.findIndex((v) => v.detail)), count - 1);
    const v = row.verdicts[reply] || {}, plain = !(v.detail && v.detail.trace);
    const tabs = count > 1 ? el("p", { class: "steps" }, "Reply ", row.verdicts.map((w, i) => el("button", { type: "button", "aria-pressed": String(i === reply), onclick: () => state.redraw(i) }, String(i + 1) + " " + CT.status(w.status || "")))) : null;
    const told = (name, value, open) => { const d = el("details", {}, el("summary", {}, name), text(value, name)); d.open = open; return d; };
    return el("div", {}, tabs, verdict(row, v), row.call ? el("p", { class: "call" }, "Call: ", el("code", {}, row.call)) : null,
      plain ? (row.program ? source(row.program, { blocks: [], deltas: [] }, () => {}) : null) : stepper(row, v),
      v.ending?.reasoning ? told("Reasoning", v.ending.reasoning, false) : null, told("Reply", row.replies[reply] ?? "", plain), told("Prompt", row.prompt, false), told("Gold reply", row.target, false));
  };
  CT.stepping = { reset: (rows) => { shared.step = earliest(rows); shared.views = []; shared.go = null; }, by: (k) => shared.go?.(shared.at() + k) };
})();
