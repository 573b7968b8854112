// The table of all sets: a click on a column's name sorts by it, and a field finds rows.
"use strict";

const number = (text) => (/^-?\d/.test(text) ? parseFloat(text) : NaN);

function compare(one, other) {
  const [a, b] = [number(one), number(other)];
  if (!Number.isNaN(a) && !Number.isNaN(b)) {
    return a - b;
  }
  return one.localeCompare(other, "en", { numeric: true });
}

function sortBy(table, column, descending) {
  const body = table.tBodies[0];
  const text = (row) => row.cells[column].textContent.trim();
  const rows = [...body.rows].sort((a, b) => compare(text(a), text(b)) * (descending ? -1 : 1));
  body.append(...rows);
  [...table.tHead.rows[0].cells].forEach((cell, i) => {
    cell.setAttribute("aria-sort", "none");
    if (i === column) {
      cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
    }
  });
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = cell.textContent;
    button.addEventListener("click", () => {
      sortBy(table, column, cell.getAttribute("aria-sort") === "ascending");
    });
    cell.replaceChildren(button);
  });
}

// "msmarco" finds "MS MARCO", too.
function withoutSeparators(text) {
  return text.replace(/[\s/_-]+/g, "");
}

function makeSearchable(table) {
  const rows = [...table.tBodies[0].rows];
  const field = document.createElement("input");
  const found = document.createElement("output");
  field.type = "search";
  field.placeholder = "Find, such as msmarco or web 2012";
  field.setAttribute("aria-label", "Find sets");
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const joined = new Map(rows.map((row) => [row, withoutSeparators(texts.get(row))]));
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (row, word) => texts.get(row).includes(word)
      || (/[a-z]{3}/.test(word) && joined.get(row).includes(withoutSeparators(word)));
    const fits = (row) => words.every((word) => has(row, word));
    rows.forEach((row) => { row.hidden = !fits(row); });
    found.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} sets`;
  };
  field.addEventListener("input", show);
  const line = document.createElement("p");
  line.append(field, " ", found);
  table.closest(".catalogue").prepend(line);
  show();
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".catalogue table").forEach((table) => {
    makeSortable(table);
    makeSearchable(table);
  });
});
