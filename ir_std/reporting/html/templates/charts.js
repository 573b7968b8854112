// The pictures of one collection by topic: functions of its numbers, what is chosen, and a width.

/** What is known of a run on one topic. */
function scoreLines(part, chosen, topic) {
  const { run, pair } = chosen;
  const b = pair.byTopic;
  const scores = pair.measures.map((m) => `${m.name} ${fixed(part.value(m, run, topic))}`);
  const lines = [scores.join(", ")];
  if (b && b.mean[topic] !== null) {
    lines.push(`systems’ ${b.measure} ${fixed(b.mean[topic])}, sd ${fixed(b.sd[topic])}`);
    const rank = part.rank(b, run, topic);
    lines.push(`z ${signed(part.z(b, run, topic))}`
      + (rank === null ? "" : `, rank ${rank} among ${at(b.counts, topic)} systems`));
  }
  return lines;
}

function topicLines(part, chosen, topic) {
  const [scores, ...more] = scoreLines(part, chosen, topic);
  const query = part.queries[topic] ? [part.queries[topic]] : [];
  return [`${part.unit} ${part.topics[topic]}: ${scores}`, ...query, ...more];
}

const at = (list, i) => list.length === 1 ? list[0] : list[i] ?? null;

function topicLabels(part, topics, x, y, step) {
  const every = Math.ceil(11 / step);
  return topics.map((topic, place) => place % every ? null : svg("text", { class: "small",
    transform: `translate(${x(place) + 3} ${y}) rotate(-90)`, "text-anchor": "end" },
  shortened(part.topics[topic], 12)));
}

const labelRoom = (part) => 12 + 6 * Math.min(12, Math.max(...part.topics.map((t) => t.length)));

/** One run on each topic, with the spread of the standardizing systems. */
function drawTopics(part, chosen, m, width) {
  if (part.manyTopics) return drawCurve(part, chosen, m, width);
  const left = 36, right = width - 6, top = 8 + TITLE, bottom = 250 + TITLE;
  const y = scale(m.axis.low, m.axis.high, bottom, top);
  const inside = (value) => y(Math.max(m.axis.low, Math.min(m.axis.high, value)));
  const step = (right - left) / m.order.length;
  const x = (place) => left + (place + 0.5) * step;
  const peers = m.peers;
  const parts = [];
  const each = (draw) => m.order.map((topic, place) => draw(topic, x(place))).join("");
  if (peers && peers.low.length === 1) {
    parts.push(svg("rect", { class: "band", x: left, width: right - left, y: y(peers.high[0]),
      height: y(peers.low[0]) - y(peers.high[0]) }));
  }
  parts.push(leftAxis(y, left, right, m.axis.ticks, m.name),
    bottomTitle((left + right) / 2, bottom + labelRoom(part) - 4, `${part.unit}s, hardest first`));
  if (peers) {
    const bar = Math.min(step * 0.6, 9);
    const known = (topic, ...lists) => lists.every((list) => at(list, topic) !== null);
    parts.push(svg("path", { class: "range", d: each((topic, px) => known(topic, peers.least, peers.most)
      ? `M${px.toFixed(1)} ${y(at(peers.least, topic)).toFixed(1)}V${y(at(peers.most, topic)).toFixed(1)}` : "") }));
    if (peers.low.length === 1) {
      parts.push(svg("path", { class: "mean", d: `M${left} ${y(peers.mean[0])}H${right}` }));
    } else {
      const box = (topic, px) => `M${(px - bar / 2).toFixed(1)} ${inside(peers.low[topic]).toFixed(1)}`
        + `h${bar}V${inside(peers.high[topic]).toFixed(1)}h${-bar}Z`;
      parts.push(svg("path", { class: "band",
        d: each((topic, px) => known(topic, peers.low, peers.high) ? box(topic, px) : "") }));
      parts.push(svg("path", { class: "mean", d: each((topic, px) => known(topic, peers.mean)
        ? `M${px - bar / 2 - 1} ${y(at(peers.mean, topic))}h${bar + 2}` : "") }));
    }
  }
  parts.push(topicLabels(part, m.order, x, bottom + 8, step));
  const points = [];
  m.order.forEach((topic, place) => {
    const value = part.value(m, chosen.run, topic);
    if (value === null) return;
    const dot = { x: x(place), y: y(value) };
    parts.push(svg("circle", { class: "dot run", cx: dot.x, cy: dot.y, r: Math.min(3.6, step) }));
    if (topic === chosen.topic) parts.push(svg("circle", { class: "topic", cx: dot.x, cy: dot.y, r: 7 }));
    points.push({ ...dot, lines: topicLines(part, chosen, topic),
      go: () => part.go({ topic: part.topics[topic] }) });
  });
  return { points, by: "x", name: `${part.name} ${part.runs[chosen.run]} ${m.name} topics`,
    drawn: picture(width, bottom + labelRoom(part) + TITLE + 4, `${m.name} of ${part.runs[chosen.run]} on each `
      + `${part.unit}, hardest first. The arrow keys go from ${part.unit} to ${part.unit}.`, ...parts) };
}

/** Thousands of topics: the run's scores in their order, and how often each height occurs. */
function drawCurve(part, chosen, m, width) {
  const left = 36, middle = width * 0.76, right = width - 6, top = 8 + TITLE, bottom = 250 + TITLE;
  const y = scale(m.axis.low, m.axis.high, bottom, top);
  const sorted = [...part.topics.keys()].filter((t) => part.value(m, chosen.run, t) !== null)
    .sort((a, b) => part.value(m, chosen.run, a) - part.value(m, chosen.run, b));
  const values = sorted.map((topic) => part.value(m, chosen.run, topic));
  const x = scale(0, values.length - 1, left, middle - 12);
  const curve = (list) => {
    const along = scale(0, list.length - 1, left, middle - 12);
    const kept = Math.max(1, Math.floor(list.length / (width * 2)));
    return list.map((value, i) => i % kept && i !== list.length - 1 ? ""
      : `${i ? "L" : "M"}${along(i).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  };
  const density = (list) => {
    const bins = new Array(25).fill(0);
    for (const value of list) {
      const share = (value - m.axis.low) / (m.axis.high - m.axis.low);
      bins[Math.max(0, Math.min(24, Math.floor(share * 25)))] += 1;
    }
    return bins.map((n) => n / list.length);
  };
  const bins = density(values);
  const long = scale(0, Math.max(...bins), middle, right);
  const height = (bottom - top) / bins.length;
  const parts = [];
  const peers = m.peers;
  if (peers && peers.low.length === 1) {
    parts.push(svg("rect", { class: "band", x: left, width: middle - 12 - left, y: y(peers.high[0]),
      height: y(peers.low[0]) - y(peers.high[0]) }));
  }
  parts.push(leftAxis(y, left, middle - 12, m.axis.ticks, m.name));
  if (peers) {
    const means = peers.mean.length === 1 ? [peers.mean[0], peers.mean[0]]
      : peers.mean.filter((v) => v !== null).sort((a, b) => a - b);
    parts.push(svg("path", { class: "mean", d: curve(means) }));
  }
  parts.push(svg("path", { class: "curve", d: curve(values) }));
  bins.forEach((share, i) => parts.push(svg("rect", { class: "density", x: middle,
    y: bottom - (i + 1) * height + 0.5, width: long(share) - middle, height: height - 1 })));
  parts.push([0, 0.25, 0.5, 0.75, 1].map((share) => text("small",
    left + share * (middle - 12 - left), bottom + 15, "middle", `${share * 100}%`)));
  parts.push(bottomTitle((left + middle) / 2, bottom + 15, `share of ${part.unit}s, lowest score first`));
  parts.push(bottomTitle((middle + right) / 2, bottom + 15, "how many"));
  const points = sorted.map((topic, i) => ({ x: x(i), y: y(values[i]),
    lines: topicLines(part, chosen, topic), go: () => part.go({ topic: part.topics[topic] }) }));
  const place = sorted.indexOf(chosen.topic);
  if (place >= 0) parts.push(svg("circle", { class: "topic", cx: x(place), cy: y(values[place]), r: 7 }));
  return { points, by: "x", name: `${part.name} ${part.runs[chosen.run]} ${m.name} topics`,
    drawn: picture(width, bottom + 22 + TITLE, `${m.name} of ${part.runs[chosen.run]} on `
      + `${sorted.length} ${part.unit}s, lowest first, and how many ${part.unit}s have which score.`, ...parts) };
}

/** Of which two runs the scores differ, names cut until it fits the width. */
function differenceTitle(measure, run, against, width) {
  const title = (letters) => `${measure} of ${shortened(run, letters)} less that of ${shortened(against, letters)}`;
  let letters = Math.max(run.length, against.length);
  while (letters > 3 && widthOf(title(letters)) > width - 4) letters -= 1;
  return title(letters);
}

/** The differences of two runs' scores, topic by topic. */
function drawDifferences(part, chosen, m, width) {
  const differences = part.differences(m, chosen.run, chosen.against);
  const many = part.manyTopics;
  const left = 42, right = width - 6, top = 8 + TITLE, bottom = 220 + TITLE;
  const [low, high] = extent([0, ...differences.map(([, d]) => d)]);
  const most = Math.max(-low, high) || 1;
  const y = scale(-most * 1.05, most * 1.05, bottom, top);
  const step = (right - left) / (differences.length || 1);
  const x = (place) => left + (place + 0.5) * step;
  const room = many ? 0 : labelRoom(part);
  const title = differenceTitle(m.name, part.runs[chosen.run], part.names[chosen.against], width);
  const parts = [leftAxis(y, left, right, ticks(y.low, y.high, 5), title),
    bottomTitle((left + right) / 2, bottom + room - 4 * !many, `${part.unit}s, largest difference first`),
    line("axis", left, y(0), right, y(0))];
  const bars = (cls, wanted) => svg("path", { class: `bar ${cls}`, d: differences.map(([, d], place) => wanted(d)
    ? `M${(x(place) - step * (many ? 0.5 : 0.38)).toFixed(2)} ${y(0).toFixed(1)}V${y(d).toFixed(1)}`
      + `h${(step * (many ? 1 : 0.76)).toFixed(2)}V${y(0).toFixed(1)}Z` : "").join("") });
  parts.push(bars("up", (d) => d > 0), bars("down", (d) => d < 0));
  if (!many) parts.push(topicLabels(part, differences.map(([topic]) => topic), x, bottom + 8, step));
  const points = differences.map(([topic, d], place) => {
    if (topic === chosen.topic) parts.push(svg("circle", { class: "topic", cx: x(place), cy: y(d), r: 6 }));
    return { x: x(place), y: y(d), go: () => part.go({ topic: part.topics[topic] }),
      lines: [`${part.unit} ${part.topics[topic]}: ${signed(d, 4)}`,
        `${m.name} ${fixed(part.value(m, chosen.run, topic))} and ${fixed(part.value(m, chosen.against, topic))}`] };
  });
  return { points, by: "x", name: `${part.name} ${part.runs[chosen.run]} less ${part.names[chosen.against]} ${m.name}`,
    drawn: picture(width, bottom + room + TITLE + 4, `${m.name} of ${part.runs[chosen.run]} `
      + `less that of ${part.names[chosen.against]} on each ${part.unit}, largest first.`, ...parts) };
}

/** Two runs' scores, a point for each topic. */
function drawScatter(part, chosen, m, width) {
  const side = Math.min(width, 460);
  const left = 42, right = side - 10, top = 8 + TITLE, bottom = side - 44;
  const x = scale(m.axis.low, m.axis.high, left, right);
  const y = scale(m.axis.low, m.axis.high, bottom, top);
  const of = (name, letters) => `${m.name} of ${shortened(part.names[name], letters)}`;
  const parts = [leftAxis(y, left, right, m.axis.ticks, of(chosen.run, 40)),
    bottomAxis(x, top, bottom, m.axis.ticks, of(chosen.against, 40)),
    line("axis", x(x.low), y(y.low), x(x.high), y(y.high))];
  const points = [];
  const many = part.manyTopics;
  for (const topic of part.topics.keys()) {
    const a = part.value(m, chosen.against, topic), b = part.value(m, chosen.run, topic);
    if (a === null || b === null) continue;
    parts.push(svg("circle", { class: `dot run ${many ? "many" : ""}`,
      cx: x(a).toFixed(1), cy: y(b).toFixed(1), r: many ? 2 : 3.6 }));
    if (topic === chosen.topic) parts.push(svg("circle", { class: "topic", cx: x(a), cy: y(b), r: 7 }));
    points.push({ x: x(a), y: y(b), go: () => part.go({ topic: part.topics[topic] }),
      lines: [`${part.unit} ${part.topics[topic]}`, `${shortened(part.runs[chosen.run], 24)} ${fixed(b)}`,
        `${shortened(part.names[chosen.against], 24)} ${fixed(a)}`] });
  }
  return { points, by: "xy", name: `${part.name} ${part.runs[chosen.run]} and ${part.names[chosen.against]} ${m.name}`,
    drawn: picture(side, side, `${m.name} of ${part.runs[chosen.run]} above that of ${part.names[chosen.against]}: `
      + `a point a ${part.unit}, above the line where the first is ${m.sign > 0 ? "better" : "worse"}.`, ...parts) };
}
