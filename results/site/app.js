"use strict";
// Data files are scripts that call CT.data(name, value): the only way to load files on demand from file://.
// Text of models is only ever set as text nodes.
const CT = (() => {
  const kept = new Map(), waiting = new Map(), views = {};
  const self = { index: null, state: { run: null, other: "", task: null, id: null, show: "", block: "", search: "" }, views };
  self.$ = (id) => document.getElementById(id);
  self.el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick") node.addEventListener("click", value);
      else if (value !== null && value !== undefined) node.setAttribute(key, value);
    }
    for (const child of children) node.append(child instanceof Node ? child : document.createTextNode(self.clean(child)));
    return node;
  };
  // Control characters and direction overrides become visible, so that a reply cannot rearrange the page.
  const ODD = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
  self.clean = (text) => String(text ?? "").replace(ODD, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  self.percent = (v) => (v === null || v === undefined ? "–" : (100 * v).toFixed(2));
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

  // ---- address: #board, #plots, #samples?run=KEY&task=T&id=I&other=KEY&show=S&block=K
  self.runOf = (name) => self.index.runs.find((r) => r.id === name || r.key === name);
  self.remember = () => {
    const s = self.state, p = new URLSearchParams({ run: self.runOf(s.run)?.key ?? "", task: s.task ?? "", id: s.id ?? "" });
    if (s.other) p.set("other", self.runOf(s.other).key);
    for (const key of ["show", "block"]) if (s[key]) p.set(key, s[key]);
    history.replaceState(null, "", "#samples?" + p);
  };
  function route() {
    const [view, query] = location.hash.replace(/^#/, "").split("?");
    const shown = ["plots", "samples"].includes(view) ? view : "board";
    for (const name of ["board", "plots", "samples"]) {
      self.$(name + "-view").hidden = name !== shown;
      if (name === shown) self.$("to-" + name).setAttribute("aria-current", "page");
      else self.$("to-" + name).removeAttribute("aria-current");
    }
    if (shown === "samples") {
      const p = new URLSearchParams(query || ""), s = self.state;
      if (p.get("run")) s.run = self.runOf(p.get("run"))?.id ?? null;
      for (const key of ["task", "id"]) if (p.get(key)) s[key] = p.get(key);
      s.other = self.runOf(p.get("other"))?.id ?? "";
      for (const key of ["show", "block"]) s[key] = p.get(key) || "";
    }
    views[shown]();
  }
  function start(value) {
    self.index = value;
    for (const form of document.querySelectorAll("form")) form.addEventListener("submit", (e) => e.preventDefault());
    if (value.problems.length) self.$("problems").append(self.el("h2", {}, "Left out or doubtful"), self.el("ul", {}, ...value.problems.map((p) => self.el("li", {}, p))));
    for (const ready of self.ready) ready();
    window.addEventListener("hashchange", route);
    route();
  }
  self.ready = [];
  return self;
})();
