// The record of html/record.py: its fields, and values computed from these.  A test compares the fields with record.py.

/** One measure of a collection; lists have one value per run, and matrices have one value per run and topic. */
class Measure {
  constructor({ name, raw, scored, standardized, sign, rawSign, headline, deck, warnings, trust, placeHeading,
    topicsHeading, ticks, average, limits, means, scores, low, high, rank, couldBeFirst, best, worst, place, placeOf,
    among, placeBest, placeWorst, difference, p, detectable, verdict, systems, byTopic, scoresByTopic, places,
    systemsOn, systemsByTopic }) {
    Object.assign(this, { name, raw, scored, standardized, sign, rawSign, headline, deck, warnings, trust,
      placeHeading, topicsHeading, ticks, average, limits, means, scores, low, high, rank, couldBeFirst, best, worst,
      place, placeOf, among, placeBest, placeWorst, difference, p, detectable, verdict, systems, byTopic,
      scoresByTopic, places, systemsOn, systemsByTopic });
  }

  /** A run's raw score on a topic. */
  value(run, topic) { return parts(this.byTopic[run]?.[topic]); }

  /** The score that pictures show. */
  score(run, topic) { return this.scoresByTopic ? parts(this.scoresByTopic[run]?.[topic]) : this.value(run, topic); }

  /** The average in pictures of topics; null if topics have only raw scores of a standardized measure. */
  get topicAverage() { return this.scoresByTopic || !this.standardized ? this.average : null; }

  /** -1 if lower is better for the topic scores of pictures, else 1. */
  get topicSign() { return this.scoresByTopic ? this.sign : this.rawSign; }

  /** Whether the topic score b is better than a. */
  better(a, b) { return this.topicSign * (b - a) > 0; }
}

/** Topic scores are stored in ten-thousandths. */
const parts = (whole) => whole === null || whole === undefined ? null : whole / 1e4;

class Collection {
  constructor({ name, unit, systemsWord, runsWord, runs, systems, topics, queries, subject, rival, baseline, broken,
    measures, rankings }) {
    Object.assign(this, { name, unit, systemsWord, runsWord, runs, systems, topics, queries, subject, rival, baseline,
      broken, rankings });
    this.measures = measures.map((measure) => new Measure(measure));
    /** The runs and systems that users can compare: the runs, and the track's systems with known scores. */
    this.names = [...runs, ...systems];
  }

  /** The word for one run: "run" or "model". */
  get runWord() { return this.runsWord.slice(0, -1); }

  /** True if the page is about a single run, or about a run and its rival. */
  get isPair() { return this.rival !== null || this.runs.length === 1; }

  /** The text of a topic, or its id if there is no text. */
  topicName(topic) { return this.queries[topic] ? `“${this.queries[topic]}”` : `${this.unit} ${this.topics[topic]}`; }

  /** Runs, best first. */
  ranked(m) {
    const rank = (run) => m.rank[run] ?? Infinity;
    return [...this.runs.keys()].sort((a, b) => rank(a) - rank(b) || a - b);
  }

  /** Topics, hardest first, by the mean of the systems, or else by the mean of the runs. */
  byHardness(m) {
    const of = (topic) => m.systemsByTopic?.[topic]
      ?? mean(this.runs.map((_, run) => m.value(run, topic)).filter((value) => value !== null));
    const hardness = this.topics.map((_, topic) => m.rawSign * of(topic));
    return [...this.topics.keys()].sort((a, b) => hardness[a] - hardness[b] || a - b);
  }

  /** The number of places if it is equal for all runs, else null; runs that lack datasets have fewer places. */
  placesOf(m) {
    const known = [...new Set(m.placeOf.filter((n) => n !== null))];
    return known.length === 1 ? known[0] : null;
  }

  placeText(m, run) { return m.place[run] === null ? "" : `${ordinal(m.place[run])} of ${m.placeOf[run]}`; }

  /** The place of a run on a topic, such as "7th of 37"; empty if it is unknown. */
  topicPlace(m, run, topic) {
    const place = m.places?.[run]?.[topic];
    return place ? `${ordinal(place)} of ${m.systemsOn[topic] + !m.among[run]}` : "";
  }
}
