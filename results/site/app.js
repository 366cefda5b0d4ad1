"use strict";
// Data files are scripts that call CT.data(name, value): the only way to load files on demand from file://.
// Text of models is only ever set as text nodes.
const CT = (() => {
  const kept = new Map(), waiting = new Map(), views = {};
  const VIEWS = ["board", "samples", "compare", "atlas", "plots"];
  const self = { index: null, state: { run: null, other: "", task: null, id: null, show: "", block: "", kind: "", search: "" }, views, ready: [] };
  self.$ = (id) => document.getElementById(id);
  self.el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick") node.addEventListener("click", value);
      else if (value !== null && value !== undefined) node.setAttribute(key, value);
    }
    for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) node.append(child instanceof Node ? child : document.createTextNode(self.clean(child)));
    return node;
  };
  // Control characters and direction overrides become visible, so that a reply cannot rearrange the page.
  const ODD = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
  self.clean = (text) => String(text ?? "").replace(ODD, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  const known = (v) => v !== null && v !== undefined;
  self.percent = (v, digits = 2) => (known(v) ? (100 * v).toFixed(digits) : "–");
  // A metric as it is shown: shares in percent, one scale for all of them.
  self.metric = (name, v, digits = 2) => (!known(v) ? "–" : typeof v !== "number" ? v : self.isShare(name) ? self.percent(v, digits) : String(Number(v.toPrecision(4))));
  self.isShare = (name) => Boolean(self.index.words[name]?.[0]);
  self.tip = (name) => self.index.words[name]?.[2] ?? null;
  self.status = (s) => s.replaceAll("_", " ");
  self.fill = (select, options, chosen) => {
    select.replaceChildren(...options.map(([value, label]) => self.el("option", { value }, label)));
    select.value = chosen;
  };
  self.data = (name, value) => {
    kept.set(name, value);
    if (name === "index") start(value);
    (waiting.get(name) || []).forEach(([resolve]) => resolve(value));
    waiting.delete(name);
  };
  self.load = (name) => kept.has(name) ? Promise.resolve(kept.get(name)) : new Promise((resolve, reject) => {
    if (waiting.has(name)) { waiting.get(name).push([resolve, reject]); return; }
    waiting.set(name, [[resolve, reject]]);
    const script = document.createElement("script");
    script.src = "data/" + encodeURIComponent(name) + ".js";
    script.onerror = () => {
      waiting.get(name).forEach(([, no]) => no(new Error("The data file data/" + name + ".js is missing.")));
      waiting.delete(name);
    };
    document.head.append(script);
  });

  // ---- runs and their samples
  self.runOf = (name) => self.index.runs.find((r) => r.id === name || r.key === name);
  self.setOf = (run, task) => self.runOf(run)?.sets.find((s) => s.task === task);
  self.samples = (run, task) => { const set = self.setOf(run, task); return set ? self.load(set.data + "-index") : Promise.resolve(null); };
  self.sampled = () => self.index.runs.filter((r) => r.sets.length);
  self.link = (query) => "#samples?" + new URLSearchParams(query);
  // Places in a row of an index of samples.
  self.I = { ID: 0, STATUSES: 1, RCS: 2, FIRST: 3, FLAGS: 4, PAGE: 5, ACC: 6, TEXT: 7, BLOCKS: 8, FAULTS: 9, GROUP: 10 };

  // No element has a view's name as its id: the browser would scroll to it.
  // ---- address: #board, #plots, #atlas, #compare?a=KEY&b=KEY&task=T, #samples?run=KEY&task=T&id=I&other=KEY&show=S&block=K&kind=C
  self.remember = () => {
    const s = self.state, p = new URLSearchParams({ run: self.runOf(s.run)?.key ?? "", task: s.task ?? "", id: s.id ?? "" });
    if (s.other) p.set("other", self.runOf(s.other).key);
    for (const key of ["show", "block", "kind"]) if (s[key]) p.set(key, s[key]);
    history.replaceState(null, "", "#samples?" + p);
  };
  function route() {
    const [view, query] = location.hash.replace(/^#/, "").split("?");
    const shown = VIEWS.includes(view) ? view : "board", p = new URLSearchParams(query || "");
    for (const name of VIEWS) {
      self.$(name + "-view").hidden = name !== shown;
      if (name === shown) self.$("to-" + name).setAttribute("aria-current", "page");
      else self.$("to-" + name).removeAttribute("aria-current");
    }
    if (shown === "samples") {
      const s = self.state;
      if (p.get("run")) s.run = self.runOf(p.get("run"))?.id ?? null;
      for (const key of ["task", "id"]) if (p.get(key)) s[key] = p.get(key);
      if (query && !p.get("id")) s.id = null;
      s.other = self.runOf(p.get("other"))?.id ?? "";
      for (const key of ["show", "block", "kind"]) s[key] = p.get(key) || "";
    }
    views[shown](p);
  }
  // ---- one tooltip for all that has data-tip, by mouse and by keyboard
  function tips() {
    const box = self.$("tip");
    const hide = () => { box.hidden = true; };
    const show = (event) => {
      const at = event.target.closest?.("[data-tip]");
      if (!at) { hide(); return; }
      box.textContent = self.clean(at.getAttribute("data-tip"));
      box.hidden = false;
      const r = at.getBoundingClientRect(), w = box.offsetWidth, h = box.offsetHeight;
      box.style.left = Math.max(4, Math.min(r.left, document.documentElement.clientWidth - w - 4)) + "px";
      box.style.top = (r.bottom + h + 6 > innerHeight ? Math.max(4, r.top - h - 4) : r.bottom + 4) + "px";
    };
    for (const event of ["mouseover", "focusin"]) document.addEventListener(event, show);
    document.addEventListener("focusout", hide);
    document.addEventListener("scroll", hide, true);
    document.addEventListener("keydown", (e) => { if (e.key === "Escape") hide(); });
  }
  function start(value) {
    self.index = value;
    for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (e) => e.preventDefault());
    if (value.problems.length) self.$("problems").append(self.el("h2", {}, "Left out or doubtful"), self.el("ul", {}, ...value.problems.map((p) => self.el("li", {}, p))));
    tips();
    for (const ready of self.ready) ready();
    window.addEventListener("hashchange", route);
    route();
  }
  return self;
})();
