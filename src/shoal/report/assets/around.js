/* The preference around an animal, in its own frame: ahead is up, its left is left. */
"use strict";
shoal.Dial = class {
  /* options: name (mean or sd), title, say, tallest */
  constructor(page, map, canvas, options) {
    Object.assign(this, { page, map, canvas, options, marks: [] });
    this.angle = page.axes[map.angle];
    this.distance = map.distance === null ? null : page.axes[map.distance];
    this.edges = this.distance ? this.distance.edges.slice(0, map.arrivals.shape[0] + 1) : [0.55, 1];
    const widths = this.edges.slice(1).map((edge, n) => edge - this.edges[n]);
    const even = Math.max(...widths) - Math.min(...widths) < 1e-6 * Math.max(...widths);
    this.radii = even || !this.distance ? this.edges : this.edges.map((_, n) => n);  // rings of one width where bins differ
    this.cursor = [0, Math.floor(this.angle.centres.length / 2)];
    canvas.setAttribute("tabindex", "0");
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", `${options.title}. Left and right go round the animal, up and down farther and nearer.`);
    canvas.addEventListener("pointermove", (event) => { const at = this.at(event); shoal.tip(event, at ? this.words(at) : ""); });
    canvas.addEventListener("pointerleave", (event) => shoal.tip(event, ""));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => { this.focused = false; this.draw(); });
  }
  get values() { return this.map[this.options.name]; }
  /* The range of colours: as far as nine cells in ten go, on both sides of 0 for a preference. */
  get range() {
    const known = Array.from(this.values).filter(Number.isFinite).map(Math.abs).sort((a, b) => a - b);
    const most = known.length ? known[Math.floor(0.9 * (known.length - 1))] || 1 : 1;
    return this.options.name === "sd" ? [0, known[known.length - 1] || 1] : [-most, most];
  }
  /* A place in the picture, from a distance and a turn from the own heading. */
  place(distance, angle) {
    const turned = ((90 + angle) * Math.PI) / 180, r = this.radius(distance) * this.scale;
    return [this.x + r * Math.cos(turned), this.y - r * Math.sin(turned)];
  }
  /* How far from the middle a distance is drawn. */
  radius(distance) {
    const ring = Math.max(0, Math.min(this.edges.length - 2, this.edges.findLastIndex((edge) => edge <= distance)));
    const share = (distance - this.edges[ring]) / (this.edges[ring + 1] - this.edges[ring]);
    return this.radii[ring] + share * (this.radii[ring + 1] - this.radii[ring]);
  }
  sectors() {
    const centres = this.angle.centres, step = centres.length > 1 ? centres[1] - centres[0] : 360, found = [];
    centres.forEach((centre, n) => {
      const low = this.map.folded ? Math.max(0, centre - step / 2) : centre - step / 2, high = this.map.folded ? Math.min(180, centre + step / 2) : centre + step / 2;
      found.push([n, low, high]);
      if (this.map.folded) found.push([n, -high, -low]);
    });
    return found;
  }
  at(event) {
    const box = this.canvas.getBoundingClientRect(), dx = event.clientX - box.left - this.x, dy = this.y - (event.clientY - box.top);
    const r = Math.hypot(dx, dy) / this.scale, angle = ((Math.atan2(dy, dx) * 180) / Math.PI - 90 + 540) % 360 - 180;
    const ring = this.radii.findIndex((edge, n) => n < this.radii.length - 1 && r >= edge && r < this.radii[n + 1]);
    const sector = this.sectors().find(([, low, high]) => [-360, 0, 360].some((turn) => angle + turn >= low && angle + turn < high));
    return ring >= 0 && sector ? [ring, sector[0]] : null;
  }
  side(n) {
    const angle = this.angle.centres[n], size = Math.abs(angle), way = this.map.folded ? "" : angle > 0 ? " to the left" : " to the right";
    if (size < 1e-9) return this.map.thing ? "straight ahead" : "as the own";
    return Math.abs(size - 180) < 1e-9 ? (this.map.thing ? "straight behind" : "opposed") : `${shoal.number(size)}°${way}`;
  }
  words([ring, n]) {
    const at = ring * this.angle.centres.length + n, count = this.map.arrivals[at];
    const where = `${this.map.thing || "the neighbours' heading"}, ${this.side(n)}${this.distance ? `, ${shoal.binWords(this.distance, ring)}` : ""}`;
    if (!count) return `${where}: nobody decided for it`;
    const spread = this.map.sd ? `, sd ${shoal.number(this.map.sd[at], 2)}, 95 % interval ${shoal.number(this.map.lower[at], 2)} to ${shoal.number(this.map.upper[at], 2)}` : "";
    return `${where}:\npreference ${shoal.number(this.map.mean[at], 2)} nats${spread}, ${count.toLocaleString("en")} decisions`;
  }
  key(event) {
    const move = { ArrowLeft: [0, 1], ArrowRight: [0, -1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
    if (!move) return;
    const rings = this.edges.length - 1, size = this.angle.centres.length;
    this.cursor = [Math.max(0, Math.min(rings - 1, this.cursor[0] + move[0])), (this.cursor[1] + move[1] + size) % size];
    this.focused = true; this.draw();
    this.options.say(this.words(this.cursor).replace("\n", " "));
    event.preventDefault();
  }
  draw() {
    const width = this.canvas.clientWidth;
    if (!width) return;
    const size = Math.min(width, this.options.tallest || 460), bar = 46, height = size + bar;
    const pen = this.pen = shoal.sharp(this.canvas, width, height);
    const last = this.radii[this.radii.length - 1], rings = this.edges.length - 1, count = this.angle.centres.length;
    this.x = width / 2; this.y = size / 2; this.scale = (size / 2 - 22) / last;
    const [low, high] = this.range, palette = this.options.name === "sd" ? "cividis" : "purpleOrange";
    for (let ring = 0; ring < rings; ring++) for (const [n, from, to] of this.sectors()) {
      const at = ring * count + n;
      this.cell(pen, ring, from, to);
      if (!this.map.arrivals[at]) { this.hatch(pen); continue; }
      const unsure = this.options.name === "mean" && this.map.lower && this.map.lower[at] <= 0 && this.map.upper[at] >= 0;
      pen.fillStyle = shoal.colour("paper"); pen.fill();
      pen.globalAlpha = unsure ? 0.3 : 1; pen.fillStyle = shoal.palette(palette, (this.values[at] - low) / (high - low)); pen.fill(); pen.globalAlpha = 1;
    }
    this.furniture(pen, last);
    if (this.focused) for (const [n, from, to] of this.sectors()) if (n === this.cursor[1]) { this.cell(pen, this.cursor[0], from, to); pen.strokeStyle = shoal.colour("ink"); pen.lineWidth = 2.5; pen.stroke(); }
    this.bar(pen, width, size, low, high, palette);
    for (const mark of this.marks) mark(pen, (distance, angle) => this.place(distance, angle));
  }
  cell(pen, ring, from, to) {
    const turn = (angle) => (-(90 + angle) * Math.PI) / 180;
    pen.beginPath();
    pen.arc(this.x, this.y, this.radii[ring + 1] * this.scale + 0.3, turn(from), turn(to), true);
    pen.arc(this.x, this.y, this.radii[ring] * this.scale, turn(to), turn(from), false);
    pen.closePath();
  }
  hatch(pen) {
    pen.save(); pen.clip(); pen.fillStyle = shoal.colour("panel"); pen.fill();
    pen.strokeStyle = shoal.colour("hatch"); pen.lineWidth = 0.7; pen.beginPath();
    const far = this.radii[this.radii.length - 1] * this.scale;
    for (let d = -2 * far; d < 2 * far; d += 7) { pen.moveTo(this.x + d - far, this.y + far); pen.lineTo(this.x + d + far, this.y - far); }
    pen.stroke(); pen.restore();
  }
  furniture(pen, last) {
    pen.fillStyle = shoal.colour("ink"); pen.textAlign = "center"; pen.textBaseline = "middle";
    const r = last * this.scale;
    const [up, down, left, right] = this.map.thing ? ["ahead", "behind", "left", "right"] : ["as they head", "opposed", "they head left", "they head right"];
    pen.fillText(up, this.x, this.y - r - 11); pen.fillText(down, this.x, this.y + r + 11);
    for (const [word, side] of [[left, -1], [right, 1]]) { pen.save(); pen.translate(this.x + side * (r + 11), this.y); pen.rotate((side * Math.PI) / 2); pen.fillText(word, 0, 0); pen.restore(); }
    if (this.distance) {
      let before = Infinity;
      for (let n = this.edges.length - 1; n > 0; n--) {
        const radius = this.radii[n] * this.scale;
        if (before - radius < 26 || radius < 18) continue;
        before = radius;
        pen.strokeStyle = shoal.colour("grey"); pen.lineWidth = 0.7; pen.beginPath(); pen.arc(this.x, this.y, radius, 0, 2 * Math.PI); pen.stroke();
        const text = `${shoal.number(this.edges[n])} ${this.distance.unit || ""}`.trim(), [x, y] = [this.x + radius * Math.SQRT1_2, this.y - radius * Math.SQRT1_2];
        pen.globalAlpha = 0.8; pen.fillStyle = shoal.colour("paper"); const wide = pen.measureText(text).width + 4; pen.fillRect(x - wide / 2, y - 7, wide, 14);
        pen.globalAlpha = 1; pen.fillStyle = shoal.colour("ink"); pen.fillText(text, x, y);
      }
    }
    shoal.arrow(pen, this.x, this.y, 8);
  }
  bar(pen, width, top, low, high, palette) {
    const wide = Math.min(260, width - 40), left = (width - wide) / 2;
    for (let n = 0; n < wide; n++) { pen.fillStyle = shoal.palette(palette, n / wide); pen.fillRect(left + n, top + 4, 1.4, 9); }
    pen.fillStyle = shoal.colour("ink"); pen.textAlign = "center"; pen.textBaseline = "middle";
    for (const tick of shoal.ticks(low, high, 4)) pen.fillText(shoal.number(tick), left + (wide * (tick - low)) / (high - low), top + 22);
    pen.fillText(this.options.name === "sd" ? "sd (nats)" : "preference (nats over the average)", width / 2, top + 38);
  }
};

/* The animal itself, heading up. */
shoal.arrow = (pen, x, y, size) => {
  pen.beginPath(); pen.moveTo(x, y - 1.5 * size); pen.lineTo(x + 0.75 * size, y + size); pen.lineTo(x, y + 0.5 * size); pen.lineTo(x - 0.75 * size, y + size); pen.closePath();
  pen.fillStyle = shoal.colour("ink"); pen.fill(); pen.strokeStyle = shoal.colour("paper"); pen.lineWidth = 1; pen.stroke();
};

shoal.aroundPart = (page, contents) => {
  page.around = (contents.around || []).map((map) => ({ ...map, ...Object.fromEntries(["mean", "sd", "lower", "upper", "arrivals"].map((name) => [name, shoal.unpack(map[name])])) }));
  const holder = document.getElementById("around-figures"), said = document.getElementById("around-words");
  if (!holder) return;
  page.around.forEach((map, number) => {
    const pair = shoal.make("div", { class: "pair" });
    for (const name of map.sd ? ["mean", "sd"] : ["mean"]) {
      const far = map.left_out > 0 ? `; ${shoal.number(100 * map.left_out, 2)} % of decisions are farther away` : "";
      const title = name === "mean" ? `Preference for ${map.about}${far}` : "Posterior standard deviation";
      const canvas = shoal.make("canvas", { id: `around-${number}-${name}` });
      pair.append(shoal.make("figure", {}, canvas, shoal.make("figcaption", {}, title)));
      const dial = new shoal.Dial(page, map, canvas, { name, title, say: (text) => { said.textContent = text; } });
      page.redraws.push(() => dial.draw());
    }
    holder.append(pair);
  });
};
