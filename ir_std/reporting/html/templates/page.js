// The page: what is chosen stands in its address, and the address is what is shown.

class Address {
  constructor(parts) {
    this.parts = parts;
  }

  read() {
    return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  }

  /** The address of a part's view with a change; null takes a choice away. */
  of(part, change) {
    const now = this.read();
    const kept = this.parts.length === 1 || now.in === part.name ? now : {};
    const next = { ...(this.parts.length > 1 ? { in: part.name } : {}), ...kept, ...change };
    return `#${new URLSearchParams(Object.entries(next).filter(([, value]) => value !== null))}`;
  }

  go(part, change, reveal) {
    this.reveal = reveal ? part : null;
    const next = this.of(part, change);
    if (next === location.hash) this.show();
    else location.hash = next;
  }

  show(first = false) {
    const said = this.read();
    for (const part of this.parts) {
      if (this.parts.length === 1 || said.in === part.name) part.show(said);
      else if (first) part.show({});
    }
    const part = this.reveal ?? (first && (said.in || said.run || said.topic || said.against)
      ? this.parts.find((p) => this.parts.length === 1 || said.in === p.name) : null);
    const place = said.against && first ? ".against" : said.run || said.topic ? ".one-run" : "h2";
    part?.$(place)?.scrollIntoView();
    this.reveal = null;
  }
}

async function start() {
  document.documentElement.classList.add("js");
  const parts = [];
  const address = new Address(parts);
  const across = document.getElementById("across");
  if (across) {
    parts.push(new AcrossCollections(across, JSON.parse(across.querySelector("script").textContent), address));
  }
  for (const root of document.querySelectorAll(".part")) {
    const data = JSON.parse(root.querySelector("script").textContent);
    parts.push(new Part(root, data, await unpack(data), address));
  }
  address.show(true);
  addEventListener("hashchange", () => address.show());
  const paint = (width) => {
    printing = width;
    if (width !== null) document.querySelectorAll("table[data-groups]").forEach((table) => makeSheets(table, width));
    for (const part of parts) part.paint();
  };
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width && printing === null) paint(null);
    width = innerWidth;
  });
  addEventListener("beforeprint", () => paint(PAPER));
  addEventListener("afterprint", () => paint(null));
  matchMedia("print").addEventListener("change", (media) => paint(media.matches ? PAPER : null));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint(printing));
  document.querySelectorAll(".scroll").forEach(hintAtWidth);
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.closest(".paste").querySelector("pre").textContent);
      button.textContent = "Copied";
    });
  }
  document.documentElement.dataset.ready = "";
}

start();
