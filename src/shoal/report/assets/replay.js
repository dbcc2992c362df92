/* Observed and simulated groups side by side, one animal followed, its state on the map of costs. */
"use strict";
shoal.Replay = class {
  constructor(page, view, contents) {
    Object.assign(this, { page, view, contents, frame: 0, playing: false, speed: 1, followed: 0 });
    this.node = (name) => document.getElementById("replay-" + name);
    this.canvases = ["observed", "simulated"].map((name) => this.node(name));
    this.choices();
    this.load(0);
    this.node("play").addEventListener("click", () => this.toggle());
    this.node("scrub").addEventListener("input", (event) => { this.pause(); this.show(Number(event.target.value)); });
    this.node("speed").addEventListener("change", (event) => { this.speed = Number(event.target.value); });
    this.node("animal").addEventListener("change", (event) => this.follow(Number(event.target.value)));
    this.canvases.forEach((canvas, n) => {
      canvas.addEventListener("click", (event) => this.pick(event, n));
      canvas.addEventListener("keydown", (event) => this.key(event));
    });
    page.redraws.push(() => this.draw());
  }
  choices() {
    const groups = this.node("group");
    this.contents.groups.forEach((group, n) => groups.append(shoal.make("option", { value: n }, group.label || "the group")));
    groups.addEventListener("change", () => this.load(Number(groups.value)));
    groups.closest("label").hidden = this.contents.groups.length < 2;
  }
  load(number, keep = false) {
    const group = this.contents.groups[number];
    const read = (panel) => panel && {
      places: shoal.unpack(panel.places), headings: shoal.unpack(panel.headings), states: shoal.unpack(panel.states),
      values: shoal.unpack(panel.values), target: shoal.unpack(panel.target),
      landmarks: Object.entries(panel.landmarks).map(([name, path]) => [name, shoal.unpack(path)]),
    };
    this.number = number;
    this.group = group;
    this.panels = [read(group.observed), read(group.simulated)];
    this.fan = group.fans ? new shoal.Fan(group.fans, group.members.length) : null;
    this.node("moves-figure").hidden = !this.fan;
    this.node("moves-figure").parentNode.classList.toggle("four", Boolean(this.fan));
    this.frames = Math.max(...this.panels.map((p) => (p ? p.places.shape[0] : 0)));
    this.animals = group.members.length;
    const animal = this.node("animal");
    animal.replaceChildren(...group.members.map((name, n) => shoal.make("option", { value: n }, name)));
    if (!keep) { this.followed = this.busiest(); this.frame = this.first(); }
    animal.value = this.followed;
    this.node("scrub").max = this.frames - 1;
    this.bounds = this.around();
    this.show(Math.min(this.frame, this.frames - 1));
  }
  /* The animal with a state in most frames, a good one to begin with. */
  busiest() {
    const states = this.panels[0].states, count = new Array(this.animals).fill(0);
    for (let n = 0; n < states.length; n++) if (states[n] >= 0) count[n % this.animals]++;
    return count.indexOf(Math.max(...count));
  }
  /* The first frame in which the followed animal has a state: the page begins with something to see. */
  first() {
    const states = this.panels[0].states, frames = states.length / this.animals;
    for (let frame = 0; frame < frames; frame++) if (states[frame * this.animals + this.followed] >= 0) return frame;
    return 0;
  }
  place(panel, frame, animal) {
    const at = 2 * (frame * this.animals + animal);
    return this.wrap([panel.places[at], panel.places[at + 1]]);
  }
  wrap([x, y]) {
    const arena = this.group.arena;
    if (!arena || arena.kind !== "periodic") return [x, y];
    const round = (v, low, high) => low + ((((v - low) % (high - low)) + (high - low)) % (high - low));
    return [round(x, arena.left, arena.right), round(y, arena.bottom, arena.top)];
  }
  around() {
    const arena = this.group.arena, ends = [Infinity, Infinity, -Infinity, -Infinity];
    const take = (x, y) => {
      if (!Number.isFinite(x) || !Number.isFinite(y)) return;
      ends[0] = Math.min(ends[0], x); ends[1] = Math.min(ends[1], y); ends[2] = Math.max(ends[2], x); ends[3] = Math.max(ends[3], y);
    };
    if (arena && arena.kind === "circle") { take(arena.x - arena.radius, arena.y - arena.radius); take(arena.x + arena.radius, arena.y + arena.radius); }
    else if (arena) { take(arena.left, arena.bottom); take(arena.right, arena.top); }
    for (const panel of this.panels) {
      if (!panel) continue;
      for (let n = 0; n < panel.places.length; n += 2) take(...this.wrap([panel.places[n], panel.places[n + 1]]));
      if (panel.target) for (let n = 0; n < panel.target.length; n += 2) take(panel.target[n], panel.target[n + 1]);
    }
    const pad = 0.04 * Math.max(ends[2] - ends[0], ends[3] - ends[1]) || 1;
    return [ends[0] - pad, ends[1] - pad, ends[2] + pad, ends[3] + pad];
  }
  toggle() { if (this.playing) this.pause(); else this.play(); }
  play() {
    if (this.frame >= this.frames - 1) this.frame = 0;
    this.playing = true; this.node("play").textContent = "Pause"; this.last = null; this.part = 0;
    const rate = this.group.fps || 10;
    const step = (now) => {
      if (!this.playing) return;
      if (this.last !== null) this.part += ((now - this.last) / 1000) * rate * this.speed;
      this.last = now;
      const whole = Math.floor(this.part);
      if (whole) { this.part -= whole; this.show(this.frame + whole); }
      if (this.frame >= this.frames - 1) this.pause(); else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
  pause() { this.playing = false; this.node("play").textContent = "Play"; }
  follow(animal) { this.followed = animal; this.node("animal").value = animal; this.draw(); this.tell(); }
  show(frame) {
    this.frame = Math.max(0, Math.min(this.frames - 1, frame));
    const scrub = this.node("scrub");
    scrub.value = this.frame;
    const time = this.group.fps ? `${shoal.number(this.frame / this.group.fps)} s` : `frame ${this.frame}`;
    scrub.setAttribute("aria-valuetext", time);
    this.node("time").textContent = this.group.fps ? `${time} (frame ${this.frame} of ${this.frames - 1})` : `${time} of ${this.frames - 1}`;
    this.draw();
    if (!this.playing) this.tell();
  }
  tell() {
    const name = this.group.members[this.followed];
    const words = ["observed", "simulated"].map((kind, n) => {
      const panel = this.panels[n];
      if (!panel || this.frame >= panel.places.shape[0]) return "";
      const state = panel.states[this.frame * this.animals + this.followed];
      return `${kind}: ${state < 0 ? "no state" : shoal.stateWords(this.page, state)}`;
    }).filter(Boolean).join("; ");
    this.node("words").textContent = `Following ${name}. ${words}.${this.fan ? this.fan.words(this.decision()) : ""}`;
  }
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], other = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === " ") this.toggle();
    else if (step) { this.pause(); this.show(this.frame + step); }
    else if (other) this.follow((this.followed + other + this.animals) % this.animals);
    else return;
    event.preventDefault();
  }
  pick(event, n) {
    const panel = this.panels[n];
    if (!panel) return;
    const box = this.canvases[n].getBoundingClientRect(), frame = Math.min(this.frame, panel.places.shape[0] - 1);
    let best = null, nearest = 34;
    for (let a = 0; a < this.animals; a++) {
      const [x, y] = this.scale(this.place(panel, frame, a));
      const far = Math.hypot(x - (event.clientX - box.left), y - (event.clientY - box.top));
      if (far < nearest) { nearest = far; best = a; }
    }
    if (best !== null) this.follow(best);
  }
  draw() {
    this.canvases.forEach((canvas, n) => this.panel(canvas, this.panels[n], n ? "blue" : "orange"));
    this.stateMap();
    if (this.fan) this.fan.draw(this.node("moves"), this.decision(), this.group.unit);
  }
  /* The number of the followed animal's decision in this frame. */
  decision() { return this.fan.rows.get(this.frame * this.animals + this.followed); }
  panel(canvas, panel, colour) {
    const width = canvas.clientWidth;
    if (!width) return;
    const [l, b, r, t] = this.bounds, shape = (t - b) / (r - l);
    const height = Math.max(160, Math.min(520, width * shape)), unit = Math.min(width / (r - l), height / (t - b));
    const ox = (width - unit * (r - l)) / 2, oy = (height - unit * (t - b)) / 2;
    this.scale = ([x, y]) => [ox + (x - l) * unit, height - oy - (y - b) * unit];
    const pen = shoal.sharp(canvas, width, height);
    pen.fillStyle = shoal.colour("panel"); pen.fillRect(0, 0, width, height);
    this.walls(pen, unit);
    if (!panel) { pen.fillStyle = shoal.colour("soft"); pen.textAlign = "center"; pen.fillText("nothing was simulated", width / 2, height / 2); return; }
    const frame = Math.min(this.frame, panel.places.shape[0] - 1);
    this.signs(pen, panel, frame);
    const size = Math.max(4, Math.min(9, 0.5 * Math.sqrt((width * height) / (this.animals + 20)) / 4));
    for (let a = 0; a < this.animals; a++) this.tail(pen, panel, frame, a, a === this.followed ? shoal.colour(colour) : shoal.colour("grey"));
    for (let a = 0; a < this.animals; a++) if (a !== this.followed) this.animal(pen, panel, frame, a, size, shoal.colour("ink"));
    this.rays(pen, panel, frame, unit);
    this.animal(pen, panel, frame, this.followed, size * 1.35, shoal.colour(colour), true);
    this.ruler(pen, width, height, unit);
  }
  walls(pen, unit) {
    const arena = this.group.arena;
    if (!arena) return;
    pen.strokeStyle = shoal.colour("grey"); pen.lineWidth = 1.5; pen.setLineDash(arena.kind === "periodic" ? [5, 4] : []);
    pen.beginPath();
    if (arena.kind === "circle") { const [x, y] = this.scale([arena.x, arena.y]); pen.arc(x, y, arena.radius * unit, 0, 2 * Math.PI); }
    else { const [x, y] = this.scale([arena.left, arena.top]); pen.rect(x, y, (arena.right - arena.left) * unit, (arena.top - arena.bottom) * unit); }
    pen.stroke(); pen.setLineDash([]);
  }
  signs(pen, panel, frame) {
    pen.textAlign = "left";
    if (panel.target) {
      const at = 2 * Math.min(frame, panel.target.shape[0] - 1), [x, y] = this.scale([panel.target[at], panel.target[at + 1]]);
      pen.strokeStyle = shoal.colour("green"); pen.lineWidth = 2; pen.beginPath(); pen.arc(x, y, 8, 0, 2 * Math.PI); pen.moveTo(x - 12, y); pen.lineTo(x + 12, y); pen.moveTo(x, y - 12); pen.lineTo(x, y + 12); pen.stroke();
      pen.fillStyle = shoal.colour("green"); pen.textBaseline = "middle"; pen.fillText("target", x + 13, y + (y < 24 ? 12 : -10));
    }
    for (const [name, path] of panel.landmarks) {
      const at = 2 * Math.min(frame, path.shape[0] - 1), [x, y] = this.scale([path[at], path[at + 1]]);
      if (!Number.isFinite(x)) continue;
      pen.fillStyle = shoal.colour("green"); pen.fillRect(x - 5, y - 5, 10, 10); pen.fillText(name, x + 9, y + 4);
    }
  }
  tail(pen, panel, frame, animal, colour) {
    pen.strokeStyle = colour; pen.lineWidth = 1.4; pen.globalAlpha = 0.55; pen.beginPath();
    let last = null;
    for (let f = Math.max(0, frame - 20); f <= frame; f++) {
      const place = this.place(panel, f, animal), at = this.scale(place);
      if (!Number.isFinite(at[0])) { last = null; continue; }
      const far = last && Math.hypot(at[0] - last[0], at[1] - last[1]) > 0.4 * Math.min(pen.canvas.clientWidth, pen.canvas.clientHeight);
      if (last && !far) pen.lineTo(...at); else pen.moveTo(...at);
      last = at;
    }
    pen.stroke(); pen.globalAlpha = 1;
  }
  animal(pen, panel, frame, animal, size, colour, ringed = false) {
    const [x, y] = this.scale(this.place(panel, frame, animal));
    if (!Number.isFinite(x)) return;
    const heading = panel.headings[frame * this.animals + animal];
    pen.fillStyle = colour; pen.beginPath();
    if (Number.isFinite(heading)) {
      pen.save(); pen.translate(x, y); pen.rotate((-heading * Math.PI) / 180);
      pen.moveTo(1.6 * size, 0); pen.lineTo(-size, 0.75 * size); pen.lineTo(-0.5 * size, 0); pen.lineTo(-size, -0.75 * size); pen.closePath(); pen.fill(); pen.restore();
    } else { pen.arc(x, y, 0.6 * size, 0, 2 * Math.PI); pen.fill(); }
    if (ringed) { pen.strokeStyle = colour; pen.lineWidth = 1.5; pen.beginPath(); pen.arc(x, y, 2.2 * size, 0, 2 * Math.PI); pen.stroke(); }
  }
  /* Own heading, and the directions that perceived angles point to. */
  rays(pen, panel, frame) {
    const at = frame * this.animals + this.followed, heading = panel.headings[at];
    const [x, y] = this.scale(this.place(panel, frame, this.followed));
    if (!Number.isFinite(heading) || !Number.isFinite(x)) return;
    const ray = (angle, colour, dashed) => {
      pen.strokeStyle = colour; pen.lineWidth = 2; pen.setLineDash(dashed ? [5, 4] : []);
      pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x + 52 * Math.cos((angle * Math.PI) / 180), y - 52 * Math.sin((angle * Math.PI) / 180)); pen.stroke(); pen.setLineDash([]);
    };
    ray(heading, shoal.colour("ink"), false);
    const each = panel.values.shape[1] * panel.values.shape[2];
    this.angles().forEach(([axis, colour]) => { const value = panel.values[axis * each + at]; if (Number.isFinite(value)) ray(heading + value, shoal.colour(colour), true); });
  }
  angles() {
    const colours = ["blue", "purple", "green", "orange"];
    return this.page.axes.flatMap((axis, n) => ((axis.kind === "circular" || axis.kind === "folded") && axis.name !== "turning angle" ? [[n, colours[n % 4]]] : []));
  }
  ruler(pen, width, height, unit) {
    const length = shoal.ticks(0, (0.25 * width) / unit, 1).pop() || 0, wide = length * unit;
    if (!(wide > 8)) return;
    pen.strokeStyle = pen.fillStyle = shoal.colour("soft"); pen.lineWidth = 2; pen.beginPath(); pen.moveTo(10, height - 10); pen.lineTo(10 + wide, height - 10); pen.stroke();
    pen.textAlign = "left"; pen.textBaseline = "bottom"; pen.fillText(`${shoal.number(length)} ${this.group.unit || ""}`, 10, height - 13); pen.textBaseline = "middle";
  }
  stateMap() {
    const page = this.page;
    if (page.around && page.around.some((map) => map.thing)) { this.ownFrame(); return; }
    if (!page.costs.cost_to_go) return;
    const states = this.panels.map((panel) => panel && this.frame < panel.places.shape[0] ? panel.states[this.frame * this.animals + this.followed] : -1);
    if (page.axes.length === 1) { this.stateLine(states); return; }
    if (!this.map) {
      this.still = { axes: this.view.axes, fixed: page.start.slice(), selected: null, change: (values) => this.view.change(values) };
      this.map = new shoal.HeatMap(page, this.still, this.node("state"), {
        title: "State of the followed animal on the cost-to-go", palette: "viridis", tallest: 300, marks: false, unit: () => page.unit("cost_to_go"), say: page.say,
        values: () => ({ grid: shoal.slice(page, this.still, page.costs.cost_to_go.mean), range: page.range("cost_to_go", "mean") }),
        hatched: (view, a, b) => page.hatched(view, a, b), words: (state) => page.costWords("cost_to_go", state),
      });
      this.map.marks = [(pen, centre) => this.dots(pen, centre)];
    }
    this.still.axes = this.view.axes;
    const known = states.find((state) => state >= 0);
    if (known !== undefined) this.still.fixed = shoal.unravel(known, page.shape);
    this.states = states;
    this.map.draw();
  }
  /* Where the neighbour, group or target is, on the preference around the animal. */
  ownFrame() {
    const page = this.page, map = page.around.find((one) => one.thing);
    if (!this.dial) {
      this.dial = new shoal.Dial(page, map, this.node("state"), { name: "mean", title: `Preference for ${map.about}`, tallest: 300, say: (text) => { this.node("words").textContent = text; } });
      this.node("state-words").textContent = `Where the followed animal has ${map.thing.replace("their", "its")}: circle observed, square simulated`;
      this.dial.marks = [(pen, place) => this.panels.forEach((panel, n) => {
        if (!panel || this.frame >= panel.places.shape[0]) return;
        const each = panel.values.shape[1] * panel.values.shape[2], at = this.frame * this.animals + this.followed;
        const angle = panel.values[map.angle * each + at], edges = this.dial.edges;
        const far = map.distance === null ? 0.78 : Math.min(panel.values[map.distance * each + at], edges[edges.length - 1]);
        if (Number.isFinite(angle) && Number.isFinite(far)) this.dot(pen, place(far, angle), n);
      })];
    }
    this.dial.draw();
  }
  dot(pen, [x, y], n) {
    pen.beginPath(); if (n) pen.rect(x - 4, y - 4, 8, 8); else pen.arc(x, y, 8.5, 0, 2 * Math.PI);
    if (n) { pen.fillStyle = "#0072b2"; pen.fill(); }
    pen.lineWidth = n ? 1.5 : 5; pen.strokeStyle = "#fff"; pen.stroke();
    if (!n) { pen.lineWidth = 2.5; pen.strokeStyle = "#d55e00"; pen.stroke(); }
  }
  dots(pen, centre) {
    this.states.forEach((state, n) => {
      if (state < 0) return;
      this.dot(pen, centre(shoal.unravel(state, this.page.shape)), n);
    });
  }
  stateLine(states) {
    const page = this.page, canvas = this.node("state"), width = canvas.clientWidth, height = 220;
    if (!width) return;
    const pen = shoal.sharp(canvas, width, height), axis = page.axes[0], size = axis.centres.length, mean = page.costs.cost_to_go.mean;
    const [low, high] = page.range("cost_to_go", "mean"), left = 44, x = (n) => left + ((n + 0.5) / size) * (width - left - 8), y = (v) => 12 + (1 - (v - low) / (high - low || 1)) * (height - 62);
    pen.strokeStyle = shoal.colour("blue"); pen.lineWidth = 2; pen.beginPath();
    for (let n = 0; n < size; n++) if (n) pen.lineTo(x(n), y(mean[n])); else pen.moveTo(x(n), y(mean[n]));
    pen.stroke();
    pen.fillStyle = shoal.colour("ink"); pen.textBaseline = "middle"; pen.textAlign = "center";
    for (const tick of shoal.axisTicks(axis, 5)) pen.fillText(tick.text, left + (tick.at / size) * (width - left - 8), height - 34);
    pen.fillText(axis.label, (left + width) / 2, height - 12);
    pen.textAlign = "right"; for (const tick of shoal.ticks(low, high, 4)) pen.fillText(shoal.number(tick), left - 6, y(tick));
    this.states = states;
    this.dots(pen, (index) => [x(index[0]), y(mean[index[0]])]);
  }
};
