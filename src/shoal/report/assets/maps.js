/* Maps of states: two axes at a time, the others held fixed. */
"use strict";
shoal.HeatMap = class {
  /* options: title, unit, palette, values(view) -> {grid, range}, hatched(view, a, b), words(state, value) */
  constructor(page, view, canvas, options) {
    Object.assign(this, { page, view, canvas, options, cursor: null, marks: [] });
    this.cursor = page.start.slice();
    canvas.setAttribute("tabindex", "0");
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", `${options.title}. Arrow keys move from state to state, Enter chooses one.`);
    canvas.addEventListener("pointermove", (event) => {
      const at = this.at(event);
      shoal.tip(event, at ? this.words(at) : "");
    });
    canvas.addEventListener("pointerleave", (event) => shoal.tip(event, ""));
    canvas.addEventListener("click", (event) => { const at = this.at(event); if (at) { this.cursor = at; this.choose(at); } });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => { this.focused = false; this.draw(); });
    canvas.addEventListener("focus", () => { this.focused = canvas.matches(":focus-visible"); this.draw(); });
  }
  get rows() { return this.page.axes[this.view.axes[0]]; }
  get columns() { return this.page.axes[this.view.axes[1]]; }
  index(a, b) { const index = this.view.fixed.slice(); index[this.view.axes[0]] = a; index[this.view.axes[1]] = b; return index; }
  at(event) {
    const box = this.canvas.getBoundingClientRect(), f = this.frame;
    const b = Math.floor(((event.clientX - box.left - f.left) / f.wide) * this.columns.centres.length);
    const a = Math.floor((1 - (event.clientY - box.top - f.top) / f.tall) * this.rows.centres.length);
    return a >= 0 && b >= 0 && a < this.rows.centres.length && b < this.columns.centres.length ? this.index(a, b) : null;
  }
  words(index) {
    const state = shoal.ravel(index, this.page.shape);
    return shoal.stateWords(this.page, state) + "\n" + this.options.words(state);
  }
  /* Colours of small probabilities are spread out by a square root. */
  share(part) { return this.options.root ? Math.sqrt(Math.max(0, part)) : part; }
  choose(index) { this.view.change({ selected: shoal.ravel(index, this.page.shape), fixed: index.slice() }); }
  key(event) {
    const [a, b] = this.view.axes;
    const move = { ArrowUp: [a, 1], ArrowDown: [a, -1], ArrowRight: [b, 1], ArrowLeft: [b, -1] }[event.key];
    if (move) {
      const [axis, step] = move, size = this.page.shape[axis];
      const next = this.cursor[axis] + step, round = this.page.axes[axis].kind === "circular";
      this.cursor[axis] = round ? (next + size) % size : Math.max(0, Math.min(size - 1, next));
      for (let n = 0; n < this.cursor.length; n++) if (n !== a && n !== b) this.cursor[n] = this.view.fixed[n];
      this.focused = true;
      this.draw();
      this.options.say(this.words(this.cursor).replace("\n", ": "));
      event.preventDefault();
    }
    if (event.key === "Enter" || event.key === " ") { this.choose(this.cursor); event.preventDefault(); }
  }
  draw() {
    const width = this.canvas.clientWidth;
    if (!width) return;
    const rows = this.rows, columns = this.columns;
    const left = 62, right = 74, top = 8, bottom = 44;
    const wide = width - left - right, tall = Math.min(this.options.tallest || 420, Math.max(140, wide));
    this.frame = { left, top, wide, tall };
    const pen = shoal.sharp(this.canvas, width, top + tall + bottom);
    const { grid, range } = this.options.values(this.view);
    const na = rows.centres.length, nb = columns.centres.length, cw = wide / nb, ch = tall / na;
    const [low, high] = range, spread = high > low ? high - low : 1;
    for (let a = 0; a < na; a++) for (let b = 0; b < nb; b++) {
      const value = grid[a * nb + b], x = left + b * cw, y = top + tall - (a + 1) * ch;
      pen.fillStyle = Number.isFinite(value) ? shoal.palette(this.options.palette, this.share((value - low) / spread)) : shoal.colour("panel");
      pen.fillRect(x, y, cw + 0.4, ch + 0.4);
      if (this.options.hatched && this.options.hatched(this.view, a, b)) {
        pen.strokeStyle = shoal.colour("hatch"); pen.lineWidth = 0.7;
        pen.beginPath(); pen.moveTo(x, y + ch); pen.lineTo(x + cw, y); pen.stroke();
      }
    }
    this.box(pen, width, rows, columns, low, high);
    const centre = (index) => [left + (index[this.view.axes[1]] + 0.5) * cw, top + tall - (index[this.view.axes[0]] + 0.5) * ch];
    if (this.view.selected !== null && this.options.marks !== false) this.ring(pen, centre(shoal.unravel(this.view.selected, this.page.shape)), cw, ch, shoal.colour("orange"));
    if (this.focused) this.ring(pen, centre(this.cursor), cw, ch, "#ffffff", true);
    for (const mark of this.marks) mark(pen, centre);
  }
  ring(pen, [x, y], cw, ch, colour, dashed = false) {
    const w = Math.max(9, cw + 3), h = Math.max(9, ch + 3);
    pen.setLineDash(dashed ? [4, 3] : []);
    pen.lineWidth = 4; pen.strokeStyle = "#000"; pen.strokeRect(x - w / 2, y - h / 2, w, h);
    pen.lineWidth = 2; pen.strokeStyle = colour; pen.strokeRect(x - w / 2, y - h / 2, w, h);
    pen.setLineDash([]);
  }
  box(pen, width, rows, columns, low, high) {
    const { left, top, wide, tall } = this.frame;
    pen.strokeStyle = shoal.colour("grey"); pen.lineWidth = 1; pen.strokeRect(left, top, wide, tall);
    pen.fillStyle = shoal.colour("ink"); pen.textBaseline = "middle"; pen.textAlign = "center";
    const across = shoal.axisTicks(columns, Math.max(3, Math.floor(wide / 56)));
    for (const tick of across) pen.fillText(tick.text, left + (tick.at / columns.centres.length) * wide, top + tall + 12);
    pen.fillText(columns.label, left + wide / 2, top + tall + 32);
    pen.textAlign = "right";
    for (const tick of shoal.axisTicks(rows, Math.max(3, Math.floor(tall / 40)))) pen.fillText(tick.text, left - 6, top + tall - (tick.at / rows.centres.length) * tall);
    pen.save(); pen.translate(12, top + tall / 2); pen.rotate(-Math.PI / 2); pen.textAlign = "center"; pen.fillText(rows.label, 0, 0); pen.restore();
    const x = left + wide + 12;
    for (let n = 0; n < tall; n++) { pen.fillStyle = shoal.palette(this.options.palette, this.share(1 - n / tall)); pen.fillRect(x, top + n, 10, 1.4); }
    pen.fillStyle = shoal.colour("ink"); pen.textAlign = "left";
    for (const tick of shoal.ticks(low, high, 4)) pen.fillText(shoal.number(tick), x + 14, top + tall * (1 - (tick - low) / ((high - low) || 1)));
    pen.save(); pen.translate(width - 8, top + tall / 2); pen.rotate(-Math.PI / 2); pen.textAlign = "center"; pen.fillText(this.options.unit(), 0, 0); pen.restore();
  }
};

/* The two axes that are shown of a grid with more, where the others are held fixed. */
shoal.slice = (page, view, values) => {
  const [a, b] = view.axes, na = page.shape[a], nb = page.shape[b], grid = new Float32Array(na * nb);
  const index = view.fixed.slice();
  for (let i = 0; i < na; i++) for (let j = 0; j < nb; j++) { index[a] = i; index[b] = j; grid[i * nb + j] = values[shoal.ravel(index, page.shape)]; }
  return grid;
};

/* Choosing two of several axes, and sliders for the others. */
shoal.axisControls = (page, view, holder) => {
  if (page.axes.length < 3) return;
  const build = () => {
    holder.replaceChildren();
    ["up", "across"].forEach((name, place) => {
      const choose = shoal.make("select", { id: `axis-${name}` });
      page.axes.forEach((axis, n) => { const o = shoal.make("option", { value: n }, axis.name); o.selected = view.axes[place] === n; choose.append(o); });
      choose.addEventListener("change", () => {
        const axes = view.axes.slice(), wanted = Number(choose.value);
        if (axes[1 - place] === wanted) axes[1 - place] = axes[place];
        axes[place] = wanted;
        view.change({ axes });
        build();
        document.getElementById(`axis-${name}`).focus();
      });
      holder.append(shoal.make("label", {}, name === "up" ? "Up:" : "Across:", choose));
    });
    page.axes.forEach((axis, n) => {
      if (view.axes.includes(n)) return;
      const slide = shoal.make("input", { type: "range", min: 0, max: axis.centres.length - 1, step: 1, "data-axis": n });
      slide.value = view.fixed[n];
      const words = shoal.make("output", {}, shoal.binWords(axis, view.fixed[n]));
      slide.setAttribute("aria-valuetext", words.textContent);
      slide.addEventListener("input", () => { const fixed = view.fixed.slice(); fixed[n] = Number(slide.value); view.change({ fixed }); });
      view.listen(() => { slide.value = view.fixed[n]; words.textContent = shoal.binWords(axis, view.fixed[n]); slide.setAttribute("aria-valuetext", words.textContent); });
      holder.append(shoal.make("label", {}, `${axis.name}:`, slide, words));
    });
  };
  build();
};
