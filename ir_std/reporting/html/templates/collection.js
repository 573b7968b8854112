// The record of html/record.py: its fields, and what follows from them.  A test compares both sides.

/** One measure of a collection; lists are by run, matrices by run and topic. */
class Measure {
  constructor({ name, raw, scored, standardized, sign, headline, deck, warnings, trust, placeHeading, topicsHeading,
    ticks, average, limits, means, scores, low, high, rank, couldBeFirst, best, worst, place, placeOf, among,
    placeBest, placeWorst, difference, p, detectable, verdict, systems, byTopic, scoresByTopic, places, systemsOn,
    systemsByTopic }) {
    Object.assign(this, { name, raw, scored, standardized, sign, headline, deck, warnings, trust, placeHeading,
      topicsHeading, ticks, average, limits, means, scores, low, high, rank, couldBeFirst, best, worst, place, placeOf,
      among, placeBest, placeWorst, difference, p, detectable, verdict, systems, byTopic, scoresByTopic, places,
      systemsOn, systemsByTopic });
  }

  /** A run's raw score on a topic. */
  value(run, topic) { return parts(this.byTopic[run]?.[topic]); }

  /** The score that pictures show. */
  score(run, topic) { return this.scoresByTopic ? parts(this.scoresByTopic[run]?.[topic]) : this.value(run, topic); }

  /** The scale of the pictures by topic: of a whole dataset topics have raw scores alone. */
  get topicAverage() { return this.scoresByTopic || !this.standardized ? this.average : null; }

  /** Whether b is better than a. */
  better(a, b) { return this.sign * (b - a) > 0; }
}

/** Scores by topic are in ten-thousandths. */
const parts = (whole) => whole === null || whole === undefined ? null : whole / 1e4;

class Collection {
  constructor({ name, unit, systemsWord, runsWord, runs, systems, topics, queries, subject, rival, baseline, broken,
    measures, rankings }) {
    Object.assign(this, { name, unit, systemsWord, runsWord, runs, systems, topics, queries, subject, rival, baseline,
      broken, rankings });
    this.measures = measures.map((measure) => new Measure(measure));
    /** What can be set against each other: the runs, and the systems of the track whose scores are known. */
    this.names = [...runs, ...systems];
  }

  /** What one of the runs is called. */
  get runWord() { return this.runsWord.slice(0, -1); }

  /** Whether the page opens with one run beside another, or by itself. */
  get isPair() { return this.rival !== null || this.runs.length === 1; }

  /** How a topic is called: by its text, else by its id. */
  topicName(topic) { return this.queries[topic] ? `“${this.queries[topic]}”` : `${this.unit} ${this.topics[topic]}`; }

  /** Runs from the best on. */
  ranked(m) {
    const rank = (run) => m.rank[run] ?? Infinity;
    return [...this.runs.keys()].sort((a, b) => rank(a) - rank(b) || a - b);
  }

  /** Topics from the hardest on: by the mean of the systems, else of the runs. */
  byHardness(m) {
    const of = (topic) => m.systemsByTopic?.[topic]
      ?? mean(this.runs.map((_, run) => m.value(run, topic)).filter((value) => value !== null));
    const hardness = this.topics.map((_, topic) => m.sign * of(topic));
    return [...this.topics.keys()].sort((a, b) => hardness[a] - hardness[b] || a - b);
  }

  /** Of how many the places of all runs are; null if that differs, as where runs lack datasets. */
  placesOf(m) {
    const known = [...new Set(m.placeOf.filter((n) => n !== null))];
    return known.length === 1 ? known[0] : null;
  }

  placeText(m, run) { return m.place[run] === null ? "" : `${ordinal(m.place[run])} of ${m.placeOf[run]}`; }

  /** The place of a run on a topic, "7th of 37"; empty if it is not known. */
  topicPlace(m, run, topic) {
    const place = m.places?.[run]?.[topic];
    return place ? `${ordinal(place)} of ${m.systemsOn[topic] + !m.among[run]}` : "";
  }
}
