// The tables: runs with pictures in their rows, the measures of one run, all runs for every measure, and all topics.
/* global LOOK -- report.html writes it */

const cell = (content, attributes = {}) => html("td", attributes, content);
const head = (content, attributes = {}) => html("th", { scope: "col", ...attributes }, content);
const tableOf = (label, heads, rows, cls = "") => html("div",
  { class: "scroll", role: "region", "aria-label": label, tabindex: 0 },
  html("table", { class: cls }, html("thead", {}, html("tr", {}, heads)), html("tbody", {}, rows)));

function kindOf(collection, run, otherwise = "plain") {
  if (run === collection.subject) return "run";
  return collection.baseline && run === collection.rival ? "base" : otherwise;
}

/** A name that can break only after a slash, such as the slash between a team and a model. */
const nameParts = (name) => name.split(/(?<=\/)/).flatMap((part) => [html("wbr"), html("span", { class: "nb" }, part)]);

const nameOf = (collection, run) => html("th", { scope: "row" },
  html("span", { class: `name ${kindOf(collection, run, "")}` }, nameParts(collection.runs[run])),
  collection.broken.includes(run) ? html("small", { class: "warning" }, "looks broken; see the warning") : null);

/** The runs that a picture shows: the first runs, the run that the page is about, and the rival. */
function shownRuns(collection, m) {
  const ranked = collection.ranked(m);
  return ranked.filter((run, i) => i < LOOK.rows || run === collection.subject || run === collection.rival);
}

/** A table of runs: ranks and the ranges of possible ranks, scores with intervals, a cell per topic. */
function runRows(collection, m, choose) {
  const runs = shownRuns(collection, m), n = collection.runs.length;
  const columns = columnsOf(collection.byHardness(m)), placed = m.place.some((place) => place !== null);
  const longest = Math.max(...runs.flatMap((run) => collection.runs[run].split(/(?<=\/)/).map(widthOf)));
  const stripWidth = innerWidth < 700 ? 150 : clip(472 - longest, 150, 252);
  const rows = runs.map((run) => html("tr", { class: m.couldBeFirst[run] ? "could-be-best" : "" },
    nameOf(collection, run),
    cell(rankText(m, run), { class: "ranks" }), cell(rankBar(collection, m, run), { class: "wide bars" }),
    cell(strip(m, [{ kind: kindOf(collection, run), value: m.scores[run], low: m.low[run], high: m.high[run],
      lines: [`${collection.runs[run]}: ${m.scored} ${fixed(m.scores[run])}${intervalText(m, run)}`] }], stripWidth,
    `${m.scored} of ${collection.runs[run]}`), { class: "bars" }),
    cell(html("button", { type: "button", title: `Compare ${collection.runs[run]} with another run`,
      onclick: () => choose(run) }, fixed(m.means[run])), { class: "wide" }),
    placed && cell(placeIn(collection, m, run), { class: "wide" }),
    cell(heatStrip(collection, m, run, columns), { class: "wide topics" })));
  const fromTo = (from, to) => html("span", {}, html("span", {}, from), html("span", {}, to));
  const axis = html("tr", { class: "axis" }, cell(""), cell(""),
    cell(fromTo("1st", ordinal(n)), { class: "wide ends" }), cell(stripAxis(m, stripWidth), { class: "bars" }),
    cell("", { class: "wide" }), placed && cell("", { class: "wide" }),
    cell(fromTo("hardest", "easiest"), { class: "wide ends topics" }));
  const average = m.topicAverage === null ? `your ${collection.runsWord}’ average` : "average";
  const placesOf = collection.placesOf(m);
  const left = runs.length < n && [html("br"), `${runs.length} of ${n} are shown`];
  return tableOf(`Runs by ${m.scored}`, [head([capital(collection.runWord), left]),
    head(["Possible ranks", html("br"), `of ${n}`], { colspan: innerWidth < 700 ? 1 : 2, class: "left" }),
    head([capital(m.scored), html("br"), "with 95% interval"], { class: "left bars" }), head(m.raw, { class: "wide" }),
    placed && head(["Place", html("br"), placesOf ? `of ${placesOf}` : "among systems"], { class: "wide" }),
    head([`Each of the ${collection.topics.length} ${collection.unit}s, hardest first:`, html("br"), "below ",
      html("i", { class: "ramp" }), ` above ${average}`], { class: "wide topics left" })], [...rows, axis], "rows");
}

/** The rank of a run, drawn over the range of ranks that it could have. */
function rankBar(collection, m, run) {
  if (m.rank[run] === null) return null;
  const n = collection.runs.length, kind = kindOf(collection, run), x = linear(1, n, 7, 71);
  const from = x(m.best[run]) - 5, to = x(m.worst[run]) + 5;
  return picture(78, 28, "", line("edge", 0.5, 0, 0.5, 28), line("edge", 77.5, 0, 77.5, 28),
    mark([`${collection.runs[run]}: ${ordinal(m.rank[run])} of ${n}`,
      `could be ${ordinal(m.best[run])} to ${ordinal(m.worst[run])}`], {},
    svg("rect", { class: `range ${kind}`, x: from, y: 9, rx: 5, height: 10, width: to - from }),
    dot(`dot ${kind}`, x(m.rank[run]), 14, 4.5)));
}

/** A place, with the number of places if it differs between runs. */
function placeIn(collection, m, run) {
  if (m.place[run] === null) return NONE;
  return collection.placesOf(m) ? ordinal(m.place[run]) : collection.placeText(m, run);
}

/** A range of ranks. */
function rankText(m, run) {
  if (m.rank[run] === null) return NONE;
  return m.best[run] === m.worst[run] ? `${m.best[run]}` : `${m.best[run]}–${m.worst[run]}`;
}

/** A table of one run or two runs, with a row for each measure. */
function measureRows(collection) {
  const { subject: run, rival } = collection, two = rival !== null;
  const shown = (m, who, kind) => ({ kind, value: m.scores[who],
    lines: [`${collection.runs[who]}: ${m.scored} ${fixed(m.scores[who])}`] });
  const rows = collection.measures.map((m) => html("tr", {}, html("th", { scope: "row" }, m.name),
    cell(fixed(m.means[run]), { class: "run" }), two && cell(fixed(m.means[rival])),
    two && cell([signed(meanDifference(m, run, rival)), verdictOf(m, run)]),
    cell(m.place[run] === null ? NONE : [ordinal(m.place[run]), html("small", {}, `of ${m.placeOf[run]}`)]),
    cell(strip(m, [...two ? [shown(m, rival, "base")] : [], shown(m, run, "run")], 252,
      `${m.scored} among the ${collection.systemsWord}`, m.systems.map(([, score]) => score)), { class: "wide bars" }),
    cell(m.standardized ? [fixed(m.scores[run], 2), html("small", {}, endsText(m, run))] : NONE, { class: "wide" })));
  const averages = [...new Set(collection.measures.filter((m) => m.standardized).map((m) => m.average))];
  const named = (who, cls) => head(collection.runs[who], { class: cls, title: collection.runs[who] });
  return tableOf("By every measure", [head("Measure"), named(run, "run name"), two && named(rival, "name"),
    two && head("Difference"), head("Place"),
    head(`The ${collection.systemsWord}, by standardized score`, { class: "wide left" }),
    head(["Standardized", averages.length === 1 && averages[0] !== null
      && [html("br"), `(average: ${averages[0]})`]], { class: "wide" })], rows, "measures");
}

/** Whether the difference of two runs is clear. */
function verdictOf(m, run) {
  if (m.p[run] === null) return html("small", {}, "");
  return html("small", { "data-tip": testText(m, run) }, m.verdict[run] ? "clear" : "may be chance");
}

const endsText = (m, run) => m.low[run] === null ? "" : `${fixed(m.low[run], 2)} to ${fixed(m.high[run], 2)}`;
const meanDifference = (m, run, rival) => m.means[run] === null || m.means[rival] === null ? null
  : m.means[run] - m.means[rival];
/** The p-value of a difference, and the smallest difference that the test could have found. */
const testText = (m, run) => `${m.scored}: ${pText(m.p[run])}` + (m.detectable[run] === null ? ""
  : `\nthe test would have found a difference of ${fixed(m.detectable[run])} four times in five`);
const pText = (p) => p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;

/** The table of all runs for every measure, which users can sort, filter and unfold. */
class RunsTable {
  constructor(collection, m) {
    this.collection = collection;
    this.sorted = { column: "rank", down: false };
    this.standardized = false;
    this.all = false;
    this.wanted = "";
    this.m = m;
    this.root = html("div", { class: "runs" });
    const toggle = [["Raw", false], ["Standardized", true]].map(([name, standardized]) => html("button", {
      type: "button", "aria-pressed": `${!standardized}`, onclick: ({ target }) => {
        this.standardized = standardized;
        for (const button of target.parentNode.children) button.setAttribute("aria-pressed", `${button === target}`);
        this.show(this.m);
      } }, name));
    const many = collection.runs.length > LOOK.folded;
    this.tools = html("div", { class: "tools" },
      many && html("label", {}, `Find a ${collection.runWord} `, html("input", { type: "search", oninput: (event) => {
        this.wanted = event.target.value.toLowerCase();
        this.show(this.m);
      } })), collection.measures.some((one) => one.standardized)
        && html("span", { class: "choice", role: "group", "aria-label": "Scores" }, toggle));
    this.body = html("div");
    this.more = html("button", { type: "button", class: "more", onclick: () => {
      this.all = !this.all;
      this.show(this.m);
    } });
    this.root.append(this.tools, this.body, this.more);
    this.show(m);
  }

  values(column) {
    const { collection, m, standardized } = this;
    if (column === "run") return collection.runs.map((_, run) => run);
    if (column === "rank") return m.rank;
    if (column === "place") return m.place;
    return collection.measures[column][standardized ? "scores" : "means"];
  }

  signOf(one) { return this.standardized ? one.sign : one.rawSign; }

  order() {
    const { column, down } = this.sorted, values = this.values(column);
    const names = this.collection.runs;
    const compare = column === "run" ? (a, b) => names[a].localeCompare(names[b], "en", { numeric: true })
      : (a, b) => values[a] - values[b];
    return this.collection.ranked(this.m).sort((a, b) =>
      (values[a] === null) - (values[b] === null) || (down ? -1 : 1) * compare(a, b));
  }

  show(m) {
    this.m = m;
    const { collection } = this, n = collection.runs.length;
    const order = this.order().filter((run) => collection.runs[run].toLowerCase().includes(this.wanted));
    const shown = order.filter((run, i) => this.all || this.wanted || i < LOOK.folded
      || run === collection.subject || run === collection.rival);
    const best = collection.measures.map((one, i) => {
      const known = this.values(i).filter((value) => value !== null);
      return this.signOf(one) > 0 ? Math.max(...known) : Math.min(...known);
    });
    const placed = m.place.some((place) => place !== null);
    const rows = shown.map((run) => html("tr", { class: m.couldBeFirst[run] ? "could-be-best" : "" },
      nameOf(collection, run),
      n > 1 && cell([m.rank[run] === null ? NONE : `${m.rank[run]} `, html("span", { class: "of" }, rankText(m, run))]),
      collection.measures.map((one, i) => this.score(one, run, this.values(i)[run], best[i])),
      placed && cell(placeIn(collection, m, run))));
    const among = collection.placesOf(m) || collection.systemsWord;
    this.body.replaceChildren(tableOf("Runs by every measure", [
      this.sortable("run", capital(collection.runWord), false), n > 1 && this.sortable("rank", "Rank", false),
      collection.measures.map((one, i) =>
        this.sortable(i, this.standardized ? one.name : one.raw, this.signOf(one) > 0)),
      placed && this.sortable("place", `Place among ${among}`, false)], rows, "by-measure"));
    this.more.hidden = n <= shown.length && !this.all || n <= LOOK.folded;
    this.more.textContent = this.all ? `Show the first ${LOOK.folded}` : `Show all ${n} ${collection.runsWord}`;
  }

  /** A column heading; a click sorts by the column, and another click reverses the order. */
  sortable(column, content, down) {
    const isSorted = this.sorted.column === column;
    const direction = this.sorted.down ? "descending" : "ascending";
    return head(html("button", { type: "button", onclick: () => {
      this.sorted = { column, down: this.sorted.column === column ? !this.sorted.down : down };
      this.show(this.m);
    } }, content), { "aria-sort": isSorted ? direction : null });
  }

  /** A run's score for a measure, marked if it is the best or clearly differs from the baseline. */
  score(one, run, value, best) {
    const low = one.best[run] && !one.couldBeFirst[run] ? "low" : "";
    const standardized = one.standardized ? `\nstandardized ${fixed(one.scores[run])}` : "";
    const place = one.place[run] === null ? "" : `\n${this.collection.placeText(one, run)}`;
    const said = `${this.collection.runs[run]}: ${one.raw} ${fixed(one.means[run])}`;
    return cell([fixed(value), this.mark(one, run)], { class: value === best ? "best" : low,
      "data-tip": said + standardized + intervalText(one, run) + place
        + (one.p[run] === null ? "" : `\n${testText(one, run)}`) });
  }

  /** The mark of a run that is clearly better or worse than the baseline. */
  mark(one, run) {
    if (!this.collection.baseline || !one.verdict[run]) return null;
    const isBetter = one.verdict[run] > 0;
    return html("sup", { "aria-label": isBetter ? "clearly better" : "clearly worse" }, isBetter ? "+" : "−");
  }
}

function meansCsv(collection) {
  const columns = collection.measures.flatMap((m) => [[m.raw, m.means], ...m.standardized ? [[m.scored, m.scores]] : [],
    [`${m.name} low`, m.low], [`${m.name} high`, m.high], [`${m.name} rank`, m.rank], [`${m.name} rank best`, m.best],
    [`${m.name} rank worst`, m.worst], [`${m.name} place`, m.place],
    ...collection.rival === null ? [] : [[`${m.name} difference`, m.difference], [`${m.name} p`, m.p],
      [`${m.name} detectable`, m.detectable]]]);
  return csv([["run", ...columns.map(([name]) => name)],
    ...collection.runs.map((name, run) => [name, ...columns.map(([, values]) => values[run])])]);
}

function topicsCsv(collection, m) {
  const texts = collection.queries.length > 0;
  return csv([[collection.unit, ...texts ? ["query"] : [], "run", m.raw, ...m.scoresByTopic ? [m.scored] : [], "place"],
    ...collection.topics.flatMap((id, topic) => collection.runs.map((name, run) => [
      id, ...texts ? [collection.queries[topic]] : [], name, m.value(run, topic),
      ...m.scoresByTopic ? [m.score(run, topic)] : [], m.places?.[run][topic] ?? null]))]);
}

/** All topics, with the largest loss first. */
function topicRows(collection, m, { run, against }, order, open) {
  const two = against !== null;
  const link = (t) => html("a", { href: `#topic=${encodeURIComponent(collection.topics[t])}`, onclick: (event) => {
    event.preventDefault();
    open(t);
  } }, collection.queries[t] ?? collection.topics[t]);
  const rows = order.map((t) => html("tr", {}, html("th", { scope: "row" }, link(t)),
    cell(fixed(m.value(run, t)), { class: "run" }), two && cell(fixed(m.value(against, t))),
    two && cell(signed(m.rawSign * difference(m, run, against, t))),
    m.places && cell(collection.topicPlace(m, run, t) || NONE),
    m.scoresByTopic && cell(fixed(m.score(run, t), 2)), m.systemsByTopic && cell(fixed(m.systemsByTopic[t])),
    collection.queries.length > 0 && cell(html("code", {}, collection.topics[t]))));
  return tableOf(`All ${collection.unit}s`, [head(capital(collection.unit)),
    head(collection.names[run], { class: "run" }), two && head(collection.names[against]),
    two && head("Difference"), m.places && head("Place"), m.scoresByTopic && head("Standardized"),
    m.systemsByTopic && head(`Mean of the ${collection.systemsWord}`),
    collection.queries.length > 0 && head("id")], rows, "topics");
}
