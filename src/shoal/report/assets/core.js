/* Numbers, colours and drawing that all parts of the page share. */
"use strict";
const shoal = {};

shoal.unpack = (pack) => {
  if (!pack) return null;
  const text = atob(pack.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const kinds = { f4: Float32Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array };
  const values = new kinds[pack.kind](bytes.buffer);
  values.shape = pack.shape;
  return values;
};

shoal.number = (value, digits = 3) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value) < 1e-12 ? 0 : Math.abs(value);
  if (!size) return "0";
  const text = size !== 0 && (size < 1e-3 || size >= 1e5)
    ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
};

/* Of arrays too long to be spread over arguments. */
shoal.most = (values, found = -Infinity) => { for (const v of values) if (v > found) found = v; return found; };
shoal.least = (values, found = Infinity) => { for (const v of values) if (v < found) found = v; return found; };

shoal.colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

/* Viridis, cividis and, for both sides of 0, PuOr at thirteen points each: told apart by colour-blind readers, and in grey. */
const PALETTES = {
  viridis: ["#440154", "#481f70", "#443983", "#3b528b", "#31688e", "#287c8e", "#21918c", "#20a486", "#35b779", "#5ec962", "#90d743", "#c8e020", "#fde725"],
  cividis: ["#00224e", "#003170", "#2a3f6d", "#434e6c", "#575d6d", "#6a6c71", "#7d7c78", "#918b78", "#a59c74", "#bcae6c", "#d2c060", "#e9d34e", "#fee838"],
  purpleOrange: ["#2d004b", "#4b2a7f", "#7762a5", "#a097c6", "#c6c3e0", "#e4e3ef", "#f7f7f7", "#fce5c7", "#fdc57f", "#f19f3d", "#d3750d", "#a65406", "#7f3b08"],
};
shoal.palette = (name, share) => {
  const stops = PALETTES[name], x = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(x)), part = x - low;
  const read = (hex) => [1, 3, 5].map((n) => parseInt(hex.slice(n, n + 2), 16));
  const a = read(stops[low]), b = read(stops[low + 1]);
  return `rgb(${a.map((v, n) => Math.round(v + part * (b[n] - v))).join(",")})`;
};

shoal.ticks = (low, high, count = 5) => {
  if (!(high > low)) return [low];
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const found = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-9; v += step) found.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return found;
};

/* Where the ticks of an axis lie, in bins from its left end, with their words. */
shoal.axisTicks = (axis, room = 9) => {
  const size = axis.centres.length;
  if (axis.kind === "circular" || axis.kind === "folded") {
    const wanted = axis.kind === "circular" ? [-180, -90, 0, 90] : [0, 45, 90, 135, 180];
    return wanted.map((angle) => {
      const step = size > 1 ? axis.centres[1] - axis.centres[0] : 1;
      return { at: (angle - axis.centres[0]) / step + 0.5, text: (angle === -180 ? "±180" : String(angle)).replace("-", "−") + "°" };
    });
  }
  if (axis.kind === "numbered") {
    const every = Math.max(1, Math.ceil(size / room)), found = [];
    for (let n = 0; n < size; n += every) found.push({ at: n + 0.5, text: String(n) });
    return found;
  }
  const every = Math.max(1, Math.ceil((size + 1) / room)), found = [];
  for (let n = 0; n <= size; n += every) found.push({ at: n, text: shoal.number(axis.edges[n], 6) });
  return found;
};

shoal.binWords = (axis, n) => (axis.bins ? axis.bins[n] : shoal.number(axis.centres[n]));

shoal.unravel = (state, shape) => {
  const found = [];
  for (let n = shape.length - 1; n >= 0; n--) { found[n] = state % shape[n]; state = Math.floor(state / shape[n]); }
  return found;
};
shoal.ravel = (index, shape) => index.reduce((sum, value, n) => sum * shape[n] + value, 0);

shoal.stateWords = (page, state) =>
  shoal.unravel(state, page.shape).map((n, a) => `${page.axes[a].name} ${shoal.binWords(page.axes[a], n)}`).join(", ");

/* A canvas of so many CSS pixels that stays sharp on every screen and in print. */
shoal.sharp = (canvas, width, height) => {
  const ratio = Math.max(2, window.devicePixelRatio || 1);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = '12px system-ui, "Noto Sans", "DejaVu Sans", sans-serif';
  return pen;
};

shoal.svg = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

shoal.make = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

shoal.tip = (event, text) => {
  const tip = document.getElementById("tip");
  if (!text) { tip.hidden = true; return; }
  tip.textContent = text; tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.min(event.clientX + 14, window.innerWidth - box.width - 8) + "px";
  tip.style.top = Math.max(4, Math.min(event.clientY + 14, window.innerHeight - box.height - 8)) + "px";
};

shoal.download = (name, kind, text) => {
  const link = shoal.make("a", { href: URL.createObjectURL(new Blob([text], { type: kind })), download: name });
  document.body.append(link); link.click(); link.remove();
};

/* What is shown and chosen: parts of the page listen to it. */
shoal.View = class {
  constructor(page) {
    this.listeners = [];
    this.what = page.costs.cost_to_go ? "cost_to_go" : null;
    this.axes = page.axes.length > 1 ? [0, 1] : [0];
    this.fixed = page.start.slice();
    this.selected = null;
  }
  change(values) { Object.assign(this, values); for (const listen of this.listeners) listen(values); }
  listen(hear) { this.listeners.push(hear); }
};
