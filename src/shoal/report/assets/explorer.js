/* What a page can ask of the server it came from: another draw, rule, speed, discount or fit. */
"use strict";
shoal.ask = async (name, question = {}) => {
  const words = new URLSearchParams(question).toString();
  const answer = await fetch(words ? `${name}?${words}` : name, { credentials: "omit" });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error || answer.statusText);
  return found;
};

shoal.explore = async () => {
  const node = (name) => document.getElementById("try-" + name), said = node("said");
  const say = (text) => { said.textContent = text; };
  const careful = (work) => async (...given) => {
    try { await work(...given); } catch (error) { say(`That did not work: ${error.message}`); }
  };
  const contents = await shoal.ask("contents");
  const draw = () => (node("draw-kind").value === "mean" ? "mean" : node("draw").value || "0");
  const server = {
    policy: async (state) => {
      const found = await shoal.ask("policy", { state, draw: draw() });
      return { policy: shoal.unpack(found.policy), passive: shoal.unpack(found.passive), held: 1 };
    },
  };
  const page = shoal.open(contents);
  page.server = server;
  const known = contents.explorer;
  node("draw").max = known.draws[0] - 1;
  let gamma = contents.discount;
  node("discount").step = "any"; node("discount").value = gamma; node("discount-words").textContent = shoal.number(gamma);
  for (const name of ["draw-kind", "discount"]) node(name).disabled = !page.view.what || !page.costs.state_cost;
  for (const rule of known.rules) node("rule").append(shoal.make("option", { value: rule }, rule));
  for (const speed of [...known.speeds, "number"]) node("speed").append(shoal.make("option", { value: speed }, speed === "number" ? "a number" : speed));
  const costs = careful(async () => {
    say("Computing…");
    const found = await shoal.ask("costs", { draw: draw(), discount: gamma });
    page.read(found);
    const caption = document.querySelector("#map-mean + figcaption");
    if (caption) caption.textContent = draw() === "mean" ? "Posterior mean" : `Draw ${draw()}`;
    page.view.change({ what: page.view.what });
    if (shoal.refreshPolicy) await shoal.refreshPolicy();
    if (page.replay) page.replay.draw();
    say(`Costs of ${draw() === "mean" ? "the posterior mean" : "draw " + draw()}, read with a discount of ${shoal.number(gamma)}. Averages axis by axis below are those of the fit.`);
  });
  node("draw-kind").addEventListener("change", () => { node("draw").disabled = node("draw-kind").value === "mean"; costs(); });
  node("draw").addEventListener("change", costs);
  node("discount").addEventListener("input", () => { gamma = Number(node("discount").value); node("discount-words").textContent = shoal.number(gamma); });
  node("discount").addEventListener("change", () => { gamma = Number(node("discount").value); costs(); });
  node("speed").addEventListener("change", () => { node("pace-label").hidden = node("speed").value !== "number"; });
  node("simulate").disabled = !page.replay;
  node("simulate").addEventListener("click", careful(async () => {
    node("simulate").disabled = true; say("Simulating…");
    try {
      const speed = node("speed").value === "number" ? node("pace").value : node("speed").value;
      const found = await shoal.ask("simulate", { draw: draw(), rule: node("rule").value, speed, seed: node("seed").value });
      page.replay.pause();
      found.panels.forEach((panel, n) => { page.replay.contents.groups[n].simulated = panel; });
      page.replay.load(page.replay.number, true);
      document.getElementById("replay-simulated-words").textContent = found.words;
      say(`${found.words}.`);
    } finally { node("simulate").disabled = false; }
  }));
  node("compare").hidden = known.names.length < 2;
  node("compare").addEventListener("click", careful(async () => {
    say("Comparing…");
    const found = await shoal.ask("comparison");
    const names = Object.keys(found.rows[0]);
    const head = shoal.make("tr", {}, ...names.map((name) => shoal.make("th", { scope: "col" }, name)));
    const rows = found.rows.map((row) => shoal.make("tr", {}, ...names.map((name) => shoal.make("td", {}, row[name]))));
    const holder = node("comparison");
    holder.replaceChildren(shoal.make("div", { class: "wide" }, shoal.make("table", {}, shoal.make("thead", {}, head), shoal.make("tbody", {}, ...rows))), shoal.make("p", { class: "note" }, found.words));
    if (found.difference && page.axes.length > 1) shoal.differenceMaps(page, found.difference, holder, careful);
    say(found.words || "Compared.");
  }));
  for (const button of document.querySelectorAll("button[data-get]")) {
    button.addEventListener("click", careful(async () => {
      const name = button.dataset.get, what = page.view.what || "cost_to_go";
      const answer = await fetch(`${name}?what=${what}`, { credentials: "omit" });
      if (!answer.ok) throw new Error((await answer.json()).error);
      const link = shoal.make("a", { href: URL.createObjectURL(await answer.blob()), download: `${what.replaceAll("_", "-")}.${name.split(".")[1]}` });
      document.body.append(link); link.click(); link.remove();
      say(`Downloaded ${link.download}: the posterior at the fit's own discount, whatever is chosen above.`);
    }));
  }
  if (shoal.refreshPolicy) await shoal.refreshPolicy();
  say("Ready.");
};

/* Where two fits differ, and how sure that is. */
shoal.differenceMaps = (page, difference, holder) => {
  const grids = { mean: shoal.unpack(difference.mean), sd: shoal.unpack(difference.sd) };
  const pair = shoal.make("div", { class: "pair" });
  holder.append(pair);
  for (const [name, title] of [["mean", "Difference of the cost-to-go"], ["sd", "Its standard deviation"]]) {
    const canvas = shoal.make("canvas", { id: `map-difference-${name}` });
    pair.append(shoal.make("figure", {}, canvas, shoal.make("figcaption", {}, title)));
    const map = new shoal.HeatMap(page, page.view, canvas, {
      title, palette: name === "sd" ? "cividis" : "viridis", unit: () => (name === "sd" ? "sd (nats)" : "difference (nats)"), say: page.say,
      values: (view) => {
        let low = Infinity, high = -Infinity;
        grids[name].forEach((v, n) => { if (page.entered(n)) { low = Math.min(low, v); high = Math.max(high, v); } });
        return { grid: shoal.slice(page, view, grids[name]), range: [low, high] };
      },
      hatched: page.hatched, words: (state) => `difference ${shoal.number(grids.mean[state])}, sd ${shoal.number(grids.sd[state])}`,
    });
    page.redraws.push(() => map.draw());
    page.view.listen(() => map.draw());
    map.draw();
  }
};
