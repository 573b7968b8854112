(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.documentElement;
  const runSelect = document.getElementById("run");
  const figureSelect = document.getElementById("figure");
  const figures = [...document.querySelectorAll(".figure")];
  const unit = 10 ** data.decimals;
  const missing = "–";
  page.classList.add("js");

  const score = (whole) => whole === null ? missing : (whole / unit).toFixed(data.decimals);
  const signed = (whole) =>
    whole === null ? missing : (whole < 0 ? "-" : "+") + (Math.abs(whole) / 100).toFixed(2);

  function movePoints(svg, run) {
    const { m, low, high, top, bottom } = svg.dataset;
    const values = data.values[run][m];
    for (const circle of svg.querySelectorAll("circle")) {
      const whole = values[circle.dataset.i];
      circle.setAttribute("visibility", whole === null ? "hidden" : "visible");
      if (whole !== null) {
        const share = (whole / unit - low) / (high - low);
        circle.setAttribute("cy", (bottom - share * (bottom - top)).toFixed(2));
      }
      circle.firstElementChild.textContent = `topic ${circle.dataset.topic}: ${score(whole)}`;
    }
    svg.setAttribute("aria-label", `${m} of ${data.runs[run]} on each topic`);
  }

  function fillTopics(figure, run) {
    const rows = [...figure.querySelectorAll(".topics tbody tr")];
    for (const row of rows) {
      for (const cell of row.querySelectorAll("[data-m]")) {
        cell.textContent = score(data.values[run][cell.dataset.m][row.dataset.i]);
      }
      const cell = row.querySelector("[data-z]");
      if (cell) cell.textContent = signed(data.z[run][cell.dataset.z][row.dataset.i]);
    }
    const table = figure.querySelector(".topics");
    const sorted = table.querySelector("[aria-sort]");
    if (sorted) sortTable(table, sorted, sorted.getAttribute("aria-sort"));
    const above = figure.querySelector(".above");
    if (above) {
      const z = (row) => data.z[run][row.querySelector("[data-z]").dataset.z][row.dataset.i];
      const ranked = rows.filter((row) => z(row) !== null).sort((a, b) => z(b) - z(a));
      const copy = (chosen) => chosen.slice(0, data.farthest).map((row) => row.cloneNode(true));
      above.replaceChildren(...copy(ranked.filter((row) => z(row) > 0)));
      figure.querySelector(".below").replaceChildren(
        ...copy(ranked.filter((row) => z(row) < 0).reverse()));
    }
  }

  function place(figure, places) {
    figure.querySelectorAll(".places li").forEach((item, i) => {
      const [x, text] = places[i];
      item.querySelector(".place").textContent = text;
      const mark = item.querySelector(".mark");
      if (!mark) return;
      mark.setAttribute("visibility", x === null ? "hidden" : "visible");
      mark.setAttribute("transform", `translate(${x ?? 0} 0)`);
    });
  }

  function show() {
    const run = Number(runSelect.value);
    const chosen = Number(figureSelect.value);
    figures.forEach((figure, i) => figure.classList.toggle("shown", i === chosen));
    const figure = figures[chosen];
    figure.querySelector(".run").textContent = data.runs[run];
    figure.querySelector(".caption").textContent = data.captions[run][chosen];
    for (const svg of figure.querySelectorAll("svg[data-m]")) movePoints(svg, run);
    fillTopics(figure, run);
    place(figure, data.placements[run][chosen]);
    for (const link of document.querySelectorAll("a[data-run]")) {
      const row = link.closest("tr");
      if (Number(link.dataset.run) === run) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  function sortTable(table, head, direction) {
    const column = [...head.parentNode.children].indexOf(head);
    const sign = direction === "ascending" ? 1 : -1;
    const key = (row) => {
      const cell = row.children[column];
      const text = cell.dataset.v ?? cell.textContent;
      return { text, number: text === missing ? NaN : Number(text) };
    };
    const compare = (a, b) => {
      if (column === 0) return sign * a.text.localeCompare(b.text, "en", { numeric: true });
      const lacking = Number.isNaN(a.number) - Number.isNaN(b.number);
      return lacking || sign * (a.number - b.number) || 0;
    };
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [row, key(row)]);
    rows.sort((a, b) => compare(a[1], b[1]));
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
    body.append(...rows.map(([row]) => row));
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".sortable thead button");
    if (button) {
      const head = button.parentNode;
      const now = head.getAttribute("aria-sort");
      const first = head.cellIndex === 0 ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      sortTable(head.closest("table"), head, now === first ? other : first);
    }
    const link = event.target.closest("a[data-run]");
    if (link) {
      runSelect.value = link.dataset.run;
      show();
    }
  });
  runSelect.addEventListener("change", show);
  figureSelect.addEventListener("change", show);
  show();
})();
