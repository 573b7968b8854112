// What two runs ranked on a topic: both rankings side by side, and the documents as a table.

/** The text that was packed as JSON. */
async function unpackJson(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** The pair of the chosen runs, if it is drawn on some topic; `flipped` if it is the other way round. */
function pairOf({ rankings }, { run, against }) {
  const pair = rankings.pairs?.find(({ runs }) => runs.includes(run) && runs.includes(against));
  return pair && run !== against ? { topics: pair.topics, flipped: pair.runs[0] !== run } : null;
}

/** Documents of the chosen pair and topic: id, level, ranks in both, what each adds; null if not drawn. */
function rankedPair(part, chosen) {
  const pair = pairOf(part, chosen), rows = pair?.topics[chosen.topic];
  if (!rows) return null;
  const { rankings } = part;
  const { documents, levels } = rankings.topics[chosen.topic];
  const m = shownByTopic(chosen), measure = m.base ?? m.name;
  const column = rankings.measures.indexOf(measure);
  const two = (row, first) => pair.flipped ? [row[first + 1], row[first]] : [row[first], row[first + 1]];
  const adds = (row, first) => column < 0 ? null : two(row, first + 2 * column).map((units) => units / 1e4);
  return { measure, rest: adds(rows.at(-1), 0), documents: rows.slice(0, -1).map((row) =>
    ({ id: documents[row[0]], level: levels[row[0]], ranks: two(row, 1), adds: adds(row, 3) })) };
}

function kindOf(level) {
  if (level === null) return "unjudged";
  return level > 0 ? "relevant" : "nonrelevant";
}

const JUDGMENTS = { relevant: "relevant, level", nonrelevant: "judged not relevant, level", unjudged: "not judged" };
const judgment = (level) => `${JUDGMENTS[kindOf(level)]} ${level ?? ""}`.trim();

function documentLines(part, chosen, { measure }, { id, level, ranks, adds }) {
  const names = [part.runs[chosen.run], part.names[chosen.against]];
  const lines = [id, judgment(level),
    ...names.map((name, i) => `${name}: ${ranks[i] ? `rank ${ranks[i]}` : "not there"}`
      + (adds && adds[i] ? `, adds ${fixed(adds[i])}` : ""))];
  if (adds && (adds[0] || adds[1])) lines.push(`difference in ${measure}: ${signed(adds[0] - adds[1], 4)}`);
  return lines;
}

/** Room of both rankings: left and right edges, and those that face each other. */
function stripsLayout(part, width) {
  const narrow = width < 520, room = narrow ? 50 : 70, pitch = 22, top = 24;
  const box = Math.max(56, Math.min(210, (width - 2 * room - (narrow ? 60 : 90)) / 2));
  const middle = Math.min(260, width - 2 * room - 2 * box);
  const left = (width - 2 * box - middle) / 2;
  const { ranks, highest } = part.rankings;
  return { room, box, pitch, ranks, highest, edges: [left, left + box + middle], bottom: top + ranks * pitch,
    inner: [left + box, left + box + middle], y: (rank) => top + (rank - 0.5) * pitch,
    drawn: (rank) => rank > 0 && rank <= ranks };
}

/** A document at its place in one of the rankings: rank, id and level, in the colour of the level. */
function stripBox({ id, level, ranks }, i, { edges, box, pitch, highest, y }) {
  const height = y(ranks[i]), letters = Math.floor((box - 34) / 6.4);
  return [svg("rect", { class: `document ${kindOf(level)}`, x: edges[i], y: height - pitch / 2 + 1.5, width: box,
    height: pitch - 3, rx: 3, "fill-opacity": level > 0 ? 0.12 + 0.38 * level / highest : null }),
  text("small name", edges[i] + 5, height + 3.5, "start", `${ranks[i]}`),
  text("name", edges[i] + 20, height + 4, "start", shortened(id, letters)),
  text("small name", edges[i] + box - 5, height + 3.5, "end", `${level ?? "?"}`)];
}

/** Where the other run has a document that is not among its first. */
function stripElsewhere({ ranks }, i, { inner, y, drawn }) {
  if (drawn(ranks[1 - i])) return [];
  const height = y(ranks[i]), inwards = i ? -1 : 1;
  return [line("link", inner[i] + inwards * 2, height, inner[i] + inwards * 8, height),
    text("small there", inner[i] + inwards * 11, height + 3.5, i ? "end" : "start", `${ranks[1 - i] || MISSING}`)];
}

/** What a document adds to the measure, outwards; the largest of all takes the room there is. */
function stripBar({ adds, ranks }, i, most, { edges, box, room, y }) {
  if (!adds?.[i]) return [];
  const outwards = i ? 1 : -1, from = edges[i] + (i ? box : 0) + outwards * 4;
  const long = adds[i] / most * (room - 36), height = y(ranks[i]);
  return [svg("rect", { class: `bar ${i ? "down" : "up"}`, x: i ? from : from - long, y: height - 4,
    width: long, height: 8 }),
  text("small", from + outwards * (long + 3), height + 3.5, i ? "start" : "end", fixed(adds[i], 3).replace(/^0/, ""))];
}

/** The first ranks of both runs, documents in the colour of their level, a line between the same. */
function drawStrips(part, chosen, width) {
  const pair = rankedPair(part, chosen);
  if (!pair) return null;
  const names = [part.runs[chosen.run], part.names[chosen.against]];
  const layout = stripsLayout(part, width), { edges, inner, box, room, y, drawn } = layout;
  const most = Math.max(...pair.documents.flatMap(({ adds }) => adds ?? []));
  const parts = pair.documents.filter(({ ranks }) => ranks.every(drawn)).map(({ ranks: [a, b], level }) =>
    line(`link ${kindOf(level)}`, inner[0] + 2, y(a), inner[1] - 2, y(b)));
  const points = [];
  for (const i of [0, 1]) {
    parts.push(text(`name ${i ? "" : "chosen"}`, edges[i] + box / 2, 14, "middle",
      shortened(names[i], Math.floor((box + room) / 7))));
    for (const document of pair.documents.filter(({ ranks }) => drawn(ranks[i]))) {
      parts.push(stripBox(document, i, layout), stripElsewhere(document, i, layout),
        stripBar(document, i, most, layout));
      points.push({ x: edges[i] + box / 2, y: y(document.ranks[i]),
        lines: documentLines(part, chosen, pair, document) });
    }
  }
  return { points, by: "xy", name: `${part.name} ${names.join(" and ")} topic ${part.topics[chosen.topic]}`,
    drawn: picture(width, layout.bottom + 6, stripsText(part, pair, names), ...parts) };
}

/** The picture in words. */
function stripsText(part, pair, names) {
  const { ranks } = part.rankings;
  const count = (i) => {
    const first = pair.documents.filter((d) => d.ranks[i] > 0 && d.ranks[i] <= ranks);
    const n = (kind) => first.filter(({ level }) => kindOf(level) === kind).length;
    return `${names[i]} has ${plural(n("relevant"), "relevant document")}, ${n("nonrelevant")} judged not `
      + `relevant and ${n("unjudged")} not judged`;
  };
  const common = pair.documents.filter((d) => d.ranks.every((rank) => rank > 0 && rank <= ranks)).length;
  return `The first ${ranks} ranks of both: ${count(0)}; ${count(1)}; ${common} in common. `
    + "The arrow keys go from document to document; the table below has them, too.";
}

/** The documents that add most to the difference, and those further down together. */
function documentRows(pair) {
  const size = ({ adds }) => adds ? Math.abs(adds[0] - adds[1]) : 0;
  const sorted = [...pair.documents].sort((a, b) => size(b) - size(a)
    || Math.min(...a.ranks.filter(Boolean)) - Math.min(...b.ranks.filter(Boolean)));
  const numbers = (adds) => adds ? [...adds.map((value) => fixed(value)), signed(adds[0] - adds[1], 4)] : [];
  const rows = sorted.map(({ id, level, ranks, adds }) =>
    [id, level ?? MISSING, ...ranks.map((rank) => rank || MISSING), ...numbers(adds)]);
  if (pair.rest) rows.push(["all further down", MISSING, MISSING, MISSING, ...numbers(pair.rest)]);
  return rows;
}

/** Both rankings on the chosen topic; where they are not drawn, on which topics they are. */
function showRankings(part) {
  const root = part.$(".rankings");
  if (!root) return;
  const { chosen } = part, pair = rankedPair(part, chosen);
  for (const place of root.querySelectorAll(".drawn-alone")) place.hidden = !pair;
  root.querySelector(".drawn-elsewhere").replaceChildren(...pair ? [] : whereDrawn(part));
  for (const place of root.querySelectorAll(".run-against")) place.textContent = part.names[chosen.against];
  if (!pair) return;
  root.querySelector(".adds-measure").textContent = pair.rest ? `Bars: what it adds to ${pair.measure}.` : "";
  const table = root.querySelector("table");
  const names = [part.runs[chosen.run], part.names[chosen.against]];
  table.tHead.replaceChildren(html("tr", {}, ["document", "level", ...names.map((name) => `rank in ${name}`),
    ...(pair.rest ? [...names.map((name) => `${name} adds`), `difference in ${pair.measure}`] : [])].map((name) =>
    html("th", { scope: "col" }, name))));
  table.tBodies[0].replaceChildren(...documentRows(pair).map(([id, ...cells]) =>
    html("tr", {}, html("th", { scope: "row" }, `${id}`), cells.map((cell) => html("td", {}, `${cell}`)))));
}

/** On which topics the rankings of the chosen pair are drawn, as links; or what to do. */
function whereDrawn(part) {
  const { chosen, rankings } = part;
  if (rankings.why) return [rankings.why];
  const names = [part.runs[chosen.run], part.names[chosen.against]];
  const unknown = names.filter((_, i) => !rankings.known?.includes([chosen.run, chosen.against][i]));
  if (unknown.length) return [`Of ${unknown.join(" and ")} only scores are known, not the documents that were ranked.`];
  const topics = Object.keys(pairOf(part, chosen)?.topics ?? {});
  const links = topics.flatMap((t) => [", ", part.topicLink(Number(t))]).slice(1);
  const m = shownByTopic(chosen);
  return [...links.length ? [`What ${names.join(" and ")} ranked is on this page for topics `, ...links, ". "]
    : [`What ${names.join(" and ")} ranked is not on this page. `],
  "For any other: ", html("code", {}, `ir_std diff ${names.join(" ")} QRELS '${m.base ?? m.name}' --topic `
    + (chosen.topic < 0 ? "T" : part.topics[chosen.topic]))];
}
