/* Puts the page together from what it holds. */
"use strict";
shoal.open = (contents) => {
  const page = { axes: contents.axes, redraws: [] };
  page.shape = page.axes.map((axis) => axis.centres.length);
  page.size = page.shape.reduce((m, n) => m * n, 1);
  page.arrivals = shoal.unpack(contents.arrivals);
  page.costs = {};
  page.read = (costs) => {
    for (const [what, pack] of Object.entries(costs)) {
      page.costs[what] = pack && { ...pack, ...Object.fromEntries(["mean", "sd", "lower", "upper"].map((name) => [name, shoal.unpack(pack[name])])) };
    }
  };
  page.read(contents.costs);
  page.never = contents.never; page.counted = contents.counted;
  page.start = page.shape.map(() => 0);
  if (page.arrivals) { let best = 0; page.arrivals.forEach((n, state) => { if (n > page.arrivals[best]) best = state; }); page.start = shoal.unravel(best, page.shape); }
  page.policy = new shoal.Policy(page, contents.policy);
  const readout = document.getElementById("readout");
  page.say = (text) => { if (readout) readout.textContent = text; };
  page.unit = (what) => `${page.costs[what].title.toLowerCase()} ${page.costs[what].letter} (${page.costs[what].unit})`;
  page.entered = (state) => !page.arrivals || page.arrivals[state] > 0;
  page.hatched = (view, a, b) => {
    const index = view.fixed.slice(); index[view.axes[0]] = a; index[view.axes[1]] = b;
    return !page.entered(shoal.ravel(index, page.shape));
  };
  /* From the lowest to the highest among states that were entered. */
  page.range = (what, name) => {
    const values = page.costs[what][name];
    let low = Infinity, high = -Infinity;
    for (let n = 0; n < values.length; n++) if (page.entered(n) && Number.isFinite(values[n])) { low = Math.min(low, values[n]); high = Math.max(high, values[n]); }
    return low <= high ? [low, high] : [0, 1];
  };
  page.costWords = (what, state) => {
    const cost = page.costs[what];
    if (!Number.isFinite(cost.mean[state])) return "not identified";
    const spread = cost.sd ? `, sd ${shoal.number(cost.sd[state])}, 95 % interval ${shoal.number(cost.lower[state])} to ${shoal.number(cost.upper[state])}` : "";
    const count = page.arrivals ? page.arrivals[state] : null;
    return `${cost.title.toLowerCase()} ${shoal.number(cost.mean[state])} ${cost.unit}${spread}, ${count === null ? "" : count ? `${count.toLocaleString("en")} ${page.counted}` : `${page.never}: the prior speaks`}`;
  };
  const view = new shoal.View(page);
  page.view = view;
  if (view.what) {
    for (const radio of document.querySelectorAll("input[name=what]")) radio.closest("label").hidden = !page.costs[radio.value];
    shoal.axisControls(page, view, document.getElementById("axis-controls"));
    if (page.axes.length === 1) shoal.lineCosts(page, view, contents); else shoal.mapCosts(page, view);
    shoal.policyPart(page, view);
  }
  shoal.aroundPart(page, contents);
  shoal.marginalPart(page, contents);
  if (contents.check) document.getElementById("check-figure").append(shoal.checkPlot(contents.check));
  if (contents.replay) page.replay = new shoal.Replay(page, view, contents.replay);
  const csv = document.getElementById("numbers");
  if (csv && view.what) csv.addEventListener("click", () => shoal.download("costs.csv", "text/csv", shoal.table(page)));
  const redraw = () => page.redraws.forEach((draw) => draw());
  let wait = null;
  window.addEventListener("resize", () => { clearTimeout(wait); wait = setTimeout(redraw, 80); });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) window.matchMedia(query).addEventListener("change", redraw);
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
  redraw();
  if (view.what) view.change({ selected: shoal.ravel(page.start, page.shape) });
  shoal.page = page;
  return page;
};

shoal.mapCosts = (page, view) => {
  const holder = document.getElementById("cost-figure");
  const names = page.costs.cost_to_go.sd ? ["mean", "sd"] : ["mean"];
  if (names.length > 1) holder.className = "pair";
  const maps = names.map((name) => {
    const canvas = shoal.make("canvas", { id: `map-${name}` });
    const caption = { mean: "Posterior mean", sd: "Posterior standard deviation" }[name];
    holder.append(shoal.make("figure", {}, canvas, shoal.make("figcaption", {}, page.costs.cost_to_go.sd ? caption : "Most probable costs")));
    return new shoal.HeatMap(page, view, canvas, {
      title: caption, palette: name === "sd" ? "cividis" : "viridis", say: page.say,
      unit: () => (name === "sd" ? `sd (${page.costs[view.what].unit})` : page.unit(view.what)),
      values: () => {
        const values = page.costs[view.what][name];  // one draw has no spread
        return values ? { grid: shoal.slice(page, view, values), range: page.range(view.what, name) }
          : { grid: new Float32Array(page.shape[view.axes[0]] * page.shape[view.axes[1]]).fill(NaN), range: [0, 1] };
      },
      hatched: page.hatched, words: (state) => page.costWords(view.what, state),
    });
  });
  const draw = () => maps.forEach((map) => map.draw());
  view.listen(() => { draw(); if (view.selected !== null) page.say(`${shoal.stateWords(page, view.selected)}: ${page.costWords(view.what, view.selected)}`); });
  for (const radio of document.querySelectorAll("input[name=what]")) radio.addEventListener("change", () => view.change({ what: radio.value }));
  page.redraws.push(draw);
};

shoal.lineCosts = (page, view, contents) => {
  const holder = document.getElementById("cost-figure");
  const draw = () => {
    const cost = page.costs[view.what], numbers = (values) => values && Array.from(values, (v) => (Number.isFinite(v) ? v : null));
    const series = { axis: 0, mean: numbers(cost.mean), lower: numbers(cost.lower), upper: numbers(cost.upper), arrivals: Array.from(page.arrivals), truth: view.what === "cost_to_go" && contents.known ? numbers(shoal.unpack(contents.known)) : null };
    const plot = shoal.linePlot(page, series, {
      title: cost.title, unit: page.unit(view.what), short: cost.unit, say: page.say, start: view.selected ?? page.start[0],
      choose: (n) => view.change({ selected: n, fixed: [n] }),
    });
    const focused = holder.contains(document.activeElement);
    holder.replaceChildren(plot.drawing);
    if (focused) plot.drawing.focus();
    if (view.selected !== null) { plot.show(view.selected); page.say(plot.words(view.selected)); }
  };
  draw();
  view.listen(draw);
  for (const radio of document.querySelectorAll("input[name=what]")) radio.addEventListener("change", () => view.change({ what: radio.value }));
};

shoal.marginalPart = (page, contents) => {
  const holder = document.getElementById("marginal-figure");
  if (!holder) return;
  const draw = (what) => holder.replaceChildren(...contents.marginals[what].map((series) => {
    const [name, letter, unit] = contents.titles[what], title = `${name} along ${page.axes[series.axis].name}`;
    const plot = shoal.linePlot(page, series, { title, unit: `${name.toLowerCase()} ${letter} (${unit})`, short: "nats", say: page.say });
    return shoal.make("figure", {}, plot.drawing, shoal.make("figcaption", {}, title));
  }));
  draw("cost_to_go");
  page.view.listen((changed) => { if ("what" in changed) draw(changed.what); });
};

/* Every state in a row, for a spreadsheet or R. */
shoal.table = (page) => {
  const quote = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const names = ["cost_to_go", "state_cost"].filter((what) => page.costs[what]);
  const parts = page.costs.cost_to_go.sd ? ["mean", "sd", "lower", "upper"] : ["mean"];
  const rows = [["state", ...page.axes.map((axis) => quote(axis.label)), ...names.flatMap((what) => parts.map((part) => (parts.length > 1 ? `${what}_${part}` : what))), "arrivals"].join(",")];
  for (let state = 0; state < page.size; state++) {
    const index = shoal.unravel(state, page.shape);
    rows.push([state, ...index.map((n, a) => page.axes[a].centres[n]),
      ...names.flatMap((what) => parts.map((part) => { const v = page.costs[what] && page.costs[what][part]; return v && Number.isFinite(v[state]) ? Number(v[state].toPrecision(7)) : ""; })),
      page.arrivals ? page.arrivals[state] : ""].join(","));
  }
  return rows.join("\n") + "\n";
};
