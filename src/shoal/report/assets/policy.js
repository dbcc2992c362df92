/* Where an animal goes next: p* from p̄ and the costs, or from the likeliest states that the page holds. */
"use strict";
shoal.Policy = class {
  constructor(page, pack) {
    this.page = page; this.pack = pack;
    if (!pack) return;
    if (pack.factors) this.factors = pack.factors.map(shoal.unpack);
    if (pack.rows) {
      const rows = pack.rows;
      this.rows = { ends: shoal.unpack(rows.ends), index: shoal.unpack(rows.index), policy: shoal.unpack(rows.policy), passive: shoal.unpack(rows.passive), per: rows.per_nat };
      this.place = new Map(Array.from(shoal.unpack(rows.origins), (state, n) => [state, n]));
    }
  }
  /* {policy, passive, held, there}: probabilities of every next state, how much of them the page
     holds, and which states it has. */
  from(state) {
    const size = this.page.size, policy = new Float64Array(size), passive = new Float64Array(size);
    if (!this.pack) return null;
    if (this.factors) {
      const shape = this.page.shape, start = shoal.unravel(state, shape), cost = this.page.costs.cost_to_go.mean;
      let lowest = Infinity, total = 0;
      for (const v of cost) lowest = Math.min(lowest, v);
      for (let j = 0; j < size; j++) {
        const end = shoal.unravel(j, shape);
        let p = 1;
        for (let a = 0; a < shape.length; a++) p *= this.factors[a][start[a] * shape[a] + end[a]];
        passive[j] = p;
        policy[j] = p * Math.exp(-this.pack.discount * (cost[j] - lowest));
        total += policy[j];
      }
      for (let j = 0; j < size; j++) policy[j] /= total;
      return { policy, passive, held: 1, there: null };
    }
    const n = this.place.get(state);
    if (n === undefined) return null;
    let held = 0, heldPassive = 0;
    const there = new Set();
    for (let k = n ? this.rows.ends[n - 1] : 0; k < this.rows.ends[n]; k++) {
      const j = this.rows.index[k];
      policy[j] = Math.exp(-this.rows.policy[k] / this.rows.per);
      passive[j] = Math.exp(-this.rows.passive[k] / this.rows.per);
      held += policy[j]; heldPassive += passive[j]; there.add(j);
    }
    return { policy, passive, held: Math.min(1, held, heldPassive), there };
  }
};

/* Probabilities summed over the axes that are not shown. */
shoal.summed = (page, axes, values) => {
  const sizes = axes.map((a) => page.shape[a]), grid = new Float64Array(sizes.reduce((m, n) => m * n, 1));
  for (let j = 0; j < values.length; j++) {
    if (!values[j]) continue;
    const index = shoal.unravel(j, page.shape);
    grid[shoal.ravel(axes.map((a) => index[a]), sizes)] += values[j];
  }
  return grid;
};

shoal.policyPart = (page, view) => {
  const holder = document.getElementById("policy-figure"), words = document.getElementById("policy-words");
  if (!holder) return;
  const policy = page.policy;
  let found = null, maps = [];
  const likeliest = (values) => { let best = 0; for (let j = 1; j < values.length; j++) if (values[j] > values[best]) best = j; return best; };
  const tell = () => {
    if (view.selected === null) return;
    const from = shoal.stateWords(page, view.selected);
    if (!found && page.server) { words.textContent = "…"; return; }
    if (!found) { words.textContent = `From ${from}: not in this page, which holds the states left most often. shoal explore shows all.`; return; }
    const best = likeliest(found.policy);
    words.textContent = `From ${from}, the likeliest next state is ${shoal.stateWords(page, best)} (probability ${shoal.number(found.policy[best])}; without costs ${shoal.number(found.passive[best])}). `
      + `It stays where it is with probability ${shoal.number(found.policy[view.selected])}.`
      + (found.held < 0.995 ? ` Shown are the likeliest next states, ${shoal.number(100 * found.held)} % of the probability.` : "");
  };
  const draw = () => {
    tell();
    if (page.axes.length === 1) {
      holder.replaceChildren();
      if (found) holder.append(shoal.barPlot(page.axes[0], found.policy, found.passive, view.selected), shoal.make("p", { class: "note" }, "Bars: with costs. Orange line: passive movement alone. Dashed: where it is now."));
      return;
    }
    for (const map of maps) map.draw();
  };
  if (page.axes.length > 1) {
    holder.className = "pair";
    maps = [["policy", "Next state, with costs"], ["passive", "Next state, by passive movement alone"]].map(([name, title]) => {
      const canvas = shoal.make("canvas", { id: `map-${name}` });
      holder.append(shoal.make("figure", {}, canvas, shoal.make("figcaption", {}, title)));
      return new shoal.HeatMap(page, view, canvas, {
        title, palette: "viridis", tallest: 340, root: true, unit: () => "probability", say: page.say,
        values: () => {
          if (!found) return { grid: new Float64Array(page.shape[view.axes[0]] * page.shape[view.axes[1]]), range: [0, 1] };
          const grid = shoal.summed(page, view.axes, found[name]);
          return { grid, range: [0, shoal.most(shoal.summed(page, view.axes, found.passive), shoal.most(shoal.summed(page, view.axes, found.policy), 1e-12))] };
        },
        words: (state) => {
          if (!found) return "choose a state first";
          if (page.axes.length === 2) return found.there && !found.there.has(state) ? "unlikely: not in this page" : `probability ${shoal.number(found[name][state])}`;
          const index = shoal.unravel(state, page.shape), sizes = view.axes.map((a) => page.shape[a]);
          const summed = shoal.summed(page, view.axes, found[name])[shoal.ravel(view.axes.map((a) => index[a]), sizes)];
          return `probability ${shoal.number(summed)}, whatever the other axes`;
        },
      });
    });
  }
  let asked = 0;
  const choose = async () => {
    const mine = ++asked;
    found = null;
    try {
      const answer = view.selected === null ? null : page.server ? await page.server.policy(view.selected) : policy.from(view.selected);
      if (mine !== asked) return;  // another state was chosen meanwhile
      found = answer;
      draw();
    } catch (error) { words.textContent = `That did not work: ${error.message}`; }
  };
  view.listen((changed) => { if ("selected" in changed) choose(); else if ("axes" in changed) draw(); });
  page.redraws.push(draw);
  shoal.refreshPolicy = choose;
};
