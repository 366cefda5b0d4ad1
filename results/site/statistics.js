"use strict";
// The same formulas as in ct_tasks/reports/statistics.py, for what the reader chooses in the page.
(() => {
  const Z = 1.959963984540054;
  // Wilson's score interval, 95 %.
  function wilson(right, n) {
    if (!n) return [null, null];
    const p = right / n, s = 1 + Z * Z / n, c = p + Z * Z / (2 * n), d = Z * Math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
    return [Math.max(0, (c - d) / s), Math.min(1, (c + d) / s)];
  }
  // Exact two-sided McNemar test, summed in logarithms so that many pairs do not overflow.
  function mcnemar(a, b) {
    const n = a + b, k = Math.min(a, b);
    if (!n) return 1;
    let log = -n * Math.LN2, sum = Math.exp(log);
    for (let i = 1; i <= k; i++) { log += Math.log((n - i + 1) / i); sum += Math.exp(log); }
    return Math.min(1, 2 * sum);
  }
  // Holm's step-down correction, in the order of the p-values given.
  function holm(ps) {
    const order = ps.map((p, i) => [p, i]).sort((x, y) => x[0] - y[0]), out = [];
    let running = 0;
    order.forEach(([p, i], rank) => { running = Math.max(running, Math.min(1, (order.length - rank) * p)); out[i] = running; });
    return out;
  }
  // Paired bootstrap over clusters: [mean, low, high] of the differences; the same each time.
  function bootstrap(differences, groups, draws = 2000) {
    const by = new Map();
    differences.forEach((d, i) => { const g = by.get(groups[i]) || [0, 0]; g[0] += d; g[1] += 1; by.set(groups[i], g); });
    const all = [...by.values()], mean = differences.reduce((s, d) => s + d, 0) / differences.length;
    if (all.length < 2) return [mean, null, null];
    const times = Math.max(200, Math.min(draws, Math.floor(4e6 / all.length)));  // at most four million picks
    let state = 1;
    const random = () => { state = (state + 0x6d2b79f5) | 0; let t = Math.imul(state ^ (state >>> 15), 1 | state); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296; };
    const means = [];
    for (let k = 0; k < times; k++) {
      let s = 0, n = 0;
      for (let i = 0; i < all.length; i++) { const g = all[Math.floor(random() * all.length)]; s += g[0]; n += g[1]; }
      means.push(s / n);
    }
    means.sort((x, y) => x - y);
    return [mean, means[Math.floor(0.025 * times)], means[Math.min(times - 1, Math.floor(0.975 * times))]];
  }
  // A p-value with two significant digits, never zero.
  const p2 = (p) => (p < 1e-300 ? "< 1e-300" : p < 1e-4 ? p.toExponential(1) : p.toPrecision(2));
  // Samples of two indexes that both have a verdict, paired.
  function pairs(mine, theirs) {
    const I = CT.I, beside = new Map((theirs || []).map((r) => [r[I.ID], r]));
    return (mine || []).filter((r) => r[I.ACC] !== null && beside.has(r[I.ID]) && beside.get(r[I.ID])[I.ACC] !== null).map((r) => [r, beside.get(r[I.ID])]);
  }
  function paired(rows) {
    const I = CT.I, won = rows.filter(([a, b]) => b[I.ACC] > a[I.ACC]).length, lost = rows.filter(([a, b]) => a[I.ACC] > b[I.ACC]).length;
    const mean = (side) => rows.reduce((s, pair) => s + pair[side][I.ACC], 0) / rows.length;
    const [difference, low, high] = bootstrap(rows.map(([a, b]) => b[I.ACC] - a[I.ACC]), rows.map(([a]) => a[I.GROUP] || a[I.ID]));
    return { n: rows.length, a: mean(0), b: mean(1), won, lost, difference, low, high, p: mcnemar(won, lost) };
  }
  // Mean of several tasks; its interval adds theirs up by squares (MOVER).
  function average(cells) {
    const k = cells.length, mean = cells.reduce((s, c) => s + c.value, 0) / k;
    const side = (end) => (cells.every((c) => c[end] !== null && c[end] !== undefined) ? Math.hypot(...cells.map((c) => c.value - c[end])) / k : null);
    const below = side("low"), above = side("high");
    return { value: mean, low: below === null ? null : Math.max(0, mean - below), high: above === null ? null : Math.min(1, mean + above) };
  }
  CT.stats = { wilson, mcnemar, holm, bootstrap, p2, pairs, paired, average };
})();
