for (const table of document.querySelectorAll("table.sortable")) {
  const [body] = table.tBodies;
  const key = (row, column) => {
    const {dataset, textContent} = row.cells[column];
    return dataset.number === undefined ? textContent : Math.abs(dataset.number);
  };
  const sort = event => {
    const heading = event.target.closest("th");
    if (event.type === "keydown" && event.key !== "Enter") return;
    const column = heading.cellIndex;
    const isDescending = heading.ariaSort ? heading.ariaSort === "ascending" : column > 0;
    const order = isDescending ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.ariaSort = order > 0 ? "ascending" : "descending";
    const rows = [...body.rows].filter(row => row.cells[1].dataset.number !== undefined);
    const rest = [...body.rows].filter(row => !rows.includes(row));
    rows.sort((a, b) => {
      const [left, right] = [key(a, column), key(b, column)];
      return order * (left < right ? -1 : left > right ? 1 : 0);
    });
    body.append(...rows, ...rest);
  };
  for (const heading of table.tHead.rows[0].cells) heading.tabIndex = 0;
  table.tHead.addEventListener("click", sort);
  table.tHead.addEventListener("keydown", sort);
}
