/* The moves that the followed animal had in a frame: how likely each was, and which one it made. */
"use strict";
shoal.Fan = class {
  constructor(pack, animals) {
    const read = (name) => shoal.unpack(pack[name]);
    Object.assign(this, { turn: read("turn"), set: read("set"), steps: read("steps"), expected: read("expected"), made: read("made"), before: read("before"), persistence: pack.persistence });
    for (const name of ["chance", "passive"]) this[name] = { bytes: read(name), most: read(`${name}_most`) };
    this.rows = new Map();
    const animal = read("animal"), frame = read("frame");
    for (let n = 0; n < animal.length; n++) this.rows.set(frame[n] * animals + animal[n], n);
  }
  /* Turn, length, chance with costs and without, of every move; null where no decision is known. */
  at(row) {
    if (row === undefined) return null;
    const count = this.chance.bytes.length / this.set.length, first = this.set[row] * count, found = [];
    const share = (kind, k) => this[kind].most[row] * (this[kind].bytes[row * count + k] / 255) ** 2;
    for (let k = 0; k < count; k++) {
      found.push({ turn: this.persistence * this.before[row] + this.turn[first + k], step: this.steps ? Math.exp(this.expected[row] + this.steps[first + k]) : 0.8, chance: share("chance", k), passive: share("passive", k) });
    }
    return { moves: found, made: { turn: this.made[2 * row], step: this.steps ? this.made[2 * row + 1] : 0.8 } };
  }
  draw(canvas, row, unit) {
    const width = canvas.clientWidth;
    if (!width) return;
    const size = Math.min(width, 320), pen = shoal.sharp(canvas, width, size), x = width / 2, y = size / 2;
    pen.fillStyle = shoal.colour("panel"); pen.fillRect(0, 0, width, size);
    const found = this.at(row);
    pen.textAlign = "center"; pen.textBaseline = "middle";
    if (!found) { pen.fillStyle = shoal.colour("soft"); pen.fillText("no decision in this frame", x, y); return; }
    const lengths = found.moves.map((m) => m.step).sort((a, b) => a - b);  // most moves fit in
    const reach = this.steps ? Math.max(found.made.step, lengths[Math.floor(0.85 * lengths.length)]) : 1;
    const scale = (size / 2 - 26) / reach, most = Math.max(...found.moves.map((m) => Math.max(m.chance, m.passive)));
    const place = ({ turn, step }) => { const a = ((90 + turn) * Math.PI) / 180, r = Math.min(step * scale, size / 2 - 14); return [x + r * Math.cos(a), y - r * Math.sin(a)]; };
    pen.strokeStyle = shoal.colour("line"); pen.lineWidth = 1;
    if (this.steps) for (const tick of shoal.ticks(0, reach, 3)) if (tick > 0) {
      pen.beginPath(); pen.arc(x, y, tick * scale, 0, 2 * Math.PI); pen.stroke();
      pen.fillStyle = shoal.colour("soft"); pen.fillText(`${shoal.number(tick)} ${unit || ""}`.trim(), x, y + tick * scale + (tick * scale > size / 2 - 20 ? -8 : 8));
    }
    const radius = (chance) => 11 * Math.sqrt(chance / most);
    for (const move of found.moves) { pen.strokeStyle = shoal.colour("grey"); pen.lineWidth = 1; pen.beginPath(); pen.arc(...place(move), Math.max(0.8, radius(move.passive)), 0, 2 * Math.PI); pen.stroke(); }
    pen.globalAlpha = 0.6;
    for (const move of found.moves) { pen.fillStyle = shoal.colour("blue"); pen.beginPath(); pen.arc(...place(move), radius(move.chance), 0, 2 * Math.PI); pen.fill(); }
    pen.globalAlpha = 1;
    const [mx, my] = place(found.made);
    for (const [colour, wide] of [["paper", 6], ["orange", 3]]) { pen.strokeStyle = shoal.colour(colour); pen.lineWidth = wide; pen.beginPath(); pen.moveTo(mx - 7, my - 7); pen.lineTo(mx + 7, my + 7); pen.moveTo(mx + 7, my - 7); pen.lineTo(mx - 7, my + 7); pen.stroke(); }
    shoal.arrow(pen, x, y, 7);
    pen.fillStyle = shoal.colour("soft"); pen.fillText("ahead", x, 9); pen.save(); pen.translate(x - size / 2 + 9, y); pen.rotate(-Math.PI / 2); pen.fillText("left", 0, 0); pen.restore();
    pen.save(); pen.translate(x + size / 2 - 9, y); pen.rotate(Math.PI / 2); pen.fillText("right", 0, 0); pen.restore();
  }
  words(row) {
    const found = this.at(row);
    if (!found) return "";
    const parts = { left: (turn) => turn > 10, "straight on": (turn) => Math.abs(turn) <= 10, right: (turn) => turn < -10 };
    const round = (turn) => ((turn + 540) % 360) - 180;
    const share = Object.entries(parts).map(([name, is]) => {
      const sum = (kind) => found.moves.reduce((total, m) => total + (is(round(m.turn)) ? m[kind] : 0), 0);
      return `${name} ${Math.round(100 * sum("chance"))} % (without preferences ${Math.round(100 * sum("passive"))} %)`;
    });
    const made = round(found.made.turn), size = Math.abs(made);
    const did = size <= 10 ? "went straight on" : `turned ${Math.round(size)}° to the ${made > 0 ? "left" : "right"}`;
    return ` Its chances: ${share.join(", ")}. It ${did}.`;
  }
};
