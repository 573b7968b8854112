// The pictures: the run among the systems of its track, the run's topics, and strips in the rows of tables.
/* global LOOK -- report.html writes it */

/** The run among the systems. A box shows an interval by its height and a range of places by its width. */
function drawPlaces(collection, m, width) {
  const narrow = width < 380, left = 36, right = width - 6, top = narrow ? 14 : 34, bottom = narrow ? 250 : 300;
  const [low, high] = ends(m);
  const shown = [collection.subject, collection.rival].filter((run) => run !== null && m.place[run] !== null);
  const y = linear(low, high, bottom, top), n = m.systems.length;
  const x = linear(n, 1, left + 6, right - 2);
  /** A run that is not one of the systems is drawn between two of them. */
  const at = (run) => x(m.among[run] ? m.place[run] : m.place[run] - 0.5);
  const kind = (run) => run === collection.subject ? "run" : "base";
  const half = Math.abs(x(1) - x(2)) / 2 || 4;
  const boxes = shown.filter((run) => m.placeBest[run] !== null).map((run) => {
    const from = Math.max(left, at(run) + (x(m.placeWorst[run]) - x(m.place[run])) - half);
    const to = Math.min(right, at(run) + (x(m.placeBest[run]) - x(m.place[run])) + half);
    const [bottomOf, topOf] = [m.low[run], m.high[run]].map((end) => y(clip(end, low, high)));
    return svg("rect", { class: `box ${kind(run)}`, x: from, y: topOf, width: to - from, height: bottomOf - topOf,
      rx: 3 });
  });
  const own = new Set(shown.filter((run) => m.among[run]).map((run) => m.place[run] - 1));
  const systems = m.systems.map(([name, score, raw], i) => {
    if (own.has(i)) return null;
    const cx = x(i + 1), cy = y(clip(score, low, high));
    return mark([`${name || "a system"}: ${ordinal(i + 1)} of ${n}`, `${m.scored} ${fixed(score)}`,
      ...raw === null || !m.standardized ? [] : [`${m.raw} ${fixed(raw)}`]], {},
    dot("hit", cx, cy, 9), dot("other", cx, cy, n > 150 ? 2 : 3.5));
  });
  const labels = [];
  const runs = [...shown].reverse().map((run) => {
    const cx = at(run), cy = y(clip(m.scores[run], low, high));
    const above = kind(run) === "base";
    const name = `${shortened(collection.runs[run], 26)}, ${ordinal(m.place[run])}`;
    const box = m.low[run] === null ? [cy - 8, cy + 8]
      : [y(clip(m.high[run], low, high)), y(clip(m.low[run], low, high))];
    const wide = widthOf(name);
    const isLeft = cx + wide > right, x0 = isLeft ? Math.min(right, cx + half + 4) : Math.max(left + 4, cx - half);
    const isBelow = !above && box[1] + 18 <= bottom - 6;
    const ty = isBelow ? box[1] + 18 : Math.max(top - 4, Math.min(box[0], cy - 6) - 8);
    labels.push({ from: isLeft ? x0 - wide : x0, to: isLeft ? x0 : x0 + wide, y: ty,
      drawn: text(`${kind(run)} halo`, x0, ty, isLeft ? "end" : "start", name) });
    return mark([`${collection.runs[run]}: ${collection.placeText(m, run)}`,
      `${m.scored} ${fixed(m.scores[run])}${intervalText(m, run)}`, `${m.raw} ${fixed(m.means[run])}`], {},
    dot(`dot ${kind(run)}`, cx, cy, kind(run) === "run" ? 6 : 5));
  });
  const { subject } = collection;
  if (m.average !== null) {
    const said = `average ${collection.systemsWord.slice(0, -1)}`, wide = widthOf(said), above = y(m.average) - 6;
    const isFree = (x0) => labels.every(({ from, to, y: ty }) =>
      Math.abs(ty - above) > 15 || from > x0 + wide || to < x0);
    const x0 = [left + 4, right - wide].find(isFree);
    if (x0 !== undefined) labels.unshift({ drawn: text("ink halo", x0, above, "start", said) });
  }
  return picture(width, bottom + 30, `${collection.runs[subject]} among ${n} ${collection.systemsWord} by ${m.scored}: `
    + `${m.placeHeading}`,
  gridLines(y, m.ticks, m.average, left, right, true),
  boxes, systems, runs, labels.map(({ drawn }) => drawn),
  text("", left, bottom + 22, "start", ordinal(n)), text("", right, bottom + 22, "end", "1st"),
  text("", (left + right) / 2, bottom + 22, "middle", `place among the ${collection.systemsWord}`));
}

const intervalText = (m, run) => m.low[run] === null ? ""
  : ` (95% interval ${fixed(m.low[run])} to ${fixed(m.high[run])})`;

/** The width of a text in a picture. */
function widthOf(content) {
  const pen = widthOf.pen ??= html("canvas").getContext("2d");
  pen.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(content).width;
}

/** Group topics into columns; several topics share a column if there are too many of them. */
function columnsOf(order) {
  const size = Math.ceil(order.length / LOOK.columns);
  return Array.from({ length: Math.ceil(order.length / size) }, (_, i) => order.slice(i * size, (i + 1) * size));
}

/** Topics from the worst to the best of the run, with scores of the other run. A click opens a topic. */
function drawTopics(collection, m, { run, against, topic: opened }, width, isAlone, open) {
  const ticks = topicTicks(m), average = m.topicAverage;
  const narrow = width < 500, numbers = narrow || isAlone, left = numbers ? 36 : 6, right = width - 6;
  const top = 34, bottom = narrow ? 270 : 300;
  const y = linear(ticks[0], ticks.at(-1), bottom, top);
  const height = (value) => y(clip(value, ticks[0], ticks.at(-1)));
  const order = [...collection.topics.keys()].filter((t) => m.score(run, t) !== null)
    .sort((a, b) => m.topicSign * (m.score(run, a) - m.score(run, b)) || a - b);
  const columns = columnsOf(order), step = Math.min(60, (right - left) / (columns.length || 1));
  const names = [run, against].filter((each) => each !== null);
  const of = (who, topics) => {
    const known = topics.map((t) => m.score(who, t)).filter((value) => value !== null);
    return known.length ? mean(known) : null;
  };
  const radius = clip(step * 0.32, 1.5, 4.5);
  let current = null;
  const marks = columns.map((topics, i) => {
    const x = left + (i + 0.5) * step, own = of(run, topics), other = against === null ? null : of(against, topics);
    const loss = against === null ? topics[0] : topics.reduce((a, b) =>
      difference(m, run, against, b) < difference(m, run, against, a) ? b : a);
    const isOpen = topics.includes(opened);
    if (isOpen) current = x;
    const head = topics.length === 1 ? collection.topicName(topics[0])
      : `${topics.length} ${collection.unit}s, among them ${collection.topicName(loss)}`;
    const lines = [head, ...names.map((who) => topics.length === 1 ? topicLine(collection, m, who, topics[0])
      : `${collection.names[who]}: ${fixed(of(who, topics))} on average`)];
    const wins = other !== null && m.better(other, own);
    return mark(lines, { class: `column${isOpen ? " open" : ""}`, role: "button", "aria-pressed": `${isOpen}`,
      onclick: () => open(loss) },
    svg("rect", { class: "hit", x: left + i * step, y: top, width: step, height: bottom - top }),
    other === null ? average !== null && line("stem", x, height(own), x, y(average))
      : line(`stem${wins ? " wins" : ""}`, x, height(own), x, height(other)),
    other !== null && dot("dot base", x, height(other), Math.min(4, radius)), dot("dot run", x, height(own), radius));
  });
  const ending = opened === null || current === null ? [] : [
    line("lead", current, 16, current, top),
    text("ink", clip(current - 6, left, right), 12, current > width / 2 ? "end" : "start",
      shortened(collection.topicName(opened), Math.floor((current > width / 2 ? current : width - current) / 6.6)))];
  const label = `${plural(order.length, collection.unit)} from the worst of ${collection.names[run]} to its best`;
  return picture(width, bottom + 30, label + (against === null ? "" : `, with ${collection.names[against]}`),
  gridLines(y, ticks, average, left, right, numbers), marks, ending,
  text("", left, bottom + 22, "start", `its worst ${collection.unit}`),
  text("", left + Math.max(columns.length * step, 180), bottom + 22, "end", `its best ${collection.unit}`));
}

/** A run's score and place on a topic. */
function topicLine(collection, m, run, topic) {
  const said = `${collection.names[run]}: ${m.raw} ${fixed(m.value(run, topic))}`;
  const standardized = m.scoresByTopic ? `, standardized ${fixed(m.score(run, topic), 2)}` : "";
  const place = collection.topicPlace(m, run, topic);
  return said + (place && `, ${place}`) + standardized;
}

/** How much better a run is than another on a topic; 0 if one of them has no score. */
function difference(m, run, against, topic) {
  const [a, b] = [m.value(run, topic), m.value(against, topic)];
  return a === null || b === null ? 0 : m.rawSign * Math.round((a - b) * 1e4) / 1e4;
}

/** The scores of a row, `{ kind, value, low, high, lines }`, on an axis with ticks for other systems. */
function strip({ ticks, average, limits = null }, marks, width, label, others = []) {
  const low = ticks[0], high = ticks.at(-1), x = linear(low, high, 8, width - 8);
  const at = (value) => x(clip(value, limits?.[0] ?? low, limits?.[1] ?? high));
  return picture(width, 28, label,
    ticks.map((tick) => line(tick === average ? "average" : "grid", x(tick), 0, x(tick), 28)),
    others.map((value) => value === null ? null : line("tick", x(value), 7, x(value), 21)),
    marks.filter(({ value }) => value !== null).map((one) => mark(one.lines, {},
      svg("rect", { class: "hit", x: at(one.value) - 9, y: 2, width: 18, height: 24 }), stripShapes(one, at))));
}

/** An interval with a dot, or a diamond for a summary. */
function stripShapes({ kind, value, low, high, weight = 1 }, at) {
  if (kind === "summary") {
    return [svg("path", { class: "dot summary",
      d: `M${at(low)} 14L${at(value)} 7L${at(high)} 14L${at(value)} 21Z` })];
  }
  return [low === null || low === undefined ? null : line(`interval ${kind}`, at(low), 14, at(high), 14),
    dot(`dot ${kind}`, at(value), 14, 5.5 * Math.sqrt(weight))];
}

/** The labels below a column of strips, for the ends and the middle of the axis. */
function stripAxis({ ticks, average }, width, middle = "average") {
  const x = linear(ticks[0], ticks.at(-1), 8, width - 8);
  const shown = width > 200 ? ticks : [ticks[0], average, ticks.at(-1)];
  return svg("svg", { viewBox: `0 0 ${width} 18`, width, height: 18, "aria-hidden": "true" },
    shown.filter((tick) => tick !== null).map((tick) => text(tick === average ? "ink" : "", x(tick), 14, "middle",
      tick === average ? middle : `${tick}`.replace("-", "−"))));
}

/** The color of a score: blue above the average, orange below. */
function heatColor(m, score, average) {
  if (score === null) return "var(--paper)";
  const [low, high] = ends(m), half = ((m.standardized ? high - low : 1) || 1) / 2;
  const share = clip((score - average) / half * m.topicSign, -1, 1), percent = Math.round(Math.abs(share) * 100);
  return `color-mix(in srgb, var(--${share < 0 ? "below" : "above"}) ${percent}%, var(--middle))`;
}

/** A run's scores on all topics, hardest first, with one cell per topic. */
function heatStrip(collection, m, run, columns) {
  const cells = columns.map((topics, i) => {
    const known = topics.map((t) => m.score(run, t)).filter((value) => value !== null);
    const score = known.length ? mean(known) : null;
    const average = m.topicAverage
      ?? mean(collection.runs.map((_, other) => mean(topics.map((t) => m.score(other, t) ?? 0))));
    const standardized = m.scoresByTopic ? `, standardized ${fixed(score, 2)}` : "";
    const lines = topics.length === 1 ? [collection.topicName(topics[0]),
      `${collection.runs[run]}: ${m.raw} ${fixed(m.value(run, topics[0]))}${standardized}`]
      : [plural(topics.length, collection.unit), `${collection.runs[run]}: ${fixed(score)} on average`];
    const style = `fill:${heatColor(m, score, average)}`;
    return mark(lines, {}, svg("rect", { x: i, y: 0, width: 1.02, height: 1, style }));
  });
  const drawn = picture(columns.length, 1, `${collection.runs[run]} on each ${collection.unit}, hardest first`, cells);
  const stretched = { class: "heat", width: "100%", height: 28, preserveAspectRatio: "none" };
  for (const [name, value] of Object.entries(stretched)) drawn.setAttribute(name, value);
  return drawn;
}
