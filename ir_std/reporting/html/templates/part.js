// One collection's part of the page: its numbers, what is chosen, and everything that shows it.

/** How many topics are listed as farthest above and below. */
const FARTHEST = 5;

class Part {
  constructor(root, data, address) {
    Object.assign(this, data, { root, address });
    this.name = root.dataset.part;
    // What a run can be set against: the other runs, and the systems behind the factors.
    this.names = [...this.runs, ...this.systems.names];
    this.byName = new Map(this.measures.map((m) => [m.name, m]));
    this.figures = [];
    this.start = {
      run: this.runs[0],
      measure: root.dataset.key,
      against: this.names[this.baseline ?? (this.names.length > 1 ? 1 : 0)],
    };
    this.$ = (selector) => root.querySelector(selector);
    this.$(".dense").hidden = this.runs.length <= DENSE_RUNS;
    this.setUpTable();
    this.setUpControls();
    this.setUpFigures();
  }

  /** Scores by topic are unpacked, and what needs them shown, when the first screen stands. */
  async complete() {
    this.unpackedSystems = await unpack(this.systems, this.systems.names, this.topics);
    this.unpacked = await unpack(this, this.runs, this.topics);
    if (this.rankings.packed) this.rankings = await unpackJson(this.rankings.packed);
    this.$(".one-run").hidden = false;
    this.showRun();
    this.paint();
  }

  /** The score of one of the names. */
  value(m, run, topic) {
    const system = run - this.runs.length;
    if (system < 0) return this.unpacked[m.values].at(run * this.topics.length + topic);
    return m.ofSystems === null ? null
      : this.unpackedSystems[m.ofSystems].at(system * this.topics.length + topic);
  }

  z(b, run, topic) { return this.unpacked[b.z].at(run * this.topics.length + topic); }

  rank(b, run, topic) {
    return b.ranks === null ? null : this.unpacked[b.ranks].at(run * this.topics.length + topic);
  }

  ranked(m) {
    const height = (run) => m.means[run] === null ? -Infinity : m.sign * m.means[run];
    return [...this.runs.keys()].sort((a, b) => height(b) - height(a) || a - b);
  }

  /** Whether a mean's interval is known to be of two parts, topics and systems. */
  both(m, run) { return (m.overSystems[run] ?? 0) > 0 && m.overTopics[run] !== null; }

  intervalText(m, run) {
    if (m.low[run] === null) return "";
    const parts = this.both(m, run)
      ? ` (±${fixed(m.overTopics[run])} by ${this.unit}s, ±${fixed(m.overSystems[run])} by systems)` : "";
    return `, 95% interval ${fixed(m.low[run])} to ${fixed(m.high[run])}${parts}`;
  }

  /** [topic, difference], largest first, of the scores as they are shown. */
  differences(m, run, against) {
    const differences = [];
    for (const topic of this.topics.keys()) {
      const a = this.value(m, run, topic), b = this.value(m, against, topic);
      if (a !== null && b !== null) differences.push([topic, Math.round((a - b) * 1e4) / 1e4]);
    }
    return differences.sort((a, b) => b[1] - a[1]);
  }

  /** The raw measure and the standardized one that are shown side by side. */
  pair(m) {
    const base = this.byName.get(m.base ?? m.name);
    const companion = m.base ? m : this.measures.find((other) => other.base === m.name);
    const behind = this.behind.find((b) => b.of === (m.base ?? m.name)) ?? null;
    return { measures: [base, companion].filter((each) => each?.byTopic), behind,
      byTopic: behind?.dataset ? null : behind };
  }

  go(change, place = null) { this.address.go(this, change, place); }

  setUpControls() {
    for (const select of this.root.querySelectorAll("select[data-choice]")) {
      select.addEventListener("change", () => this.go({ [select.dataset.choice]: select.value }));
    }
    for (const link of this.root.querySelectorAll("a[data-run]")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.go({ run: link.dataset.run }, ".one-run");
      });
    }
    this.$(".close").addEventListener("click", () => this.go({ topic: null }));
    this.$(".as-scatter")?.addEventListener("change", (event) =>
      this.go({ as: event.target.checked ? "scatter" : null }));
  }

  setUpTable() {
    const root = this.$(".runs-table");
    this.table = new SortedTable(root, { what: "run",
      pinned: (row) => [this.chosen?.run, this.baseline].includes(Number(row.dataset.i)),
      onSort: (head, direction) => this.go({ sort: `${head.dataset.column}:${direction}` }),
    });
    for (const row of this.table.table.querySelectorAll("tr[data-i]")) {
      [...row.cells].slice(-this.measures.length).forEach((cell, i) => {
        cell.dataset.m = this.measures[i].name;
        cell.dataset.v = this.measures[i].means[row.dataset.i] ?? "";
      });
    }
    for (const head of this.table.table.tHead.rows[0].cells) {
      if (this.byName.get(head.dataset.column)?.sign < 0) head.dataset.first = "ascending";
    }
    walkCells(this.table.table);
    const tip = root.querySelector(".tip");
    const showTip = (event) => {
      const button = event.target.closest("td button");
      tip.hidden = !button;
      if (!button) return;
      const m = this.byName.get(button.closest("td").dataset.m);
      const run = Number(button.closest("tr").dataset.i);
      tip.textContent = `${this.runs[run]}, ${m.name}: ${fixed(m.means[run])}`
        + this.intervalText(m, run) + (m.places[run] ? `, ${m.places[run]}` : "");
      const box = button.getBoundingClientRect(), room = root.getBoundingClientRect();
      tip.style.left = `${Math.max(0, Math.min(box.left - room.left, room.width - tip.offsetWidth))}px`;
      tip.style.top = `${box.bottom - room.top + 4}px`;
    };
    for (const kind of ["pointerover", "focusin"]) this.table.table.addEventListener(kind, showTip);
    for (const kind of ["pointerleave", "focusout"]) {
      this.table.table.addEventListener(kind, () => { tip.hidden = true; });
    }
    this.table.table.addEventListener("keydown", (event) => {
      if (event.key === "Escape") tip.hidden = true;
    });
    this.table.table.addEventListener("click", (event) => {
      const button = event.target.closest("td button");
      if (!button) return;
      const sorted = this.table.table.tHead.querySelector("[aria-sort]");  // no row moves away under the pointer
      this.go({ run: this.runs[button.closest("tr").dataset.i], measure: button.parentNode.dataset.m,
        sort: `${sorted.dataset.column}:${sorted.getAttribute("aria-sort")}` });
    });
    root.querySelector(".csv").addEventListener("click", () =>
      download(fileName(`${this.name} means`, "csv"), new Blob([meansCsv(this)], { type: "text/csv" })));
    this.topicsTable = new SortedTable(this.$(".all-topics"), { what: this.unit,
      pinned: (row) => Number(row.dataset.i) === this.chosen?.topic });
    this.$(".all-topics .csv").addEventListener("click", () =>
      download(fileName(`${this.name} ${this.runs[this.chosen.run]} topics`, "csv"),
        new Blob([topicsCsv(this)], { type: "text/csv" })));
    this.$(".all-topics-box").addEventListener("toggle", () => this.fillTopics());
  }

  setUpFigures() {
    const add = (selector, draw) => {
      const host = this.$(selector);
      if (host) this.figures.push(new Figure(host, (width) => draw(this, this.chosen, width)));
    };
    const place = (i) => (draw) => (part, chosen, width) =>
      draw(part, chosen, chosen.pair.measures[Math.min(i, chosen.pair.measures.length - 1)], width);
    add(".overview", drawOverview);
    add(".on-topic", drawOnTopic);
    add(".strips", drawStrips);
    for (const i of [0, 1]) {
      add(`.topics-${i}`, place(i)(drawTopics));
      add(`.against-${i}`, place(i)((part, chosen, m, width) =>
        (chosen.scatter ? drawScatter : drawDifferences)(part, chosen, m, width)));
    }
  }

  paint() { paintAll(this.unpacked ? this.figures : this.figures.slice(0, 1)); }

  /** Show the choices that stand in an address; the others are as at the start. */
  show(choices) {
    const known = (name, list, otherwise) => list.includes(choices[name]) ? choices[name] : otherwise;
    const measure = this.byName.get(known("measure", [...this.byName.keys()], this.start.measure));
    const run = known("run", this.runs, this.start.run);
    let against = known("against", this.names, this.start.against);
    if (against === run) against = this.names.find((other) => other !== run) ?? run;
    this.chosen = { measure, pair: this.pair(measure), run: this.runs.indexOf(run),
      against: this.names.indexOf(against), scatter: choices.as === "scatter",
      topic: this.topics.indexOf(choices.topic) };
    const selected = { measure: measure.name, run, against };
    for (const select of this.root.querySelectorAll("select[data-choice]")) {
      select.value = selected[select.dataset.choice];
    }
    this.showWords();
    this.showTable(choices.sort);
    if (this.unpacked) this.showRun();
    this.paint();
  }

  showWords() {
    const { measure } = this.chosen;
    for (const name of ["words", "trust"]) {
      const list = this.$(`.${name}`);
      list.replaceChildren(...measure[name].map((sentence) => html("li", {}, sentence)));
      list.hidden = !measure[name].length;
    }
    for (const place of this.root.querySelectorAll(".measure-name")) place.textContent = measure.name;
  }

  showTable(sort) {
    const { measure } = this.chosen;
    const { table } = this.table;
    const { head, direction } = this.sorting(sort)
      ?? this.sorting(`${measure.name}:${measure.sign > 0 ? "descending" : "ascending"}`);
    // Ranks are by the measure that the rows are sorted by, if they are by one.
    const ranking = this.byName.get(head.dataset.column) ?? measure;
    for (const row of table.querySelectorAll("tr[data-i]")) this.showTableRow(row, ranking);
    for (const by of table.querySelectorAll(".by")) nameRanks(by, ranking);
    this.table.sort(head, direction);
    const box = table.parentNode, shown = this.headOf(ranking.name);
    box.scrollLeft = Math.max(0, shown.offsetLeft + shown.offsetWidth - box.clientWidth);
  }

  unknown(choices) { return unknownIn(this, choices); }

  headOf(column) { return [...this.table.table.tHead.rows[0].cells].find((th) => th.dataset.column === column); }

  /** The column that an address sorts by, and in which direction; null if it names none. */
  sorting(sort) {
    const [column, direction] = (sort ?? "").split(/:(?=[^:]*$)/);
    const head = this.headOf(column);
    return head && ["ascending", "descending"].includes(direction) ? { head, direction } : null;
  }

  showTableRow(row, measure) {
    const run = Number(row.dataset.i);
    const rank = row.querySelector(".rank");
    if (rank) fillRank(rank, measure, run);
    const among = row.querySelector(".among");
    if (among) {
      among.textContent = measure.placeRanks[run] ?? MISSING;
      among.title = measure.places[run] ?? "";
    }
    row.toggleAttribute("aria-current", run === this.chosen.run);
    for (const cell of row.querySelectorAll("td[data-m]")) {
      cell.firstElementChild.toggleAttribute("aria-current",
        run === this.chosen.run && cell.dataset.m === this.chosen.measure.name);
    }
  }

  showRun() {
    const { run, pair, against } = this.chosen;
    for (const place of this.root.querySelectorAll(".run-name")) place.textContent = this.runs[run];
    for (const place of this.root.querySelectorAll(".against-name")) place.textContent = this.names[against];
    this.$(".numbers").replaceChildren(...meanNumbers(this).map(([name, value, explanation]) =>
      html("div", {}, html("dt", {}, name), html("dd", {}, value), html("dd", { class: "note" }, explanation))));
    this.$(".topics-1").hidden = pair.measures.length < 2;
    this.$(".topics-caption").textContent = topicsCaption(this);
    pair.measures.forEach((m, i) => {
      for (const title of this.root.querySelectorAll(`.title-${i}`)) {
        title.textContent = `${m.name}, ${m.base ? "standardized" : "raw"}`;
      }
    });
    const known = pair.measures.some((m) => m.peers);
    this.root.querySelectorAll(".of-systems").forEach((words) => { words.hidden = !known; });
    this.root.querySelectorAll(".of-runs").forEach((words) => { words.hidden = known; });
    this.showAgainst();
    this.showFarthest();
    this.showTopic();
    this.fillTopics();
  }

  /** All runs on the topic that is chosen. */
  showTopic() {
    const { run, topic, pair } = this.chosen;
    this.$(".one-topic").hidden = topic < 0;
    if (topic < 0) return;
    const m = shownByTopic(this.chosen);
    for (const place of this.root.querySelectorAll(".topic-name")) place.textContent = this.topics[topic];
    this.$(".topic-query").textContent = this.queries[topic] ?? "";
    this.$(".topic-measure").textContent = m.name;
    this.$(".topic-line").textContent = `${this.runs[run]}: ${scoreLines(this, this.chosen, topic).join("; ")}`;
    const known = this.$(".topic-systems");
    if (known) known.hidden = !pair.byTopic || pair.byTopic.mean[topic] === null;
    showRankings(this);
  }

  showAgainst() {
    const { pair, scatter } = this.chosen;
    if (!this.$(".against")) return;
    this.$(".against-1").hidden = pair.measures.length < 2;
    this.$(".as-scatter").checked = scatter;
    const drawn = this.$(".strips-of-pair");
    if (drawn) drawn.replaceChildren(...whereDrawn(this));
    this.$(".against-caption").replaceChildren(...pair.measures.map((m) => html("p", {}, againstCaption(this, m))));
  }

  topicLink(topic, place = ".one-topic") {
    const change = { topic: this.topics[topic] };
    const link = html("a", { href: this.address.of(this, change) }, this.topics[topic]);
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;  // into a window of its own
      event.preventDefault();
      this.go(change, place);
    });
    return link;
  }

  topicRow(topic) {
    const query = this.queries[topic];
    const row = html("tr", { "data-i": topic, class: topic === this.chosen.topic ? "chosen" : null },
      html("th", { scope: "row" }, this.topicLink(topic), query ? html("span", { class: "query" }, query) : null),
      topicCells(this, topic).map((content) => html("td", {}, content)));
    return row;
  }

  headRow(sortable) {
    return html("tr", {}, topicHead(this).map(([name, first]) => html("th",
      { scope: "col", "data-first": first, "data-head": sortable ? name : null },
      sortable ? html("button", { type: "button" }, name) : name)));
  }

  showFarthest() {
    const { run, pair: { byTopic: b } } = this.chosen;
    const section = this.$(".farthest");
    section.hidden = !b;
    if (!b) return;
    const z = (topic) => this.z(b, run, topic);
    const known = [...this.topics.keys()].filter((t) => z(t) !== null).sort((x, y) => z(y) - z(x));
    const fill = (selector, topics) => {
      const table = this.$(selector);
      table.tHead.replaceChildren(this.headRow(false));
      table.tBodies[0].replaceChildren(...topics.slice(0, FARTHEST).map((t) => this.topicRow(t)));
    };
    fill(".above", known.filter((t) => z(t) > 0));
    fill(".below", known.filter((t) => z(t) < 0).reverse());
  }

  /** The table of all topics is made when it is first looked at. */
  fillTopics() {
    if (!this.$(".all-topics-box").open) return;
    const { table } = this.topicsTable;
    const sorted = table.tHead.querySelector("[aria-sort]");
    const column = sorted?.textContent, direction = sorted?.getAttribute("aria-sort");
    table.tHead.replaceChildren(this.headRow(true));
    table.tBodies[0].replaceChildren(...[...this.topics.keys()].map((t) => this.topicRow(t)));
    const head = [...table.tHead.rows[0].cells].find((th) => th.textContent === column);
    if (head) this.topicsTable.sort(head, direction);
    else this.topicsTable.show();
  }
}
