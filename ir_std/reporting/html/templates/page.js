// The page: the user's choices, and the address that holds them.

const PRINT = matchMedia("print");

/** Return the data of the page, which is deflated JSON in base64. */
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** One collection's section. */
class Section {
  constructor(root, collection, page) {
    this.root = root;
    this.collection = collection;
    this.page = page;
    this.$ = (selector) => root.querySelector(selector);
    const opened = (topic) => page.go({ topic: collection.topics[topic],
      in: page.sections.length > 1 ? root.id : null });
    const second = collection.ranked(collection.measures[0]).find((run) => run !== collection.subject) ?? null;
    this.pair = { run: collection.subject, against: collection.rival ?? (collection.isPair ? null : second) };
    this.twoRuns = new TwoRuns(this.$(".rankings"), this.$(".topics-picture"), collection, opened);
    for (const select of root.querySelectorAll("select[data-choice]")) {
      select.append(...collection.names.map((name, i) => html("option", { value: i }, name)));
      select.addEventListener("change", () => {
        this.pair[select.dataset.choice] = Number(select.value);
        page.go({ [select.dataset.choice]: collection.names[select.value], topic: null });
      });
    }
    this.$(".save-means").addEventListener("click", () =>
      download(`${collection.name} means.csv`, meansCsv(collection), "text/csv"));
    this.$(".save-topics").addEventListener("click", () =>
      download(`${collection.name} topics.csv`, topicsCsv(collection, this.m), "text/csv"));
    this.$(".save-pictures").addEventListener("click", () => {
      for (const drawn of root.querySelectorAll("figure svg[height]")) {
        if (drawn.classList.contains("heat") || drawn.closest("table")) continue;
        download(`${collection.name} ${drawn.getAttribute("aria-label")}.svg`, standalone(drawn), "image/svg+xml");
      }
    });
  }

  /** Show a measure, two runs and a topic; for null, keep the initial choice. */
  show({ measure, run, against, topic }) {
    const { collection, pair } = this;
    const m = collection.measures.find((one) => one.name === measure) ?? collection.measures[0];
    const number = (list, name) => name !== null && list.includes(name) ? list.indexOf(name) : null;
    pair.run = number(collection.names, run) ?? pair.run;
    pair.against = number(collection.names, against) ?? pair.against;
    if (pair.against === pair.run) pair.against = collection.names.findIndex((_, i) => i !== pair.run);
    for (const select of this.root.querySelectorAll("select[data-choice]")) select.value = pair[select.dataset.choice];
    if (m !== this.m) this.showMeasure(m);
    this.twoRuns.show(m, pair.run, pair.against, number(collection.topics, topic));
    const box = this.$(".all-topics");
    const fill = () => box.open && this.$(".all-topics > div").replaceChildren(topicRows(collection, m, pair,
      this.twoRuns.byDifference(), (t) => { this.twoRuns.open(t); this.$(".rankings").scrollIntoView(); }));
    box.ontoggle = fill;
    fill();
  }

  showMeasure(m) {
    this.m = m;
    const { collection } = this;
    this.$(".headline").innerHTML = m.headline;
    this.$(".deck").innerHTML = m.deck;
    this.$(".trust").innerHTML = m.trust.map((one, i) =>
      `<span>${i ? "" : "<b>Can you trust this?</b> "}${one}</span>`).join(" ");
    this.$(".trust").prepend(...m.warnings.map((one) => html("span", { class: "warning" }, one)));
    this.paint();
    const table = this.$(".measures-table");
    if (this.table) this.table.show(m);
    else if (collection.runs.length > 2) table.append((this.table = new RunsTable(collection, m)).root);
    else table.replaceChildren(measureRows(collection));
  }

  paint() {
    const { collection, m } = this, places = this.$(".places-picture");
    if (places) {
      const isPlaced = m.place[collection.subject] !== null && m.systems.length > 0;
      places.closest(".pair").classList.toggle("alone", !isPlaced);
      this.$(".place-heading").innerHTML = m.placeHeading;
      this.$(".topics-heading").innerHTML = m.topicsHeading;
      for (const note of this.root.querySelectorAll(".to-average")) note.hidden = m.topicAverage === null;
      for (const place of this.root.querySelectorAll(".scored")) place.textContent = m.scored;
      places.replaceChildren(...isPlaced ? [drawPlaces(collection, m, Math.min(places.clientWidth || 404, 404))] : []);
    }
    this.$(".run-rows")?.replaceChildren(runRows(collection, m, (run) => {
      this.page.go({ run: collection.runs[run], against: null });
      const box = this.root.querySelector("details.two-runs");
      if (box) box.open = true;
      this.$(".rankings")?.scrollIntoView();
    }));
    if (this.twoRuns.m) this.twoRuns.paint();
  }
}

class Page {
  constructor(data) {
    this.across = data.across ? new Across(document.getElementById("across"),
      data.collections.map(({ name }) => name), data.across) : null;
    this.sections = [];
    for (const record of data.collections) {
      const root = document.getElementById(`collection-${this.sections.length}`);
      this.sections.push(new Section(root, new Collection(record), this));
    }
    this.measure = document.getElementById("measure");
    this.measure.addEventListener("change", () => this.go({ measure: this.measure.value }));
  }

  /** Return the choices in the address; `#t42` is short for a topic. */
  choices() {
    const hash = location.hash.slice(1);
    const said = new URLSearchParams(/^t[^=]*$/.test(hash) ? `topic=${hash.slice(1)}` : hash);
    return Object.fromEntries(["measure", "run", "against", "topic", "in"].map((name) => [name, said.get(name)]));
  }

  /** Change some choices in the address; null removes a choice. */
  go(change) {
    const choices = { ...this.choices(), ...change };
    const said = new URLSearchParams(Object.entries(choices).filter(([, value]) => value !== null));
    history.pushState(null, "", `#${said}`);
    this.show();
  }

  /** Show the choices in the address, and report names that this page does not have. */
  show() {
    const choices = this.choices();
    const names = [...this.measure.options].map((option) => option.value);
    if (names.includes(choices.measure)) this.measure.value = choices.measure;
    else this.measure.selectedIndex = 0;
    this.across?.show(this.measure.value);
    const of = (section) => !choices.in || section.root.id === choices.in;
    const measure = this.measure.value;
    for (const section of this.sections) {
      section.show(of(section) ? { ...choices, measure } : { measure, run: null, against: null, topic: null });
    }
    const section = this.sections.find(of), known = section?.collection;
    const unknown = [["measure", names], ["run", known?.names], ["against", known?.names], ["topic", known?.topics]]
      .filter(([name, list]) => choices[name] !== null && !list?.includes(choices[name]))
      .map(([name]) => `This page has no ${name} “${choices[name]}”; check its address.`);
    const place = document.querySelector(".address-problem");
    place.hidden = !unknown.length;
    place.textContent = unknown.join(" ");
  }

  /** Draw all pictures to fit the width; on paper, make wide tables smaller. */
  paint() {
    this.across?.paint();
    if (PRINT.matches) for (const details of document.querySelectorAll(".all-warnings")) details.open = true;
    for (const section of this.sections) section.paint();
    for (const table of document.querySelectorAll(".scroll > table")) {
      table.style.zoom = 1;
      if (PRINT.matches) table.style.zoom = Math.min(1, table.parentNode.clientWidth / (table.offsetWidth + 1));
    }
  }
}

async function start() {
  const page = new Page(await unpack(document.getElementById("data").textContent));
  page.show();
  watchTips();
  const { topic, in: place } = page.choices();
  if (topic) page.sections.find(({ root }) => !place || root.id === place)?.$(".rankings")?.scrollIntoView();
  addEventListener("popstate", () => page.show());
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) page.paint();
    width = innerWidth;
  });
  PRINT.addEventListener("change", () => page.paint());
  for (const details of document.querySelectorAll("details")) details.addEventListener("toggle", () => page.paint());
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.nextElementSibling.textContent);
      button.textContent = "Copied";
    });
  }
  document.documentElement.dataset.ready = "";
}

start();
