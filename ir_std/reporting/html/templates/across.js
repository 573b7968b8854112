// Several collections: each system's mean, or its difference from a baseline, on each collection, with intervals.

/** `names` are the collections, in the order of their sections. */
class Across {
  constructor(root, names, { measures, subject, baseline, unit }) {
    this.root = root;
    this.names = names;
    this.measures = measures;
    this.subject = subject;
    this.baseline = baseline;
    this.unit = unit;
  }

  show(name) {
    const m = this.measures.find((one) => one.name === name) ?? this.measures[0];
    this.m = m;
    this.root.querySelector(".headline").innerHTML = m.headline;
    this.root.querySelector(".deck").innerHTML = m.deck;
    this.paint();
  }

  /** The style of a system's name. */
  classOf(system) {
    if (system === this.subject) return "run";
    return system === this.baseline ? "base" : "";
  }

  paint() {
    const { m } = this, width = innerWidth < 700 ? 160 : 420, isDifference = this.baseline !== null;
    const heaviest = Math.max(...m.rows.map((row) => row.weight ?? 0));
    const summary = isDifference ? "summary" : "all of these";
    const rows = m.rows.map((row, i) => {
      const isRepeated = i > 0 && m.rows[i - 1].system === row.system, name = row.name ?? summary;
      const section = `#collection-${this.names.indexOf(row.name)}`;
      return html("tr", { class: row.name === null ? "summary" : "" },
        html("th", { scope: "row" }, html("span", { class: `name ${this.classOf(row.system)}` },
          isRepeated ? "" : nameParts(row.system))),
        cell(row.name === null ? name : html("a", { href: section }, name), { class: "left" }),
        cell(row.n === null ? "" : `${row.n}`, { class: "wide" }),
        cell(strip(m, [this.shape(row, heaviest, name)], width, `${m.scored} of ${row.system}, ${name}`),
          { class: "bars" }),
        cell(isDifference ? signed(row.mean) : fixed(row.mean), { class: "wide" }));
    });
    const axis = html("tr", { class: "axis" }, cell(""), cell(""), cell("", { class: "wide" }),
      cell(stripAxis(m, width, isDifference ? "no difference" : "average"), { class: "bars" }),
      cell("", { class: "wide" }));
    this.root.querySelector(".forest").replaceChildren(tableOf(`${m.scored} by collection`, [
      head("System"), head("Collection", { class: "left" }), head(`${capital(this.unit)}s`, { class: "wide" }),
      head([capital(m.scored), html("br"), "with 95% interval"], { class: "left bars" }), head("", { class: "wide" }),
    ], [...rows, axis], "rows"));
  }

  /** The dot and the interval that the strip of a row shows. */
  shape(row, heaviest, name) {
    const isKnown = row.low !== null;
    const interval = isKnown ? ` (95% interval ${fixed(row.low)} to ${fixed(row.high)})` : "";
    return {
      kind: row.name === null ? "summary" : this.classOf(row.system) || "plain",
      value: row.mean ?? (isKnown ? (row.low + row.high) / 2 : null),
      low: row.low,
      high: row.high,
      weight: row.weight ? row.weight / heaviest : 1,
      lines: [`${row.system}, ${name}`, `${this.m.scored} ${fixed(row.mean)}${interval}`],
    };
  }
}
