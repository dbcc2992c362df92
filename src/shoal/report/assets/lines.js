/* Costs along one axis: a line with its band, over the number of arrivals. */
"use strict";
shoal.linePlot = (page, series, options) => {
  const axis = page.axes[series.axis], size = axis.centres.length;
  const width = 460, height = 290, left = 58, right = 12, top = series.truth ? 32 : 12, bottom = 46, strip = 40;
  const base = height - bottom - strip;
  const known = series.arrivals.map((n) => n > 0);
  const shown = (values) => values.filter((v, n) => v !== null && known[n]);
  const band = series.lower && series.upper;
  const all = shown(band ? series.lower : series.mean).concat(shown(band ? series.upper : series.mean), series.truth ? shown(series.truth) : []);
  let low = shoal.least(all, 0), high = shoal.most(all);
  if (!(high > low)) high = low + 1;
  const pad = 0.06 * (high - low); low -= low < 0 ? pad : 0; high += pad;
  const x = (n) => left + ((n + 0.5) / size) * (width - left - right);
  const y = (v) => top + (1 - (v - low) / (high - low)) * (base - top);
  const drawing = shoal.svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": options.title });
  for (const tick of shoal.ticks(low, high, 4)) {
    drawing.append(shoal.svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      shoal.svg("text", { x: left - 7, y: y(tick) + 4, "text-anchor": "end" }, shoal.number(tick)));
  }
  const span = (width - left - right) / size;
  const most = shoal.most(series.arrivals, 1);
  series.arrivals.forEach((count, n) => {
    const tall = (count / most) * (strip - 8);
    drawing.append(shoal.svg("rect", { x: x(n) - span / 2 + 0.5, width: Math.max(1, span - 1), y: height - bottom - tall, height: tall, fill: "var(--grey)", opacity: 0.55 }));
    if (!count) drawing.append(shoal.svg("rect", { x: x(n) - span / 2, width: span, y: top, height: base - top, fill: "var(--grey)", opacity: 0.14 }));
  });
  const joined = axis.kind !== "numbered";
  const runs = [];
  series.mean.forEach((v, n) => {
    if (v === null || !known[n]) return;
    const last = runs[runs.length - 1];
    if (joined && last && last[last.length - 1] === n - 1) last.push(n); else runs.push([n]);
  });
  for (const run of runs) {
    if (band) {
      if (joined && run.length > 1) {
        const upper = run.map((n) => `${x(n)},${y(series.upper[n])}`);
        const lower = run.slice().reverse().map((n) => `${x(n)},${y(series.lower[n])}`);
        drawing.append(shoal.svg("polygon", { points: upper.concat(lower).join(" "), fill: "var(--blue)", opacity: 0.25 }));
      } else {
        for (const n of run) drawing.append(shoal.svg("line", { x1: x(n), x2: x(n), y1: y(series.lower[n]), y2: y(series.upper[n]), stroke: "var(--blue)", "stroke-width": 2, opacity: 0.6 }));
      }
    }
    if (run.length > 1) drawing.append(shoal.svg("polyline", { points: run.map((n) => `${x(n)},${y(series.mean[n])}`).join(" "), fill: "none", stroke: "var(--blue)", "stroke-width": 2 }));
    else drawing.append(shoal.svg("circle", { cx: x(run[0]), cy: y(series.mean[run[0]]), r: 3, fill: "var(--blue)" }));
  }
  if (series.truth) {
    series.truth.forEach((v, n) => { if (v !== null && known[n]) drawing.append(shoal.svg("circle", { class: "truth", cx: x(n), cy: y(v), r: 4, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5 })); });
    drawing.append(shoal.svg("circle", { cx: left + 10, cy: 14, r: 4, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5 }), shoal.svg("text", { x: left + 20, y: 18 }, "truth"),
      shoal.svg("line", { x1: left + 78, x2: left + 96, y1: 14, y2: 14, stroke: "var(--blue)", "stroke-width": 2 }), shoal.svg("text", { x: left + 102, y: 18 }, "learned" + (band ? ", 95 % interval" : "")));
  }
  drawing.append(shoal.svg("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }));
  for (const tick of shoal.axisTicks(axis, 7)) {
    const at = left + (tick.at / size) * (width - left - right);
    drawing.append(shoal.svg("line", { class: "axis", x1: at, x2: at, y1: height - bottom, y2: height - bottom + 4 }),
      shoal.svg("text", { x: at, y: height - bottom + 17, "text-anchor": "middle" }, tick.text));
  }
  drawing.append(
    shoal.svg("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, axis.label),
    shoal.svg("text", { transform: `translate(14 ${(top + base) / 2}) rotate(-90)`, "text-anchor": "middle" }, options.unit),
    shoal.svg("text", { class: "faint", x: width - right, y: height - bottom - strip + 12, "text-anchor": "end", "font-size": 11 }, `${page.counted}, ${most.toLocaleString("en")} at most`));
  const mark = shoal.svg("line", { y1: top, y2: height - bottom, stroke: "var(--orange)", "stroke-width": 2, visibility: "hidden" });
  drawing.append(mark);
  const words = (n) => {
    const cost = !known[n] ? page.never : series.mean[n] === null ? "not identified"
      : `${shoal.number(series.mean[n])} ${options.short}` + (band ? ` (95 % interval ${shoal.number(series.lower[n])} to ${shoal.number(series.upper[n])})` : "");
    const right = series.truth && known[n] ? `, truth ${shoal.number(series.truth[n])}` : "";
    return `${axis.name} ${shoal.binWords(axis, n)}: ${cost}${right}, ${series.arrivals[n].toLocaleString("en")} ${page.counted}`;
  };
  const at = (event) => {
    const box = drawing.getBoundingClientRect();
    return Math.floor((((event.clientX - box.left) / box.width) * width - left) / span);
  };
  const show = (n) => { mark.setAttribute("x1", x(n)); mark.setAttribute("x2", x(n)); mark.setAttribute("visibility", "visible"); };
  const inside = (n) => n >= 0 && n < size;
  drawing.addEventListener("pointermove", (event) => { const n = at(event); shoal.tip(event, inside(n) ? words(n) : ""); });
  drawing.addEventListener("pointerleave", (event) => shoal.tip(event, ""));
  if (options.choose) {
    let cursor = options.start || 0;
    drawing.setAttribute("tabindex", "0");
    drawing.setAttribute("role", "application");
    drawing.setAttribute("aria-label", `${options.title}. Arrow keys move from bin to bin, Enter chooses one.`);
    drawing.addEventListener("click", (event) => { const n = at(event); if (inside(n)) { cursor = n; options.choose(n); } });
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (step) { cursor = axis.kind === "circular" ? (cursor + step + size) % size : Math.max(0, Math.min(size - 1, cursor + step)); show(cursor); options.say(words(cursor)); event.preventDefault(); }
      if (event.key === "Enter" || event.key === " ") { options.choose(cursor); event.preventDefault(); }
    });
  }
  return { drawing, show, words };
};

/* Where an animal goes next along one axis: bars with costs, a line without. */
shoal.barPlot = (axis, policy, passive, origin) => {
  const size = axis.centres.length, width = 460, height = 230, left = 58, right = 12, top = 12, bottom = 46;
  const high = 1.05 * shoal.most(passive, shoal.most(policy));
  const span = (width - left - right) / size;
  const x = (n) => left + (n + 0.5) * span, y = (v) => top + (1 - v / high) * (height - top - bottom);
  const drawing = shoal.svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Probability of the next state" });
  for (const tick of shoal.ticks(0, high, 4)) drawing.append(shoal.svg("line", { class: "grid", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }), shoal.svg("text", { x: left - 7, y: y(tick) + 4, "text-anchor": "end" }, shoal.number(tick)));
  for (let n = 0; n < size; n++) drawing.append(shoal.svg("rect", { x: x(n) - span / 2 + 0.5, width: Math.max(1, span - 1), y: y(policy[n]), height: Math.max(0, height - bottom - y(policy[n])), fill: "var(--blue)" }));
  drawing.append(shoal.svg("polyline", { points: Array.from(passive, (v, n) => `${x(n)},${y(v)}`).join(" "), fill: "none", stroke: "var(--orange)", "stroke-width": 2 }),
    shoal.svg("line", { x1: x(origin), x2: x(origin), y1: top, y2: height - bottom, stroke: "var(--ink)", "stroke-dasharray": "4 3" }),
    shoal.svg("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
    shoal.svg("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, axis.label),
    shoal.svg("text", { transform: `translate(14 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, "probability"));
  for (const tick of shoal.axisTicks(axis, 7)) drawing.append(shoal.svg("text", { x: left + (tick.at / size) * (width - left - right), y: height - bottom + 17, "text-anchor": "middle" }, tick.text));
  return drawing;
};
