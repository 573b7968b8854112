// What all pictures use: elements, numbers, scales, axes, and figures that answer to mouse, touch and keys.

const NAMESPACE = "http://www.w3.org/2000/svg";
const MISSING = "–";

const maker = (create) => (name, attributes = {}, ...children) => {
  const node = create(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return node;
};
const html = maker((name) => document.createElement(name));
const svg = maker((name) => document.createElementNS(NAMESPACE, name));

const fixed = (value, places = 4) => value === null ? MISSING : value.toFixed(places).replace("-", "−");
const signed = (value, places = 2) => value === null ? MISSING
  : (value < 0 ? "−" : "+") + Math.abs(value).toFixed(places);
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
/** Cut in the middle: names that begin alike often differ in how they end. */
const shortened = (text, letters) => text.length <= letters ? text
  : `${text.slice(0, Math.floor((letters - 1) / 2))}…${text.slice(-Math.ceil((letters - 1) / 2))}`;

/** A number, or the end of the limits that it is beyond: how far is drawn. */
const cutTo = (limits) => (value) => value === null || !limits ? value
  : Math.min(limits[1], Math.max(limits[0], value));

/** The least and the largest of the numbers in some lists. */
const extent = (...lists) => {
  let low = Infinity, high = -Infinity;
  for (const list of lists) {
    for (const value of list) {
      if (value !== null && value < low) low = value;
      if (value !== null && value > high) high = value;
    }
  }
  return low > high ? [0, 1] : [low, high];
};

function scale(low, high, from, to) {
  const map = (value) => from + (value - low) / (high - low || 1) * (to - from);
  return Object.assign(map, { low, high, from, to });
}

function ticks(low, high, about) {
  const rough = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * (1 - 1e-9));
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); i += 1) {
    values.push(Number((i * step).toPrecision(12)));
  }
  return values;
}

const line = (cls, x1, y1, x2, y2) => svg("path", { class: cls, d: `M${x1} ${y1}L${x2} ${y2}` });
const text = (cls, x, y, anchor, ...content) =>
  svg("text", { class: cls, x, y, "text-anchor": anchor }, ...content);

/** Grid lines and numbers of a vertical scale, left of `left`, and above it what it is of. */
const leftAxis = (y, left, right, values, title) => [text("axis-title", 2, TITLE - 6, "start", title),
  ...values.map((value) => [line("grid", left, y(value), right, y(value)),
    text("small", left - 6, y(value) + 4, "end", `${value}`)])];

/** Grid lines and numbers of a horizontal scale, below `bottom`, and below them what it is of. */
const bottomAxis = (x, top, bottom, values, title) => [
  bottomTitle((x.from + x.to) / 2, bottom + 15, title),
  ...values.map((value) => [line("grid", x(value), top, x(value), bottom),
    text("small", x(value), bottom + 15, "middle", `${value}`)])];

/** Room for the title of an axis. */
const TITLE = 18;
const bottomTitle = (x, bottom, title) => text("axis-title", x, bottom + TITLE, "middle", title);

/** How wide words are where they are set boldest. */
function widthOf(words) {
  const pen = html("canvas").getContext("2d");
  pen.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(words).width;
}

function picture(width, height, label, ...content) {
  return svg("svg", { class: "chart-svg", viewBox: `0 0 ${width} ${height}`, width, height,
    role: "img", tabindex: 0, "aria-label": label }, ...content);
}

/** The picture with its styles inside, as other programs can show it. */
function standalone(drawn) {
  const copy = drawn.cloneNode(true);
  const colors = getComputedStyle(document.documentElement);
  const rules = document.getElementById("chart-style").textContent
    .replace(/var\((--\w+)\)/g, (_, name) => colors.getPropertyValue(name).trim());
  const { width, height } = drawn.viewBox.baseVal;
  copy.querySelectorAll(".cursor").forEach((cursor) => cursor.remove());
  copy.prepend(svg("style", {}, rules),
    svg("rect", { width, height, fill: colors.getPropertyValue("--page").trim() }));
  return new XMLSerializer().serializeToString(copy);
}

function download(name, blob) {
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const fileName = (words, end) => `${words.replace(/[^\w@.+-]+/g, "-").replace(/^[-.]+|-+$/g, "")}.${end}`;

function downloadPng(drawn, name) {
  const { width, height } = drawn.viewBox.baseVal;
  const image = new Image();
  image.onload = () => {
    const canvas = html("canvas", { width: width * 2, height: height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, width * 2, height * 2);
    canvas.toBlob((blob) => download(fileName(name, "png"), blob));
  };
  image.src = `data:image/svg+xml,${encodeURIComponent(standalone(drawn))}`;
}

/** Width of a sheet of paper, in pixels. */
const PAPER = 660;
/** `width` to draw at, in pixels, while the page is being printed; null on screen. */
const printing = { width: null };

/**
 * A place for a picture: `draw(width)` gives `{ drawn, name, points, by }`, where a point is
 * `{ x, y, lines, go, mark }`.  The lines of the nearest point, by `x`, `y` or `xy`, are shown beside it;
 * its `go` is called on a click or Enter, and `mark` gives what else is drawn there.
 */
class Figure {
  constructor(host, draw) {
    this.host = host;
    this.draw = draw;
    this.canvas = html("div", { class: "canvas" });
    this.tip = html("div", { class: "tip", role: "status", hidden: "" });
    const save = (form, act) => {
      const button = html("button", { type: "button", class: "save" }, form);
      button.setAttribute("aria-label", `Download this picture as ${form}`);
      button.addEventListener("click", act);
      return button;
    };
    this.tools = html("div", { class: "tools" },
      save("SVG", () => download(fileName(this.name, "svg"),
        new Blob([standalone(this.drawn)], { type: "image/svg+xml" }))),
      save("PNG", () => downloadPng(this.drawn, this.name)));
    host.prepend(this.tools, this.canvas, this.tip);
    this.canvas.addEventListener("pointermove", (event) => this.point(this.nearest(event)));
    this.canvas.addEventListener("pointerdown", (event) => this.point(this.nearest(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.canvas.addEventListener("click", (event) => this.points[this.nearest(event)]?.go?.());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("focusout", () => this.point(null));
  }

  width() { return printing.width === null ? this.canvas.clientWidth : printing.width / this.columns(); }

  paint(width) {
    if (!width) return;
    const focused = this.canvas.contains(document.activeElement);
    const made = this.draw(Math.floor(width));
    if (!made) return;
    Object.assign(this, made);
    this.canvas.replaceChildren(this.drawn);
    this.point(null);
    if (focused) this.drawn.focus();
  }

  /** How many pictures stand side by side on paper. */
  columns() {
    return this.host.parentNode.classList.contains("panels") ? 2 : 1;
  }

  nearest(event) {
    const box = this.drawn.getBoundingClientRect();
    const zoom = this.drawn.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * zoom, y = (event.clientY - box.top) * zoom;
    const distance = {
      x: (p) => Math.abs(p.x - x),
      y: (p) => Math.abs(p.y - y) + Math.abs(p.x - x) * 1e-4,  // of several at one height the nearest
      xy: (p) => Math.hypot(p.x - x, p.y - y),
    }[this.by];
    let best = null;
    this.points.forEach((p, i) => {
      if (best === null || distance(p) < distance(this.points[best])) best = i;
    });
    return best;
  }

  point(index) {
    this.at = index;
    this.drawn.querySelector(".cursor")?.remove();
    this.tip.hidden = index === null;
    if (index === null) return;
    const { x, y, lines, mark } = this.points[index];
    this.drawn.append(svg("g", { class: "cursor" }, mark?.(), svg("circle", { cx: x, cy: y, r: 6 })));
    this.tip.replaceChildren(...lines.map((content) => html("div", {}, content)));
    const box = this.drawn.getBoundingClientRect();
    const room = this.host.getBoundingClientRect();
    const left = x * box.width / this.drawn.viewBox.baseVal.width + box.left - room.left;
    const most = room.width - this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(left + 12, most))}px`;
    const top = y * box.width / this.drawn.viewBox.baseVal.width + box.top - room.top;
    this.tip.style.top = `${top + 14}px`;
  }

  key(event) {
    const last = this.points.length - 1;
    if (last < 0) return;
    const now = this.at ?? -1;
    const next = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1,
      Home: 0, End: last }[event.key];
    if (event.key === "Escape") this.point(null);
    else if (event.key === "Enter") this.points[now]?.go?.();
    else if (next === undefined) return;
    else this.point(Math.max(0, Math.min(last, next)));
    event.preventDefault();
  }
}

/** Widths are read before anything is drawn, so that the page is laid out once. */
function paintAll(figures) {
  const widths = figures.map((figure) => figure.width());
  figures.forEach((figure, i) => figure.paint(widths[i]));
}
