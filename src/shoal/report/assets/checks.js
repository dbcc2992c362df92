/* Observed values among simulated ones, measure by measure. */
"use strict";
shoal.checkPlot = (check) => {
  const colours = ["var(--blue)", "var(--grey)", "var(--orange)"];
  const holder = shoal.make("div", { class: "many" });
  for (const measure of check.measures) {
    const width = 340, row = 17, top = 8, left = 10, right = 10, bottom = 34;
    const height = top + row * check.models.length + bottom;
    const ends = check.models.flatMap((m) => measure.models[m].interval).concat(measure.observed).filter((v) => v !== null);
    let low = Math.min(...ends), high = Math.max(...ends);
    const pad = 0.06 * (high - low) || Math.max(1e-6, 0.05 * Math.abs(high)); low -= pad; high += pad;
    const x = (v) => left + ((v - low) / (high - low)) * (width - left - right);
    const name = measure.label + (measure.unit ? ` (${measure.unit})` : "");
    const drawing = shoal.svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name}: observed ${shoal.number(measure.observed)}` });
    check.models.forEach((model, n) => {
      const it = measure.models[model], y = top + row * (n + 0.5);
      if (it.interval[0] === null) return;
      drawing.append(shoal.svg("line", { x1: x(it.interval[0]), x2: x(it.interval[1]), y1: y, y2: y, stroke: colours[n], "stroke-width": 3 }),
        shoal.svg("line", { x1: x(it.half[0]), x2: x(it.half[1]), y1: y, y2: y, stroke: colours[n], "stroke-width": 9 }));
    });
    drawing.append(shoal.svg("line", { x1: x(measure.observed), x2: x(measure.observed), y1: top - 4, y2: height - bottom + 4, stroke: "var(--ink)", "stroke-width": 2 }));
    for (const tick of shoal.ticks(low, high, 4)) drawing.append(shoal.svg("text", { x: x(tick), y: height - bottom + 18, "text-anchor": "middle", "font-size": 11 }, shoal.number(tick)));
    const first = measure.models[check.models[0]];
    drawing.addEventListener("pointermove", (event) => shoal.tip(event, `observed ${shoal.number(measure.observed)}\n` + check.models.map((m) => {
      const it = measure.models[m];
      return `${m}: ${shoal.number(it.mean)} (${shoal.number(it.interval[0])} to ${shoal.number(it.interval[1])}), p ${it.p}`;
    }).join("\n")));
    drawing.addEventListener("pointerleave", (event) => shoal.tip(event, ""));
    holder.append(shoal.make("figure", {}, shoal.make("figcaption", {}, first.interval[0] === null ? `${name}: not measured in simulated groups` : `${name}: ${first.holds ? "as observed" : "not as observed"}, p ${first.p}`), drawing));
  }
  return holder;
};
