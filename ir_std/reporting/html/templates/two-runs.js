// Two runs, topic by topic: the picture of their topics, and both rankings of the open topic.

/** Number of topics in each of the lists of losses and gains. */
const LISTED = 5;

class TwoRuns {
  /** `root` holds the panel, and `figure` holds the picture of the topics. */
  constructor(root, figure, collection, onOpen) {
    this.root = root;
    this.figure = figure;
    this.collection = collection;
    this.onOpen = onOpen;
  }

  /** Show two runs for a measure; if `topic` is null, open the largest loss with known rankings. */
  show(m, run, against, topic) {
    this.m = m;
    this.run = run;
    this.against = against;
    this.topic = topic ?? this.byDifference().find((t) => this.ranking(t)) ?? this.byDifference()[0] ?? null;
    this.paint();
    this.root?.replaceChildren(...this.panel());
  }

  open(topic) {
    this.show(this.m, this.run, this.against, topic);
    this.onOpen(topic);
  }

  paint() {
    const width = this.figure.clientWidth || this.figure.parentNode.clientWidth;
    if (!width) return;
    const isAlone = this.figure.closest(".pair").classList.contains("alone");
    this.figure.replaceChildren(drawTopics(this.collection, this.m, this, Math.min(width, 760), isAlone,
      (topic) => this.open(topic)));
  }

  /** Topics from the largest loss to the largest gain, or from the worst to the best score of a single run. */
  byDifference() {
    const of = this.against === null ? (topic) => this.m.topicSign * (this.m.score(this.run, topic) ?? Infinity)
      : (topic) => difference(this.m, this.run, this.against, topic);
    return [...this.collection.topics.keys()].map((topic) => [topic, of(topic)])
      .sort((a, b) => a[1] - b[1] || a[0] - b[0]).map(([topic]) => topic);
  }

  /** Documents of both runs on a topic, with id, level and ranks; null if the page lacks the documents. */
  ranking(topic) {
    const { rankings } = this.collection;
    const both = [this.run, this.against].map((who) => rankings.runs?.indexOf(who) ?? -1);
    const found = rankings.topics?.[topic];
    if (!found || both.includes(-1)) return null;
    return found.documents.map((id, i) => ({ id, level: found.levels[i], ranks: both.map((n) => found.ranks[n][i]) }));
  }

  panel() {
    const { collection, topic } = this;
    if (topic === null) return [];
    return [html("nav", { class: "pick", "aria-label": `${capital(collection.unit)}s` }, this.pick()),
      html("div", { class: "opened", role: "status" }, this.heading(), this.documents())];
  }

  /** The largest losses and gains, and a list of all topics. */
  pick() {
    const { collection, m } = this;
    const order = this.byDifference().filter((t) => m.score(this.run, t) !== null);
    const group = (title, topics) => topics.length ? html("div", {}, html("h3", {}, title), topics.map((t) =>
      html("button", { type: "button", "aria-pressed": `${t === this.topic}`, onclick: () => this.open(t) },
        collection.queries[t] ?? collection.topics[t],
        html("span", {}, this.against === null ? fixed(m.score(this.run, t), 2)
          : signed(m.rawSign * difference(m, this.run, this.against, t), 2))))) : null;
    const gains = this.against === null ? order.slice(LISTED).slice(-LISTED).reverse()
      : order.filter((t) => difference(m, this.run, this.against, t) > 0).slice(-LISTED).reverse();
    const losses = this.against === null ? order.slice(0, LISTED)
      : order.filter((t) => difference(m, this.run, this.against, t) < 0).slice(0, LISTED);
    const select = html("select", { onchange: (event) => this.open(Number(event.target.value)) },
      [...collection.topics.keys()].map((t) => html("option", { value: t, selected: t === this.topic },
        collection.queries[t] ?? collection.topics[t])));
    return [group(this.against === null ? "Its worst" : "Largest losses", losses),
      group(this.against === null ? "Its best" : "Gains", gains), html("label", {}, `Any ${collection.unit}`, select)];
  }

  heading() {
    const { collection, topic } = this, query = collection.queries[topic];
    const id = collection.topics[topic];
    return html("h3", { class: "query" }, query ? [`“${query}” `, html("small", {}, `${collection.unit} ${id}`)]
      : `${capital(collection.unit)} ${id}`);
  }

  scoreText(who) {
    const { m, topic, collection } = this;
    const place = collection.topicPlace(m, who, topic);
    return `${m.raw} ${fixed(m.value(who, topic), 2)}${place && `, ${place}`}`
      + (m.scoresByTopic && m.score(who, topic) !== null ? `, standardized ${fixed(m.score(who, topic), 2)}` : "");
  }

  name(i) { return html("span", { class: i ? "base" : "run" }, this.collection.names[[this.run, this.against][i]]); }

  documents() {
    const { collection, m, topic } = this, found = this.against === null ? null : this.ranking(topic);
    const names = [this.run, this.against].filter((each) => each !== null);
    if (!found) {
      const average = m.systemsByTopic?.[topic];
      return [names.map((who, i) => html("p", {}, this.name(i), `: ${this.scoreText(who)}`)),
        average === null || average === undefined ? null : html("p", { class: "sub" },
          `The average of the ${collection.systemsWord} is ${fixed(average)}.`),
        this.against === null ? null : html("p", { class: "sub" }, this.whyNot())];
    }
    const { depth } = collection.rankings;
    const sides = [0, 1].map((i) => found.filter(({ ranks }) => ranks[i] && ranks[i] <= depth)
      .sort((a, b) => a.ranks[i] - b.ranks[i]));
    return [this.finding(sides, depth), html("div", { class: "two" }, this.side(sides[0], 0, depth),
      this.links(sides, depth), this.side(sides[1], 1, depth)), this.legend()];
  }

  whyNot() {
    const { rankings } = this.collection;
    if (rankings.why) return rankings.why;
    if (!rankings.topics) return "This page has only the scores of these runs, not their documents.";
    if ([this.run, this.against].every((who) => rankings.runs.includes(who))) {
      return `This page holds the documents of the ${Object.keys(rankings.topics).length} ${this.collection.unit}s `
        + "on which the first two runs differ most.";
    }
    return `This page holds the documents of ${rankings.runs.length} runs: `
      + `${rankings.runs.map((run) => this.collection.runs[run]).join(", ")}. For other runs, use ir_std diff.`;
  }

  /** The number of relevant documents at the top of each run, and how the run ranks those that it misses. */
  finding(sides, depth) {
    const relevant = sides.map((side) => side.filter(({ level }) => level > 0));
    const [mine, theirs] = relevant.map((found) => found.length);
    const missed = relevant[1].filter(({ ranks }) => !ranks[0] || ranks[0] > depth);
    const found = missed.map(({ ranks }) => ranks[0]).filter((rank) => rank > 0).sort((a, b) => a - b);
    const what = (n) => `${n} relevant ${n === 1 ? "document" : "documents"}`;
    return html("p", { class: "finding" },
      this.name(0), ` has ${what(mine)} in its top ${depth}, and `, this.name(1), ` has ${theirs}.`,
      missed.length ? [" ", this.name(0), ...this.further(missed.length, found)] : null);
  }

  /** Where the run has the relevant documents that only the other run has at the top. */
  further(missed, ranks) {
    const at = ranks.length === 1 ? `at rank ${ranks[0]}` : `at ranks ${ranks[0]} to ${ranks.at(-1)}`;
    const theirs = [" of ", this.name(1), "'s relevant documents"];
    if (!ranks.length) return [` did not find ${missed}`, ...theirs, "."];
    const never = missed > ranks.length ? ` and did not find ${missed - ranks.length} of them` : "";
    return [` found ${ranks.length}`, ...theirs, ` only ${at}${never}.`];
  }

  side(documents, i, depth) {
    const score = this.scoreText([this.run, this.against][i]);
    return html("div", { class: i ? "right" : "left" },
      html("div", { class: "head" }, this.name(i), html("small", {}, score)),
      html("ol", {}, documents.map(({ id, level, ranks }) => html("li", {}, html("b", {}, `${ranks[i]}`),
        html("i", { class: `level ${this.kind(level)}`, role: "img",
          "aria-label": level === null ? "not judged" : `level ${level}` }, `${level ?? "?"}`),
        html("code", { title: id }, id), html("em", {}, this.there(ranks[1 - i], depth))))));
  }

  /** The style of a relevance level. */
  kind(level) {
    if (level === null) return "unjudged";
    return level > 0 ? `level${Math.ceil(level / this.collection.rankings.highest * 3)}` : "level0";
  }

  /** The rank of a document in the other run; empty if the document is at the top there, as a curve shows. */
  there(rank, depth) {
    if (!rank) {
      return html("span", { "aria-label": "not there" },
        html("span", { class: "wide" }, "not there"), html("span", { class: "narrow" }, NONE));
    }
    return rank <= depth ? "" : [ordinal(rank), html("span", { class: "wide" }, " there")];
  }

  /** A curve from one rank to the other, for each document that both runs have at the top. */
  links([first, second], depth) {
    const row = (rank) => (rank - 0.5) * 34;
    const both = first.filter((document) => second.includes(document));
    const drawn = both.map(({ ranks: [a, b], level }) => svg("path", { class: level > 0 ? "link relevant" : "link",
      d: `M0 ${row(a)}C45 ${row(a)} 55 ${row(b)} 100 ${row(b)}` }));
    return html("div", { class: "links" },
      svg("svg", { viewBox: `0 0 100 ${34 * depth}`, width: "100%", height: 34 * depth, preserveAspectRatio: "none",
        role: "img", "aria-label": `${plural(both.length, "document")} in both` }, drawn),
      both.length ? null : html("p", {}, "no document", html("br"), `in both top ${depth}s`));
  }

  legend() {
    const { highest } = this.collection.rankings;
    const levels = [...new Set([highest, Math.ceil(highest / 2), 1])].filter((level) => level > 0);
    const square = (kind, label) => html("i", { class: `level ${kind}` }, label);
    const meaning = (level) => {
      if (level === highest && highest > 1) return "highest";
      return level === 1 ? "lowest relevant" : null;
    };
    return html("p", { class: "legend" }, "Relevance:", levels.map((level) => html("span", {},
      square(this.kind(level), `${level}`), meaning(level))),
    html("span", {}, square("level0", "0"), "not relevant"), html("span", {}, square("unjudged", "?"), "not judged"),
    html("span", { class: "wide" }, "“28th there” means rank 28 in the other run"));
  }
}
