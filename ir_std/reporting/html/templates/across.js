// Several collections: systems, or their differences from a baseline, side by side.

/** The rows with their heights, below each system's name, and where they end; what is drawn is cut
 * to what scores can be. */
function forestRows(m) {
  let bottom = 4;
  const cut = cutTo(m.limits);
  const rows = m.rows.map((row, i) => {
    const head = i === 0 || m.rows[i - 1].system !== row.system;
    if (head) bottom += 24;
    bottom += 22;
    return { ...row, left: cut(row.low), right: cut(row.high), head, y: bottom - 11 };
  });
  return { rows, bottom };
}

/** The square, circle or diamond of a row, and the line of its interval. */
function forestMark(row, x, heaviest, round) {
  const marks = [];
  if (row.low !== null && row.kind !== "summary") {
    const cls = `interval ${row.kind === "predicted" ? "baseline" : ""}`;
    marks.push(line(cls, x(row.left), row.y, x(row.right), row.y));
  }
  if (row.kind === "summary" && row.low !== null) {
    marks.push(svg("path", { class: "dot baseline", d: `M${x(row.left)} ${row.y}L${x(row.mean)} ${row.y - 7}`
      + `L${x(row.right)} ${row.y}L${x(row.mean)} ${row.y + 7}Z` }));
  } else if (row.mean !== null) {
    const side = row.weight ? 14 * Math.sqrt(row.weight / heaviest) : 9;
    marks.push(svg("rect", { class: "dot run", x: x(row.mean) - side / 2, y: row.y - side / 2,
      width: side, height: side, rx: round ? side / 2 : 0 }));
  }
  return marks;
}

function forestLines(m, row) {
  const topics = row.topics ? `: ${plural(row.topics, "topic")}` : "";
  const mean = row.mean === null ? "" : fixed(row.mean);
  const interval = row.low === null ? "" : ` [${fixed(row.low)}, ${fixed(row.high)}]`;
  return [`${row.system}, ${row.name}${topics}`, `${m.name} ${mean}${interval}`];
}

/** Which of the two is better on either side of 0. */
function sidesOfZero(baseline, m, zero, y) {
  const sides = [shortened(baseline, 20), "the other"];
  const [left, right] = m.sign > 0 ? sides : sides.reverse();
  return [text("", zero - 8, y, "end", `← ${left} better`),
    text("", zero + 8, y, "start", `${right} better →`)];
}

const forestTitle = (baseline, m) => baseline === null ? m.name
  : `difference in ${m.name} from ${shortened(baseline, 24)}`;

/** A row for each system and collection, with its interval; summaries are diamonds. */
function drawForest(across, m, width) {
  const { rows, bottom } = forestRows(m);
  const left = Math.min(220, Math.max(136, width * 0.3)), right = width - 14;
  const letters = Math.floor((left - 12) / 6.4);
  const [low, high] = extent(rows.map((r) => r.left), rows.map((r) => r.right),
    m.rows.map((r) => r.mean), m.zero === null ? [] : [m.zero]);
  const pad = (high - low) * 0.03 || 0.05;
  const x = scale(low - pad, high + pad, left, right);
  const against = across.baseline;
  const parts = [bottomAxis(x, 4, bottom, ticks(x.low, x.high, Math.max(6, width / 110)), forestTitle(against, m))];
  if (m.zero !== null) parts.push(svg("path", { class: "mean", d: `M${x(m.zero)} 4V${bottom}` }));
  const heaviest = Math.max(...m.rows.map((r) => r.weight ?? 0));
  const points = [];
  for (const row of rows) {
    if (row.head) parts.push(text("name chosen", 4, row.y - 18, "start", shortened(row.system, 40)));
    parts.push(text(row.kind === "collection" ? "name" : "", left - 12, row.y + 4, "end",
      shortened(row.name, letters)));
    parts.push(...forestMark(row, x, heaviest, against === null));
    if (row.low === null && row.mean === null) {
      parts.push(text("small", left, row.y + 4, "start", `no ${m.name}`));
      continue;
    }
    points.push({ x: x(row.mean ?? (row.low + row.high) / 2), y: row.y, lines: forestLines(m, row),
      go: () => across.open(row) });
  }
  if (against !== null) parts.push(...sidesOfZero(against, m, x(m.zero), bottom + 32 + TITLE));
  const systems = plural(new Set(m.rows.map((r) => r.system)).size, "system");
  return { points, by: "y", name: `collections ${m.name}`, drawn: picture(width,
    bottom + TITLE + (against === null ? 22 : 40), `${m.name} of ${systems} `
    + "by collection, with intervals. The arrow keys go from row to row.", ...parts) };
}

class AcrossCollections {
  constructor(root, data, address) {
    Object.assign(this, data, { root, address, name: "all" });
    this.$ = (selector) => root.querySelector(selector);
    this.figures = [new Figure(this.$(".forest"), (width) => drawForest(this, this.chosen, width))];
    this.$("select").addEventListener("change", (event) => address.go(this, { measure: event.target.value }));
    for (const link of root.querySelectorAll("a[data-part]")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.open({ name: link.dataset.part });
      });
    }
  }

  /** Go to a collection's own part. */
  open({ name, system }) {
    const part = this.address.parts.find((p) => p.name === name);
    if (part) part.go(system ? { run: system } : {}, system ? ".one-run" : "h2");
  }

  complete() {}

  unknown({ measure }) {
    return measure && !this.measures.some((m) => m.name === measure) ? [`measure “${measure}”`] : [];
  }

  paint() { paintAll(this.figures); }

  show(choices) {
    this.chosen = this.measures.find((m) => m.name === choices.measure)
      ?? this.measures.find((m) => m.name === this.root.dataset.key);
    this.$("select").value = this.chosen.name;
    this.$(".measure-name").textContent = this.chosen.name;
    this.$(".words").replaceChildren(...this.chosen.words.map((sentence) => html("li", {}, sentence)));
    this.paint();
  }
}
