// Shared by all pictures and tables: elements, numbers, scales, and marks with a description.
/* global LOOK -- report.html writes it */

const NAMESPACE = "http://www.w3.org/2000/svg";
const NONE = "–";

const maker = (create) => (name, attributes = {}, ...children) => {
  const node = create(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
};
const html = maker((name) => document.createElement(name));
const svg = maker((name) => document.createElementNS(NAMESPACE, name));

const fixed = (value, places = LOOK.places) => value === null ? NONE : value.toFixed(places).replace("-", "−");
const signed = (value, places = LOOK.places) => value === null ? NONE
  : (value > 0 ? "+" : "") + fixed(value, places);
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const ordinal = (n) => `${n}${n % 100 > 10 && n % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][n % 10] ?? "th"}`;
/** Words with a capital, unless they begin with a name such as nDCG@10. */
const capital = (words) => words.replace(/^[a-z](?=[a-z]*(?: |$))/, (letter) => letter.toUpperCase());
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const clip = (value, low, high) => Math.min(high, Math.max(low, value));
/** Cut a name in the middle, because names with the same beginning often differ at the end. */
const shortened = (text, letters) => text.length <= letters ? text
  : `${text.slice(0, Math.floor((letters - 1) / 2))}…${text.slice(-Math.ceil((letters - 1) / 2))}`;

const linear = (low, high, from, to) => (value) => from + (value - low) / (high - low || 1) * (to - from);

/** The ends of the axis of a measure. */
const ends = (m) => [m.ticks[0], m.ticks.at(-1)];

/** The ticks of pictures of topics. If topics have only raw scores, the ticks of mean scores do not fit. */
function topicTicks(m) {
  if (m.scoresByTopic || !m.standardized) return m.ticks;
  const all = m.byTopic.flat().filter((whole) => whole !== null).map(parts);
  const isWithin = all.every((value) => value >= 0 && value <= 1);
  return isWithin ? [0, 0.25, 0.5, 0.75, 1] : [Math.min(0, ...all), Math.max(...all)];
}

const line = (cls, x1, y1, x2, y2) => svg("line", { class: cls, x1, y1, x2, y2 });
const dot = (cls, cx, cy, r) => svg("circle", { class: cls, cx, cy, r });
const text = (cls, x, y, anchor, ...content) => svg("text", { class: cls, x, y, "text-anchor": anchor }, ...content);

/** Horizontal grid lines with their numbers on the left; the line of the average is dark. */
const gridLines = (y, ticks, average, left, right, numbers) => ticks.map((tick) => [
  line(tick === average ? "average" : "grid", left, y(tick), right, y(tick)),
  numbers && text(tick === average ? "ink" : "", left - 8, y(tick) + 4.5, "end", `${tick}`.replace("-", "−"))]);

/** A mark with a description, which is its name for screen readers and its tip for pointer and focus. */
const mark = (lines, attributes, ...shapes) => svg("g", { role: "img", "aria-label": lines.join("; "),
  "data-tip": lines.join("\n"), tabindex: -1, ...attributes }, ...shapes);

/** A picture of marks. It is one stop for the tab key, and arrow keys move from mark to mark. */
function picture(width, height, label, ...content) {
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", tabindex: 0,
    "aria-label": label }, ...content);
  drawn.addEventListener("keydown", (event) => {
    const marks = [...drawn.querySelectorAll("[data-tip]")];
    const now = marks.indexOf(document.activeElement);
    const next = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0,
      End: marks.length - 1 }[event.key];
    if (event.key === "Enter") marks[now]?.dispatchEvent(new Event("click", { bubbles: true }));
    else if (event.key === "Escape") drawn.focus();
    else if (next === undefined || !marks.length) return;
    else marks[clip(next, 0, marks.length - 1)].focus();
    event.preventDefault();
  });
  return drawn;
}

/** One tip for the whole page, which describes the mark under the pointer or with the focus. */
function watchTips() {
  const tip = html("div", { id: "tip", role: "status", hidden: true });
  document.body.append(tip);
  const show = (of, x, y) => {
    tip.hidden = !of;
    if (!of) return;
    tip.textContent = of.dataset.tip;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${clip(x + 14, 8, innerWidth - width - 8)}px`;
    tip.style.top = `${y + 18 + height > innerHeight ? y - height - 12 : y + 18}px`;
  };
  document.addEventListener("pointermove", (event) =>
    show(event.target.closest("[data-tip]"), event.clientX, event.clientY));
  document.addEventListener("focusin", (event) => {
    const of = event.target.closest("[data-tip]");
    const { right, bottom } = event.target.getBoundingClientRect();
    show(of, right, bottom - 12);
  });
  document.addEventListener("focusout", () => show(null));
  document.addEventListener("scroll", () => show(null), { passive: true });
}

function download(name, content, type) {
  const link = html("a", { href: URL.createObjectURL(new Blob([content], { type })),
    download: name.replace(/[^\w@.+-]+/g, "-").replace(/^[-.]+/, "") });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A picture that contains its styles, so that other programs can show it. */
function standalone(drawn) {
  const copy = drawn.cloneNode(true);
  const colors = getComputedStyle(document.documentElement);
  const rules = document.getElementById("picture-style").textContent
    .replace(/var\((--\w+)\)/g, (_, name) => colors.getPropertyValue(name).trim());
  copy.setAttribute("xmlns", NAMESPACE);
  copy.prepend(svg("style", {}, rules),
    svg("rect", { width: "100%", height: "100%", fill: colors.getPropertyValue("--paper").trim() }));
  return new XMLSerializer().serializeToString(copy);
}

/** Spreadsheets read a text that begins this way as a formula, so a ' is put before the text. */
const FORMULA = /^'*[=+@\t\r＝＋－＠-]./;
const csvText = (value) => typeof value === "string" && FORMULA.test(value) ? `'${value}` : `${value ?? ""}`;
const csvField = (value) => /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
const csv = (rows) => rows.map((row) => row.map((v) => csvField(csvText(v))).join(",")).join("\r\n") + "\r\n";
