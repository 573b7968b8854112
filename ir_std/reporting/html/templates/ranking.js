// Pictures of runs in the order of their values: all runs by mean, and all runs on one topic.

/** With more runs than this a picture shows their shape, in a fixed height, and names some. */
const MANY_RUNS = 30;
const LABELLED = 10;
/** With more runs than this intervals would merge: the chosen run has its own, and the one pointed to. */
const DENSE_RUNS = 150;
const FIXED_HEIGHT = 360;

/** Heights as near to those wanted as the order and a `gap` between them allow. */
function spaced(wanted, gap, low, high) {
  const placed = [...wanted];
  for (let i = 0; i < placed.length; i += 1) {
    placed[i] = Math.max(placed[i], i ? placed[i - 1] + gap : low);
  }
  for (let i = placed.length - 1, most = high; i >= 0 && placed[i] > most; i -= 1, most -= gap) {
    placed[i] = most;
  }
  return placed;
}

/** All runs by mean, with intervals as far as means can be, among the standardizing systems. */
function drawOverview(part, chosen, width) {
  const m = chosen.measure;
  const range = m.systems.length ? [m.systems[0], m.systems[m.systems.length - 1]] : null;
  return drawRanking(part, chosen, width, {
    ...m, low: m.low.map(cutTo(m.limits)), high: m.high.map(cutTo(m.limits)), values: m.means, range,
    name: `${part.name} ${m.name} runs`, label: `mean ${m.name}`,
    both: (run) => part.both(m, run),
    lines: (run) => [`${m.name} ${fixed(m.means[run])}${part.intervalText(m, run)}`,
      ...(m.places[run] ? [m.places[run]] : [])],
    go: (run) => part.go({ run: part.runs[run] }, ".one-run") });
}

/** The measure of the pictures by topic: of a whole data set the raw one, which alone has topics. */
const shownByTopic = ({ measure, pair }) => measure.byTopic ? measure : pair.measures[0];

/** All runs on one topic, among the standardizing systems there. */
function drawOnTopic(part, chosen, width) {
  const { topic } = chosen;
  if (topic < 0) return null;
  const m = shownByTopic(chosen);
  const none = part.runs.map(() => null);
  const of = (name) => m.peers ? at(m.peers[name], topic) : null;
  const between = (...names) => names.some((name) => of(name) === null) ? null : names.map(of);
  const marked = part.systems.names.map((name, i) => ({ name, value: part.value(m, part.runs.length + i, topic),
    go: () => part.go({ against: name }, ".against") })).filter(({ value }) => value !== null)
    .map((system) => ({ ...system, lines: [system.name, `${m.name} ${fixed(system.value)}`] }));
  return drawRanking(part, chosen, width, {
    sign: m.sign, values: part.runs.map((_, run) => part.value(m, run, topic)), low: none, high: none,
    systems: marked.map(({ value }) => value), marked,
    range: between("least", "most"), band: between("low", "high"), systemsMean: of("mean"),
    name: `${part.name} topic ${part.topics[topic]} ${m.name}`,
    label: `${m.name} on topic ${part.topics[topic]}`, both: () => false,
    lines: (run) => scoreLines(part, { ...chosen, run }, topic),
    go: (run) => part.go({ run: part.runs[run] }) });
}

/** Room and scales of a picture of ranked runs. */
function rankingLayout(part, chosen, m, width) {
  const value = (run) => m.values[run];
  const ranked = [...part.runs.keys()].filter((run) => value(run) !== null)
    .sort((a, b) => m.sign * (value(b) - value(a)) || a - b);
  const many = ranked.length > MANY_RUNS;
  const letters = Math.max(9, Math.min(24, Math.floor(width / 30)));
  const named = new Set(many
    ? [...ranked.slice(0, LABELLED), chosen.run, part.baseline, ...part.own.slice(0, LABELLED)] : ranked);
  const room = Math.max(64, ...[...named].filter((r) => r !== null)
    .map((r) => widthOf(shortened(part.runs[r], letters)))) + 14;
  // Names of many runs stand right of all that is drawn, where no line crosses them.
  const left = many ? 10 : room, right = width - (many ? room + LEADER : 14);
  const top = 6;
  const pitch = many ? FIXED_HEIGHT / ranked.length : 22;
  const [low, high] = extent(m.low, m.high, m.values, m.range ?? [], m.band ?? []);
  const pad = (high - low) * 0.03 || 0.05;
  return { ranked, many, dense: ranked.length > DENSE_RUNS, named, letters, left, right, top, pitch,
    bottom: top + Math.max(ranked.length * pitch, 44),
    strip: m.systems.length ? 26 : 0, x: scale(low - pad, high + pad, left, right),
    y: (place) => top + (place + 0.5) * pitch };
}

/** The standardizing systems: shaded range, axis, mean, and a tick for each below. */
function rankingBackground(m, { x, top, bottom, left, right, many, strip }) {
  const shaded = [["area", m.range], ["band", m.band]].filter(([, ends]) => ends).map(([cls, ends]) => {
    const [first, last] = ends.map(x);
    return svg("rect", { class: cls, x: first, y: top, width: last - first, height: bottom - top });
  });
  const parts = [...shaded,
    bottomAxis(x, top, bottom + strip, ticks(x.low, x.high, Math.max(6, (x.to - x.from) / 110)), m.label)];
  if (m.systemsMean !== null) {
    parts.push(svg("path", { class: "mean", d: `M${x(m.systemsMean)} ${top}V${bottom + strip}` }));
  }
  if (strip) {
    parts.push(svg("path", { class: "systems",
      d: m.systems.map((mean) => `M${x(mean).toFixed(1)} ${bottom + 6}v14`).join("") }),
    text("small", many ? right + 6 : left - 10, bottom + 17, many ? "start" : "end", `${m.systems.length} systems`));
  }
  return parts;
}

/** Every second group of runs that cannot be told apart, as a band. */
function rankingBands(m, { ranked, x, y, pitch }) {
  if (!m.groups) return [];
  const groups = new Map();
  ranked.forEach((run) => groups.set(m.groups[run], (groups.get(m.groups[run]) ?? 0) + 1));
  let place = 0;
  return [...groups].map(([group, size]) => {
    place += size;
    return group % 2 ? null : svg("rect", { class: "group", x: x.from, width: x.to - x.from,
      y: y(place - size) - pitch / 2, height: size * pitch });
  });
}

/** A run's dot, and the line of its interval. */
function rankingMark(m, run, kind, height, { x, many }) {
  const parts = [];
  const cls = `interval ${kind || (many ? "one-of-many" : "")}`;
  if (m.low[run] !== null) parts.push(line(cls, x(m.low[run]), height, x(m.high[run]), height));
  if (m.both(run)) {
    const [low, high] = [-1, 1].map((side) => m.values[run] + side * m.overTopics[run]).map(cutTo(m.limits));
    parts.push(line(`${cls} over-topics`, x(low), height, x(high), height));
  }
  const radius = many ? 2 : 4;
  parts.push(svg("circle", { class: `dot ${kind}`, cx: x(m.values[run]), cy: height, r: kind ? 4.5 : radius }));
  return parts;
}

/** Room for the lines from dots to names. */
const LEADER = 26;

/** The names of the best and the chosen of many runs, each with a line from its own row. */
function rankingLabels(m, kind, label, { ranked, named, dense, x, y, right, top, bottom }) {
  const places = [...ranked.keys()].filter((place) => named.has(ranked[place]));
  const heights = spaced(places.map(y), 14, top + 6, bottom - 4);
  return places.flatMap((place, i) => {
    const run = ranked[place];
    const start = dense && !kind(run) ? right - 8 : x(m.high[run] ?? m.values[run]);
    return [svg("path", { class: `leader ${kind(run)}`,
      d: `M${start} ${y(place)}H${right}L${right + LEADER - 4} ${heights[i]}` }),
    label(run, right + LEADER, heights[i], "start")];
  });
}

/** Runs in the order of their values, with the range of the standardizing systems. */
function drawRanking(part, chosen, width, m) {
  const layout = rankingLayout(part, chosen, m, width);
  const { ranked, many, dense, left, bottom, strip, x, y } = layout;
  const kind = (run) => {
    if (run === chosen.run) return "run";
    return run === part.baseline ? "baseline" : "";
  };
  const label = (run, px, py, anchor) => {
    const name = text(`name ${run === chosen.run ? "chosen" : ""}`, px, py + 4, anchor,
      shortened(part.runs[run], layout.letters));
    name.append(svg("title", {}, part.runs[run]));
    return name;
  };
  const marked = [...ranked.keys()].sort((a, b) => Boolean(kind(ranked[a])) - Boolean(kind(ranked[b])));
  const bare = { ...m, low: part.runs.map(() => null), both: () => false };
  const parts = [
    ...rankingBackground(m, layout),
    ...rankingBands(m, layout),
    ...marked.flatMap((place) => rankingMark(dense && !kind(ranked[place]) ? bare : m,
      ranked[place], kind(ranked[place]), y(place), layout)),
    ...many ? rankingLabels(m, kind, label, layout)
      : ranked.map((run, place) => label(run, left - 10, y(place), "end")),
  ];
  const points = ranked.map((run, place) => ({ x: x(m.values[run]), y: y(place), lines: [
    `${place + 1}. ${part.runs[run]}${run === part.baseline ? " (baseline)" : ""}`, ...m.lines(run)],
    go: () => m.go(run), mark: () => many ? rankingMark(m, run, "run", y(place), layout) : null,
  })).concat((m.marked ?? []).map((system) =>
    ({ ...system, x: x(system.value), y: bottom + 13 })));
  return { points, by: "y", name: m.name,
    drawn: picture(width, bottom + strip + 22 + TITLE, `${m.label} of ${plural(ranked.length, m.unit ?? "run")}, `
      + `best first: ${part.runs[ranked[0]] ?? "none"}. The arrow keys go from one to the next.`, ...parts) };
}
