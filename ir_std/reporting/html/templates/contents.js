// What is written of one collection: captions, the cells of its tables, and its CSV files.

function meansCsv(part) {
  const columns = part.measures.flatMap((m) => [[m.name, m.means], [`${m.name} low`, m.low],
    [`${m.name} high`, m.high], [`${m.name} rank`, m.ranks], [`${m.name} ranks best`, m.best],
    [`${m.name} ranks worst`, m.worst], [`${m.name} rank among systems`, m.placeRanks],
    ...(part.baseline === null ? [] : [[`${m.name} p`, m.p]])]);
  return csv([["run", ...columns.map(([name]) => name)],
    ...part.runs.map((name, run) => [name, ...columns.map(([, values]) => values[run])])]);
}

/** A rank, and in brackets the ranks that paired comparisons with the other runs do not rule out. */
function fillRank(cell, m, run) {
  cell.dataset.v = m.ranks[run] ?? "";
  cell.replaceChildren(cell.dataset.v || MISSING, ...m.best[run] === null ? []
    : [" ", html("span", { class: "ranks" }, `(${m.best[run]}–${m.worst[run]})`)]);
}

function nameRanks(place, m) {
  place.textContent = `by ${m.name}`;
  place.closest("th").dataset.head = `rank by ${m.name}`;
}

function topicsCsv(part) {
  const { run, pair: { measures, byTopic: b } } = part.chosen;
  const texts = part.queries.length > 0;
  const head = ["topic", ...(texts ? ["query"] : []), ...measures.map((m) => m.name),
    ...(b ? ["z", "rank", `systems’ mean ${b.measure}`, "sd"] : [])];
  return csv([head, ...[...part.topics.keys()].map((topic) => [part.topics[topic],
    ...(texts ? [part.queries[topic]] : []), ...measures.map((m) => part.value(m, run, topic)),
    ...(b ? [part.z(b, run, topic), part.rank(b, run, topic), b.mean[topic], b.sd[topic]] : [])])]);
}

/** The table of all topics: names of its columns, and how each is sorted first. */
function topicHead(part) {
  const { pair: { measures, byTopic: b } } = part.chosen;
  return [[part.unit, "ascending"], ...measures.map((m) => [m.name]),
    ...(b ? [["z"], ["rank", "ascending"], ["systems’ mean"], ["sd"]] : [])];
}

/** The numbers of a topic's row. */
function topicCells(part, topic) {
  const { run, pair: { measures, byTopic: b } } = part.chosen;
  return [...measures.map((m) => fixed(part.value(m, run, topic))),
    ...(b ? [signed(part.z(b, run, topic)), part.rank(b, run, topic) ?? MISSING,
      fixed(b.mean[topic]), fixed(b.sd[topic])] : [])];
}

/** On how many topics the chosen run is above and below the systems. */
function topicsCaption(part) {
  const { run, pair: { behind: b } } = part.chosen;
  if (!b) return "";
  if (b.dataset) {
    return `Only the mean over ${b.dataset} is standardized, no topic by itself: ${b.measure} of the `
      + `${b.counts[0]} systems has the mean ${fixed(b.mean[0])} and the deviation ${fixed(b.sd[0])}.`;
  }
  const count = b.counts.length === 1 ? `${b.counts[0]} ` : "";
  return `${part.runs[run]} is above the mean of the ${count}systems of ${b.set} on `
    + `${plural(b.above[run], part.unit)} (by more than one standard deviation on ${b.farAbove[run]}), `
    + `below it on ${b.below[run]} (by more than one on ${b.farBelow[run]}).`;
}

/** On how many topics the chosen run is better and worse than the other, and where most. */
function againstCaption(part, m) {
  const { run, against } = part.chosen;
  const differences = part.differences(m, run, against);
  const above = differences.filter(([, d]) => d > 0), below = differences.filter(([, d]) => d < 0).reverse();
  const [better, worse] = m.sign > 0 ? [above, below] : [below, above];
  const listed = (topics) => topics.slice(0, FARTHEST)
    .map(([topic, d]) => `${part.topics[topic]} (${signed(d)})`).join(", ");
  return `${m.name}: ${part.runs[run]} is better on ${better.length}, worse on `
    + `${worse.length} of ${plural(differences.length, part.unit)}.`
    + (better.length ? ` Most for it: ${listed(better)}.` : "")
    + (worse.length ? ` Most against it: ${listed(worse)}.` : "");
}

/** [name, value, explanation] of the chosen run's mean: raw, by every scheme, interval, place, test. */
function meanNumbers(part) {
  const { run, measure: m, pair: { behind: b, measures: [base] } } = part.chosen;
  const numbers = b ? b.schemes.map(([scheme, means]) =>
    [scheme === "raw" ? `raw ${b.measure}` : scheme, fixed(means[run]), ""])
    : [[`raw ${base.name}`, fixed(base.means[run]), ""]];
  if (m.low[run] !== null) {
    numbers.push([`${m.name}, 95% interval`, `${fixed(m.low[run])} to ${fixed(m.high[run])}`,
      part.both(m, run) ? `±${fixed(m.overTopics[run])} by ${part.unit}s, ±${fixed(m.overSystems[run])} by systems`
        : `by ${part.unit}s`]);
  }
  if (m.places[run]) numbers.push(["among the systems", m.placeRanks[run] ?? MISSING, m.places[run]]);
  if (m.p[run] !== null) {
    numbers.push([`less ${part.runs[part.baseline]}`, signed(m.differences[run], 4),
      m.p[run] < 0.0001 ? "p < 0.0001" : `p = ${m.p[run].toFixed(4)}`]);
  }
  return numbers;
}
