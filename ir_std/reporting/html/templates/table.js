// Tables that sort, filter and fold.

/** The value that a cell sorts by: a number, or its text. */
const cellKey = (cell) => {
  const given = cell.dataset.v ?? cell.textContent;
  const number = given === "" || given === MISSING ? NaN : Number(given.replace("−", "-"));
  return { given, number };
};

class SortedTable {
  /** Rows that are `pinned(row)` are shown even while the table is folded. */
  constructor(root, { what, pinned = () => false, onSort = () => {} }) {
    this.table = root.querySelector("table");
    this.fold = Number(this.table.dataset.fold);
    this.filterBox = root.querySelector(".filter");
    this.more = root.querySelector(".more");
    Object.assign(this, { root, what, pinned, onSort, unfolded: false });
    this.table.tHead.addEventListener("click", (event) => {
      const head = event.target.closest("th");
      if (!head?.querySelector("button")) return;
      const first = head.cellIndex === 0 || head.dataset.first === "ascending" ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      this.sort(head, head.getAttribute("aria-sort") === first ? other : first);
      this.onSort(head, head.getAttribute("aria-sort"));
    });
    this.filterBox?.addEventListener("input", () => this.show());
    this.more?.addEventListener("click", () => {
      this.unfolded = !this.unfolded;
      this.show();
    });
  }

  sort(head, direction) {
    const column = head.cellIndex;
    const sign = direction === "ascending" ? 1 : -1;
    const compare = (a, b) => {
      const lacking = Number.isNaN(a.number) - Number.isNaN(b.number);
      if (column === 0) return sign * a.given.localeCompare(b.given, "en", { numeric: true });
      return lacking || sign * (a.number - b.number) || 0;
    };
    const body = this.table.tBodies[0];
    const rows = [...body.rows].map((row) => [row, cellKey(row.cells[column])]);
    rows.sort((a, b) => compare(a[1], b[1]));
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
    if (rows.some(([row], i) => row !== body.rows[i])) body.append(...rows.map(([row]) => row));
    this.show();
  }

  /** Sort again as it is sorted, after its numbers have changed. */
  again() {
    const head = this.table.tHead.querySelector("[aria-sort]");
    if (head) this.sort(head, head.getAttribute("aria-sort"));
    else this.show();
  }

  show() {
    const wanted = (this.filterBox?.value ?? "").trim().toLowerCase();
    let matching = 0, shown = 0;
    for (const row of this.table.tBodies[0].rows) {
      if (row.classList.contains("systems-row")) continue;
      const matches = row.cells[0].textContent.toLowerCase().includes(wanted);
      row.classList.toggle("filtered", !matches);
      if (!matches) continue;
      matching += 1;
      const folded = !this.unfolded && matching > this.fold && !this.pinned(row);
      row.classList.toggle("folded", folded);
      if (!folded) shown += 1;
    }
    if (this.more) this.showCounts(matching, shown, wanted);
  }

  showCounts(matching, shown, wanted) {
    this.more.hidden = matching <= this.fold;
    this.more.textContent = this.unfolded ? `Show the first ${this.fold} only` : `Show all ${matching}`;
    this.more.setAttribute("aria-expanded", this.unfolded);
    this.root.classList.toggle("unfolded", this.unfolded);
    const counts = matching === shown ? "" : `${shown} of ${matching} are shown.`;
    this.root.querySelector(".count").textContent = matching ? counts : `No ${this.what} has “${wanted}” in its name.`;
  }
}

/** How much narrower a table is in print, where letters are smaller. */
const PRINTED = 0.6;

/**
 * A table too wide for paper is printed as several: each has the columns that name the rows, and
 * as many groups of the others (`data-groups`, their sizes) as there is room for.
 */
function makeSheets(table, room) {
  const scroll = table.closest(".scroll");
  if (scroll.nextElementSibling?.matches(".sheets")) scroll.nextElementSibling.remove();
  scroll.classList.remove("wide");
  const zoom = matchMedia("print").matches ? 1 : PRINTED;
  const widths = [...table.tHead.rows[0].cells].map((cell) => cell.offsetWidth * zoom);
  const sum = (columns) => columns.reduce((total, i) => total + widths[i], 0);
  if (sum([...widths.keys()]) <= room) return;
  const sizes = table.dataset.groups.split(",").map(Number);
  let start = widths.length - sizes.reduce((a, b) => a + b, 0);
  const labels = [...Array(start).keys()];
  const sheets = [[]];
  for (const size of sizes) {
    const group = Array.from({ length: size }, (_, i) => start + i);
    const last = sheets[sheets.length - 1];
    if (last.length && sum([...labels, ...last, ...group]) > room) sheets.push(group);
    else last.push(...group);
    start += size;
  }
  const copy = (row, columns) => html("tr", { class: row.className || null },
    [...labels, ...columns].map((i) => row.cells[i].cloneNode(true)));
  scroll.classList.add("wide");
  scroll.after(html("div", { class: "sheets" }, sheets.map((columns) => html("table", { class: "paper" },
    html("thead", {}, copy(table.tHead.rows[0], columns)),
    html("tbody", {}, [...table.tBodies[0].rows].map((row) => copy(row, columns)))))));
}

/**
 * The heads of a table stay in view: of one that fits on the page, of a wide one in a box that scrolls, which a
 * hint says where it goes on to the right.
 */
function watchWidth(scroller) {
  const update = () => {
    scroller.classList.toggle("fits", scroller.scrollWidth <= scroller.clientWidth);
    scroller.classList.toggle("goes-on",
      scroller.scrollLeft + scroller.clientWidth < scroller.scrollWidth - 2);
  };
  scroller.addEventListener("scroll", update, { passive: true });
  const observer = new ResizeObserver(update);
  for (const watched of [scroller, ...scroller.children]) observer.observe(watched);
}

/** One stop for the tab key in a table's numbers; the arrow keys go from cell to cell. */
function walkCells(table) {
  const buttons = "tbody td button";
  const rest = (button) => {
    table.querySelectorAll(`${buttons}[tabindex="0"]`).forEach((b) => { b.tabIndex = -1; });
    button.tabIndex = 0;
  };
  table.addEventListener("focusin", (event) => {
    const button = event.target.closest(buttons);
    if (button) rest(button);
  });
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("tbody td");
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!cell || !step) return;
    const rows = [...table.tBodies[0].rows].filter((row) => row.offsetParent !== null);
    const row = rows[rows.indexOf(cell.parentNode) + step[1]];
    const button = row?.cells[cell.cellIndex + step[0]]?.querySelector("button");
    if (button) button.focus();
    event.preventDefault();
  });
  const first = table.querySelector(buttons);
  if (first) first.tabIndex = 0;
}

/** Spreadsheets take a text that begins so for a formula; behind ' it is text. */
const FORMULA = /^[=+@＝＋－＠-]./;
const csvText = (value) => typeof value === "string" && FORMULA.test(value) ? `'${value}` : `${value ?? ""}`;
const csvField = (value) => /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
const csv = (rows) => rows.map((row) => row.map((v) => csvField(csvText(v))).join(",")).join("\r\n") + "\r\n";
