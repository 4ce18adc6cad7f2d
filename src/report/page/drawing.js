(() => {
  const escaped = text => text.replace(/[&<>"]/g, sign => `&#${sign.charCodeAt()};`);
  const path = (css, d, more = "") => `<path class="${css}"${more} d="${d}"/>`;
  const places = digits => (digits.match(/../g) || []).map(pair => parseInt(pair, 36));
  const added = (distances, sum = 0) => distances && distances.split(" ").map(distance => sum += +distance);
  const read = part => {
    const names = part.parentElement.dataset.commands.split("\n").map(line => line.split(/\|(.*)/s));
    return part.dataset.rows.split("\n").map(line => {
      const [command, median, box, runs, spots, shape] = line.split(";");
      const [css, name] = names[command];
      return {command, css, name: escaped(name), median, box: places(box), runs: added(runs), spots: places(spots), shape};
    });
  };
  const text = (x, y, anchor, label) => `<text x="${x}" y="${y}" text-anchor="${anchor}" class="label">${escaped(label)}</text>`;
  const spotted = (row, points, more = "") =>
    path("spots " + row.css, points.map(([x, y]) => `M${x} ${y}h0`).join(""), ` data-name="${row.name}"${more}`);
  const shaped = shape => path("shape", "M0 44" + [...shape].map((digit, i) =>
    `L${i * 1000 / shape.length} ${44 - parseInt(digit, 36) * 20 / 35}h${1000 / shape.length}`).join("") + "V44z");
  const chart = (along, [low, high, size, log, ...unit], content) =>
    `<div class="chart" data-along="${along}" data-low="${low}" data-high="${high}" data-size="${size}"` +
    ` data-unit="${unit.join(" ")}"${log === "1" ? ' data-log="1"' : ""}>\n${content}</div>`;
  const distribution = (rows, metric, axis, ticks) => {
    const grid = path("grid", ticks.map(([at]) => `M${10 * at} 0v44`).join(""));
    const drawn = rows.map(row => {
      const [low, q1, median, q3, high] = row.box;
      const runs = row.shape ? shaped(row.shape)
        : spotted(row, row.spots.map((x, i) => [x, 28 + 5 * (i % 3)]), ` data-runs="${row.runs.map(run => run + 1).join(" ")}"`);
      return `<p class="row named"><span><span class="dot ${row.css}"></span><code>${row.name}</code></span> <span>median ${row.median}</span></p>
<svg class="line plot ${row.css}" height="44" viewBox="0 0 1000 44" preserveAspectRatio="none" role="img"` +
        ` aria-label="${metric}: distribution of ${row.name}">${grid}` +
        path("box", `M${low} 12H${q1}M${q3} 12H${high}M${q1} 4H${q3}v16H${q1}z`) + path("median", `M${median} 4v16`) + runs + "</svg>";
    }).join("\n");
    const labels = ticks.map(([at, ...label]) => `<line x1="${at}%" x2="${at}%" y2="4" class="tick"/>` +
      text(at + "%", 17, at < 8 ? "start" : at > 92 ? "end" : "middle", label.join(" "))).join("");
    return chart("x", axis, `${drawn}\n<svg width="100%" height="20" aria-hidden="true">${labels}</svg>`);
  };
  const overTime = (rows, metric, axis, ticks, {count, isThinned}) => {
    const lines = ticks.map(([at, ...label]) => [150 - 1.5 * at, label.join(" ")]).map(([y, label]) =>
      `<line y1="${y}" x2="100%" y2="${y}" class="grid"/>` + text(0, Math.max(y - 2, 10), "start", label)).join("");
    const spots = rows.map(row => spotted(row, row.spots.map((y, i) => [row.runs[i], 1000 - y]))).join("");
    const hasMany = rows.length > 20;
    const legend = rows.map(row => `<span class="entry"><span class="dot ${row.css}"></span><code>${row.name}</code></span> `).join("");
    return chart("y", axis, (hasMany ? "" : `<p class="row">${legend}</p>`) +
      `<svg width="100%" height="150" role="img"><title>${metric} over time</title>${lines}` +
      `<svg class="plot" x="15%" width="84%" height="150" viewBox="0 0 ${count} 1000" preserveAspectRatio="none">${spots}</svg></svg>` +
      '<p class="aside">The first run is on the left, and the last one is on the right.' + (hasMany ? " Point at a run to see its command." : "") +
      (isThinned ? " Because there are so many runs, only the lowest and the highest of neighbouring runs are drawn." : "") + "</p>");
  };
  const draw = part => {
    const rows = read(part);
    const all = [...part.parentElement.querySelectorAll("[data-rows]")].flatMap(read);
    for (const row of rows) row.runs ||= all.find(other => other.command === row.command && other.runs).runs;
    const [axis, ...ticks] = part.dataset.axis.split("|").map(words => words.split(" "));
    const [title] = part.getElementsByTagName("summary");
    const metric = escaped(title.textContent);
    const {runs: count} = part.parentElement.dataset;
    title.insertAdjacentHTML("afterend", "<h3>Distribution</h3>\n" + distribution(rows, metric, axis, ticks));
    part.insertAdjacentHTML("beforeend", "<h3>Runs over time</h3>\n" +
      overTime(rows, metric, axis, ticks, {count, isThinned: "thinned" in part.dataset}));
  };
  const drawn = new WeakSet();
  const open = () => {
    for (const part of document.querySelectorAll("details[open][data-rows]")) {
      if (drawn.has(part) || part.parentElement.closest("details:not([open])")) continue;
      drawn.add(part);
      draw(part);
    }
  };
  document.addEventListener("toggle", open, true);
  open();
})();
