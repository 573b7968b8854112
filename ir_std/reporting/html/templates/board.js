// A leaderboard: its models by mean, and a table of their places.

class Board {
  constructor(root, data, address) {
    Object.assign(this, data, { root, address, baseline: null });
    this.$ = (selector) => root.querySelector(selector);
    this.table = new SortedTable(this.$(".runs-table"),
      { pinned: (row) => [this.chosen?.run, ...this.own].includes(Number(row.dataset.i)) });
    this.figures = [new Figure(this.$(".overview"), (width) => this.draw(width))];
    this.$(".csv").addEventListener("click", () =>
      download(fileName(this.name, "csv"), new Blob([this.csv], { type: "text/csv" })));
  }

  draw(width) {
    return drawRanking(this, this.chosen, width, {
      sign: 1, values: this.means, low: this.low, high: this.high, systems: [], systemsMean: null,
      name: this.name, label: "mean linked N", unit: "model", both: () => false,
      lines: (run) => [`linked N ${fixed(this.means[run])}`, `place ${this.places[run]}`],
      go: (run) => this.address.go(this, { run: this.runs[run] }, `[data-i="${run}"]`) });
  }

  complete() {}

  paint() { paintAll(this.figures); }

  show(choices) {
    const run = this.runs.indexOf(choices.run);
    this.chosen = { run: run < 0 ? null : run };
    for (const row of this.table.table.tBodies[0].rows) {
      row.classList.toggle("chosen", Number(row.dataset.i) === this.chosen.run);
    }
    this.table.show();
    this.paint();
  }
}
