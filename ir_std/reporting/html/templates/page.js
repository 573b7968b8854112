// The page: what is chosen stands in its address, and the address is what is shown.

/** The matrices of runs x topics that the page carries; null is no value. */
async function unpack({ packed, matrices }, runs, topics) {
  const letters = atob(packed);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = runs.length * topics.length;
  let end = 0;
  return matrices.map(({ unit, least, bytes: count }) => {
    const first = end;
    end += count * size;
    const last = end - size;
    return { at: (i) => {
      let code = 0;
      for (let place = last + i; place >= first; place -= size) code = code * 256 + planes[place];
      return code ? (least + code - 1) / unit : null;
    } };
  });
}

/** What an address says of a part that is not there, in words. */
function unknownIn(part, choices) {
  const known = { measure: [...part.byName.keys()], run: part.runs, against: part.names, topic: part.topics,
    as: ["scatter"] };
  const is = (name, value) => name === "in" || (name === "sort" ? part.sorting(value) : known[name]?.includes(value));
  return Object.entries(choices).filter((choice) => !is(...choice))
    .map(([name, value]) => value === "" ? `“${name}”` : `${name} “${value}”`);
}

class Address {
  constructor(parts) {
    this.parts = parts;
  }

  read() {
    return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  }

  /** The address of a part's view with a change; null takes a choice away. */
  of(part, change) {
    const choices = this.read();
    const kept = this.parts.length === 1 || choices.in === part.name ? choices : {};
    const next = { ...(this.parts.length > 1 ? { in: part.name } : {}), ...kept, ...change };
    return `#${new URLSearchParams(Object.entries(next).filter(([, value]) => value !== null))}`;
  }

  /** Change a part's view, and scroll to a place in it if one is named. */
  go(part, change, place) {
    this.reveal = place ? part.$(place) : null;
    const next = this.of(part, change);
    if (next === location.hash) this.show();
    else location.hash = next;
  }

  isOf(part) { return this.parts.length === 1 || this.read().in === part.name; }

  show() {
    const part = this.parts.find((one) => this.isOf(one));
    part?.show(this.read());
    if (!this.tellProblems(part)) this.reveal?.scrollIntoView();
    this.reveal = null;
  }

  /** Say, in view, what the address names that is not on the page, which then shows something else. */
  tellProblems(part) {
    const choices = this.read();
    const place = document.querySelector(".address-problem");
    const unknown = Object.keys(choices).every((name) => document.getElementById(name)) ? []
      : part?.unknown(choices) ?? [`collection “${choices.in ?? ""}”`];
    place.hidden = !unknown.length;
    place.textContent = `The address of this page names what is not here: ${unknown.join(", ")}. `
      + "What is shown instead is what the page opens with.";
    if (unknown.length) place.scrollIntoView({ block: "center" });
    return unknown.length > 0;
  }

  /** Show a part for the first time. */
  open(part) {
    if (!part.chosen) part.show(this.isOf(part) ? this.read() : {});
  }

  /** Go to the place that the page was opened for, or to what is said of it. */
  enter() {
    const part = this.parts.find((one) => this.isOf(one));
    if (this.tellProblems(part)) return;
    const choices = this.read();
    const places = { against: ".against", topic: ".one-topic", run: ".one-run", in: "h2" };
    const place = Object.keys(places).find((name) => choices[name]);
    if (place) part?.$(places[place])?.scrollIntoView();
  }
}

/** When the browser has nothing else to do, at once in Safari, which cannot say so. */
const idle = () => new Promise((resolve) => { (window.requestIdleCallback ?? setTimeout)(resolve); });

async function start() {
  const parts = [];
  const address = new Address(parts);
  const across = document.getElementById("across");
  if (across) {
    parts.push(new AcrossCollections(across, JSON.parse(across.querySelector("script").textContent), address));
  }
  const board = document.getElementById("board");
  if (board) parts.push(new Board(board, JSON.parse(board.querySelector("script").textContent), address));
  for (const root of document.querySelectorAll(".part")) {
    parts.push(new Part(root, JSON.parse(root.querySelector("script").textContent), address));
  }
  address.open(parts[0]);
  addEventListener("hashchange", () => address.show());
  const paint = (width) => {
    printing.width = width;
    if (width !== null) document.querySelectorAll("table[data-groups]").forEach((table) => makeSheets(table, width));
    for (const part of parts) if (part.chosen) part.paint();
  };
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width && printing.width === null) paint(null);
    width = innerWidth;
  });
  addEventListener("beforeprint", () => paint(PAPER));
  addEventListener("afterprint", () => paint(null));
  matchMedia("print").addEventListener("change", (media) => paint(media.matches ? PAPER : null));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint(printing.width));
  document.querySelectorAll(".scroll").forEach(watchWidth);
  for (const controls of document.querySelectorAll(".controls")) {
    new ResizeObserver(() => controls.parentNode.style.setProperty("--controls",
      getComputedStyle(controls).position === "sticky" ? `${controls.offsetHeight}px` : "0px")).observe(controls);
  }
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.closest(".paste").querySelector("pre").textContent);
      button.textContent = "Copied";
    });
  }
  document.documentElement.dataset.ready = "";  // the first screen is shown and answers
  for (const part of parts) {
    await idle();
    address.open(part);
    await part.complete();
  }
  address.enter();
  document.documentElement.dataset.complete = "";
}

start();
