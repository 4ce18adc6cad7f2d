#include "core/numbers.h"
#include "core/text.h"
#include "report/charts.h"
#include "report/exports.h"
#include "report/format.h"
#include "report/lines.h"
#include "report/screen.h"
#include "report/table.h"

#include <functional>
#include <span>

#include <fmt/format.h>

namespace lauka::report {

namespace {

// The colours of commands are based on Okabe and Ito (2008).
constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ground: #ffffff; --text: #1c1e21; --faint: #5f6670; --line: #dcdfe3; --panel: #f6f7f9;
  --better: #12703a; --worse: #b3261e; --shade: #0004;
  --c0: #0072b2; --c1: #c44e00; --c2: #007a59; --c3: #a8527e; --c4: #9a6a00; --c5: #2b83b5; --c6: #6a5acd; --c7: #5a5a5a; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181c; --text: #e6e8eb; --faint: #a0a7b1; --line: #343941;
  --panel: #1f2228; --better: #5fd08b; --worse: #ff8a80; --shade: #fff5;
  --c0: #56b4e9; --c1: #ff9a57; --c2: #34d1a4; --c3: #e59cc4; --c4: #f0c04a; --c5: #8fd0f5; --c6: #b3a8ff; --c7: #bdbdbd; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
code.option { white-space: nowrap; }
p { margin: .25rem 0; }
ul { margin: .25rem 0; padding-left: 1.25rem; }
.aside, .faint { color: var(--faint); font-size: .85rem; }
.answer { font-size: 1.25rem; font-weight: 600; margin: .75rem 0 .25rem; overflow-wrap: anywhere; }
.gates { list-style: none; padding: 0; }
.mark { border: 1px solid currentColor; border-radius: 4px; padding: 0 .4rem; margin-right: .3rem; font-size: .85rem; }
.scroll { overflow-x: auto; background: linear-gradient(90deg, var(--ground) 40%, transparent) 0 0 / 2rem 100%,
  linear-gradient(-90deg, var(--ground) 40%, transparent) 100% 0 / 2rem 100%,
  linear-gradient(90deg, var(--shade), transparent) 0 0 / .8rem 100%,
  linear-gradient(-90deg, var(--shade), transparent) 100% 0 / .8rem 100%;
  background-repeat: no-repeat; background-attachment: local, local, scroll, scroll; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
tbody th { font-weight: inherit; white-space: normal; min-width: 7rem; }
thead th { color: var(--faint); font-weight: 600; font-size: .85rem; }
.better { color: var(--better); font-weight: 600; }
.worse, .fail { color: var(--worse); font-weight: 600; }
.unsure { color: var(--faint); }
.value span { white-space: nowrap; }
.scanned :is(.better, .worse) { color: var(--text); } .scanned .sign { display: none; }
.scanned .matrix :is(td.better, td.worse) { background: color-mix(in srgb, var(--text) 8%, transparent); }
.sortable thead th { cursor: pointer; }
.sortable td[style] { background: linear-gradient(to left, color-mix(in srgb, currentColor 18%, transparent) var(--bar), transparent 0); }
.chart { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .6rem; margin: .4rem 0; }
.row { margin: .3rem 0 .1rem; font-size: .9rem; }
.dot { display: inline-block; width: .7rem; height: .7rem; border-radius: 50%; background: currentColor; margin-right: .35rem; }
.bars { display: grid; grid-template-columns: minmax(6rem, 15rem) minmax(0, 1fr) auto; column-gap: .8rem; align-items: center; }
.who { grid-column: 1; display: flex; align-items: baseline; gap: .35rem; font-size: .9rem; }
.who .dot { flex: none; margin: 0; }
.bars .drawing { grid-column: 2; grid-row: span 1; order: 0; }
.value { grid-column: 3; order: 1; text-align: right; font-size: .9rem; font-variant-numeric: tabular-nums; }
.bars { grid-auto-flow: dense; }
input[type=radio] { margin: 0 .3rem 0 0; } label { margin-right: 1rem; font-size: .85rem; color: var(--faint); }
#overview-zero:checked ~ .close-up, #overview-close:checked ~ .from-zero,
#scan-linear:checked ~ .logarithmic, #scan-logarithmic:checked ~ .linear { display: none; }
.matrix td.better { background: color-mix(in srgb, var(--better) 12%, transparent); }
.matrix td.worse { background: color-mix(in srgb, var(--worse) 12%, transparent); }
.matrix tbody th { min-width: 10rem; } .matrix thead th { white-space: normal; overflow-wrap: anywhere; min-width: 6rem; }
#tip { position: fixed; z-index: 1; max-width: 22rem; padding: .25rem .5rem; border-radius: 4px; background: var(--text);
  color: var(--ground); font-size: .85rem; pointer-events: none; overflow-wrap: anywhere; }
svg { display: block; overflow: visible; }
.line { width: 100%; }
.line path, .plot path { fill: none; vector-effect: non-scaling-stroke; }
svg.sign { display: inline-block; width: .7em; height: .7em; fill: none; stroke: currentColor; stroke-width: 2; }
.grid { stroke: var(--line); }
.tick { stroke: var(--faint); }
.zero { stroke: var(--text); stroke-width: 1.5; }
.limit { stroke: var(--worse); stroke-dasharray: 3 3; }
.label { fill: var(--faint); font-size: 11px; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); } .c3 { color: var(--c3); }
.c4 { color: var(--c4); } .c5 { color: var(--c5); } .c6 { color: var(--c6); } .c7 { color: var(--c7); }
.g0 { opacity: .5; } .g1 { opacity: .62; } .g2 { opacity: .75; } .g3 { opacity: .87; }
.spots { fill: none; stroke: currentColor; stroke-opacity: .6; stroke-width: 5px; stroke-linecap: round;
  vector-effect: non-scaling-stroke; }
.line .shape { fill: currentColor; fill-opacity: .28; stroke: none; }
.span { stroke: currentColor; stroke-opacity: .55; stroke-width: 6; }
.trend { stroke: currentColor; stroke-width: 1.5; }
.fitted { stroke: var(--faint); stroke-dasharray: 4 3; }
.line .box { fill: currentColor; fill-opacity: .2; stroke: currentColor; }
.median { stroke: currentColor; stroke-width: 3; }
.interval { stroke: currentColor; stroke-width: 2; }
.estimate, .middle { stroke: currentColor; stroke-width: 6px; stroke-linecap: round; }
.middle { stroke-width: 10px; }
@media (max-width: 48rem) { .bars { grid-template-columns: minmax(0, 1fr); } .who { margin-top: .4rem; }
  .who, .value, .bars .drawing { grid-column: 1; order: 0; } .value { text-align: left; padding-left: 1.05rem; } }
@media (max-width: 34rem) { .more, .metrics :nth-child(2):nth-last-child(3), .metrics :nth-child(3):nth-last-child(2) { display: none; }
  .matrix td { white-space: normal; } .matrix thead th { min-width: 0; }
  .matrix tbody th { min-width: 6rem; } table { font-size: .8rem; } th, td { padding: .25rem .35rem; } body { padding: .6rem; } }
details { margin: .5rem 0; }
summary { cursor: pointer; font-size: 1.05rem; font-weight: 600; padding: .3rem 0; }
@media print { .scroll { overflow: visible; background: none; } table { font-size: .75rem; }
  th, td, .matrix td { white-space: normal; padding: .2rem .3rem; } .scroll .more { display: table-cell; }
  :root { color-scheme: light; } body { max-width: none; } input, label { display: none; }
  .view { break-inside: avoid; } .chart, tr { break-inside: avoid; } h2, h3, summary { break-after: avoid; }
  details { break-inside: auto; } details:not([open]) { display: none; } }
)css";

constexpr std::string_view kSigns =
    "<svg width=\"0\" height=\"0\" aria-hidden=\"true\">"
    "<symbol id=\"better\" viewBox=\"0 0 10 10\"><path d=\"M1 5l3 3 5-6\"/></symbol>"
    "<symbol id=\"worse\" viewBox=\"0 0 10 10\"><path d=\"M2 2l6 6M8 2l-6 6\"/></symbol></svg>\n";

constexpr std::string_view kScript = R"js(
"use strict";
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const points = new WeakMap();
  const read = path => {
    if (!points.has(path)) {
      const {name, runs, labels} = path.dataset;
      points.set(path, [...path.getAttribute("d").matchAll(/M(\d+) (\d+)/g)].map((at, i) =>
        ({x: +at[1], y: +at[2],
          label: labels ? labels.split("|")[i] : `run ${runs ? runs.split(" ")[i] : +at[1] + 1} of ${name}`})));
    }
    return points.get(path);
  };
  const value = (plot, part) => {
    const {low, high, size, unit, log} = plot.closest("[data-along]").dataset;
    const at = log ? low * (high / low) ** part : +low + part * (high - low);
    return Number((at / size).toPrecision(4)) + unit;
  };
  const show = event => {
    const plot = event.target.closest("svg.plot");
    const frame = plot && plot.getBoundingClientRect();
    let best = null;
    if (plot && plot.viewBox.baseVal) {
      const {width, height} = plot.viewBox.baseVal;
      for (const path of plot.querySelectorAll("path.spots")) {
        for (const point of read(path)) {
          const far = Math.hypot(frame.left + point.x / width * frame.width - event.clientX,
                                 frame.top + point.y / height * frame.height - event.clientY);
          if (far < 24 && (!best || far < best.far)) best = {far, point, path, width, height};
        }
      }
    }
    tip.hidden = !best;
    if (!best) return;
    const part = plot.closest("[data-along]").dataset.along === "x" ? best.point.x / best.width : 1 - best.point.y / best.height;
    tip.textContent = `${best.point.label}: ${value(plot, part)}`;
    const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 8)}px`;
    tip.style.top = `${event.clientY + 16}px`;
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", () => { tip.hidden = true; }, {passive: true});
})();
)js";

constexpr std::string_view kDrawingScript = R"js(
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
      return `<p class="row"><span class="dot ${row.css}"></span><code>${row.name}</code> median ${row.median}</p>
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
    const legend = rows.map(row => `<span class="dot ${row.css}"></span><code>${row.name}</code> `).join("");
    return chart("y", axis, (hasMany ? "" : `<p class="row">${legend}</p>`) +
      `<svg width="100%" height="150" role="img"><title>${metric} over time</title>${lines}` +
      `<svg class="plot" x="15%" width="84%" height="150" viewBox="0 0 ${count} 1000" preserveAspectRatio="none">${spots}</svg></svg>` +
      '<p class="aside">first run on the left, last on the right' + (hasMany ? "; the pointer over a run names its command" : "") +
      (isThinned ? "; of so many runs the lowest and the highest of neighbours are drawn" : "") + "</p>");
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
)js";

constexpr std::string_view kSortingScript = R"js(
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
)js";

/// Returns a message as HTML. Prevents line breaks inside an option, and next to ± and ….
std::string message_html(std::string_view message) {
  const auto is_sign = [](std::string_view word) { return word == "±" || word == "…"; };
  std::string html;
  std::string_view before;
  for (const std::string_view word : split(message, ' ')) {
    const std::size_t end = word.find_last_not_of(";:,.)") + 1;
    const bool is_option = word.starts_with("--") && end > 3;
    if (word.data() != message.data()) html += is_sign(word) || is_sign(before) ? "\u00a0" : " ";
    html += is_option ? fmt::format("<code class=\"option\">{}</code>{}",
                                    html_text(word.substr(0, end)), html_text(word.substr(end)))
                      : html_text(word);
    before = word;
  }
  return html;
}

std::string elements(const std::vector<std::string>& texts, std::string_view open,
                     std::string_view close) {
  std::string html;
  for (const std::string& text : texts)
    html += fmt::format("{}{}{}\n", open, message_html(text), close);
  return html;
}

std::string paragraphs(std::string_view lines, std::string_view css_class) {
  return elements(lines_with_text(lines), fmt::format("<p class=\"{}\">", css_class), "</p>");
}

std::string paragraphs(std::string_view lines) {
  return elements(lines_with_text(lines), "<p>", "</p>");
}

std::string function_part(const Results& results) {
  const std::vector<FunctionSection> sections = function_sections(results);
  std::string html;
  for (const FunctionSection& section : sections)
    html += "<h3>" + html_text(section.title) + "</h3>\n" + table_html(section.table, "sortable");
  return sections.empty() ? paragraphs(why_no_functions(results), "faint") : html;
}

std::string html_list(const std::vector<std::string>& texts) {
  return texts.empty() ? "" : "<ul>\n" + elements(texts, "<li>", "</li>") + "</ul>\n";
}

std::string circumstances(const Circumstances& at) {
  std::string line = fmt::format("lauka {}, {}", at.version,
                                 rfc3339(std::chrono::floor<std::chrono::seconds>(at.began)));
  for (const std::string& fact : {at.machine.cpu_model, at.machine.os, at.machine.architecture})
    if (!fact.empty()) line += ", " + fact;
  if (!at.machine.tuning.empty()) line += ", tuned: " + at.machine.tuning;
  for (const Label& label : at.labels)
    line +=
        fmt::format("{} {} {}", &label == &at.labels.front() ? " ·" : ",", label.key, label.value);
  return "<p class=\"faint\">" + html_text(line) + "</p>\n";
}

std::string gate_items(const Results& results, bool all, const std::string& name) {
  std::string html;
  for (const gate::Verdict& verdict : results.findings.verdicts)
    if (all || verdict.answer != gate::Answer::Pass || risen_wall_time(results, verdict) != nullptr)
      html += fmt::format("<li>{} {}{}{}</li>\n", verdict_html(Cell{.answer = verdict.answer}),
                          name.empty() ? "" : "<b>" + html_text(name) + "</b>: ",
                          message_html(gate_line(results, verdict, "")),
                          html_list(lines_with_text(lines_below_gate(results, verdict))));
  return html;
}

std::string gate_list(const std::string& items) {
  return items.empty() ? "" : "<ul class=\"gates\">\n" + items + "</ul>\n";
}

constexpr std::string_view kCutShort =
    "<p class=\"fail\">The session was cut short: these are the runs up to then.</p>\n";

std::string verdict_part(const Results& results) {
  std::string html = paragraphs(comparison_lines(results, {}), "answer");
  if (!results.session.complete) html += kCutShort;
  const WhyTable why = why_table(results);
  if (results.explanations.size() < 2) html += paragraphs(why_lines(results));
  if (!why.table.rows.empty()) html += table_html(why.table);
  html += elements(why.remarks, "<p class=\"faint\">", "</p>");
  return html + paragraphs(layout_lines(results)) +
         paragraphs(layouts_advice_line(results), "faint") +
         paragraphs(lines_about_contradicting_means(results, {}), "faint") +
         paragraphs(function_summary(results)) + gate_list(gate_items(results, true, "")) +
         paragraphs(precision_line(results), "faint");
}

std::string caveats(const std::vector<std::string>& warnings,
                    const std::vector<std::string>& notes) {
  std::string html;
  if (!warnings.empty()) html += "<h2>Caveats</h2>\n" + html_list(warnings);
  if (!notes.empty())
    html += "<h2>Notes</h2>\n<div class=\"faint\">" + html_list(notes) + "</div>\n";
  return html;
}

std::string tuned_comparison(const Tuning& tuning) {
  std::vector<ChangeRow> rows;
  for (const TunedComparison& comparison : tuning.compared) {
    const auto add = [&](std::string_view what, const TunedChange& change) {
      if (!change.low || !change.high) return;
      const std::string name =
          fmt::format("{}{}{}, {}", comparison.benchmark, comparison.benchmark.empty() ? "" : ": ",
                      comparison.command, what);
      rows.push_back({html_text(name), html_text(delta_text(to_change(change))), "neutral",
                      to_change(change)});
    };
    add("σ", comparison.stddev_change);
    add("width of the interval", comparison.interval_width_change);
    add("mean", comparison.mean_change);
  }
  if (rows.empty()) return "";
  return "<p class=\"faint\">Tuned runs against untuned ones</p>\n" + change_chart(rows);
}

std::string tuned_machine(const Circumstances& at) {
  if (!at.tuning) return "";
  const Tuning& tuning = *at.tuning;
  Table vitals{.columns = {{.heading = {"machine"}},
                           {.heading = {"before the first run"}},
                           {.heading = {"after the last"}}}};
  const auto add = [&](std::string_view what, const auto& before, const auto& after) {
    const auto text = [](const auto& value) {
      return value ? fmt::format("{}", *value) : std::string("not known");
    };
    if (before || after)
      vitals.rows.push_back({{std::string(what)}, {text(before)}, {text(after)}});
  };
  add("throttle events", tuning.vitals_before_runs.throttles, tuning.vitals_after_runs.throttles);
  add("temperature, °C", tuning.vitals_before_runs.celsius, tuning.vitals_after_runs.celsius);
  add("stolen ticks", tuning.vitals_before_runs.stolen_ticks,
      tuning.vitals_after_runs.stolen_ticks);
  add("ticks", tuning.vitals_before_runs.clock_ticks_in_all,
      tuning.vitals_after_runs.clock_ticks_in_all);
  Table switched{
      .columns = {{.heading = {"switch"}}, {.heading = {"before"}}, {.heading = {"during"}}}};
  for (const TunedSwitch& tuned : tuning.changed_switches)
    switched.rows.push_back({{tuned.name}, {tuned.value_before}, {tuned.value_while_tuned}});
  std::vector<std::string> missing;
  for (const UntunedSwitch& untuned : tuning.failed_switches)
    missing.push_back("not switched: " + untuned.name + ", " + untuned.why);
  std::string html = "<details>\n<summary>Tuned machine</summary>\n" + tuned_comparison(tuning);
  for (const Table* table : {&switched, &vitals})
    if (!table->rows.empty()) html += table_html(*table);
  return html + html_list(missing) + "</details>\n";
}

void write_charts(const Results& results, std::size_t max_points, bool opens, const Sink& sink,
                  const std::function<void(std::size_t metric)>& rest) {
  const auto primary = primary_metric(results.session.metrics);
  MetricDrawings drawings(results, max_points);
  sink(fmt::format("<div data-runs=\"{}\" data-commands=\"{}\">\n",
                   std::max<std::size_t>(results.session.runs->size(), 1),
                   commands_for_page_script(results)));
  for (std::size_t m = 0; m < results.session.metrics.size(); ++m) {
    if (!has_any_summary(results, m) || (m != primary && is_constant(results, m))) continue;
    sink(fmt::format("<details{}{}>\n<summary>{}</summary>\n", opens && m == primary ? " open" : "",
                     drawings.attributes(m), html_text(metric_title(results.session.metrics[m]))));
    if (rest) rest(m);
    sink("</details>\n");
  }
  sink("</div>\n");
}

constexpr std::string_view kNoScript =
    "<noscript><p class=\"faint\">Charts are drawn by a script, which is switched off here; the "
    "tables have the numbers.</p></noscript>\n";

void write_overview(const Results& results, const Sink& sink) {
  const auto metric = primary_metric(results.session.metrics);
  if (!metric || !has_any_summary(results, *metric)) return;
  sink("<h2>" + html_text(results.session.metrics[*metric].name) + "</h2>\n");
  if (has_compact_table_first(results)) sink(table_html(compact_table(results, *metric)));
  write_overview_chart(results, *metric, sink);
  if (has_deltas_of(results, *metric))
    sink(
        results.session.setting.layouts > 1
            ? "<p class=\"aside\">Values are means over layouts. Percentages are mean changes over "
              "layouts.</p>\n"
            : "<p class=\"aside\">Values are medians. Percentages are changes of the typical "
              "round, "
              "which may differ from the change of the medians.</p>\n");
  const std::string scan = scan_chart(results, *metric);
  if (!scan.empty()) sink("<h2>Scaling</h2>\n" + scan);
  const std::string matrix = differences_html(results);
  if (!matrix.empty()) {
    const auto& baseline = results.session.reference.baseline;
    sink(fmt::format("<h2>Differences from {}</h2>\n",
                     baseline ? html_text(baseline->file)
                              : "<code>" + html_text(name_of_references(results)) + "</code>"));
    sink(matrix);
  }
}

/// Writes the charts of the metrics. With many commands, all charts are folded, and only the
/// primary metric has a chart of deltas.
void write_drawings(const Results& results, const Sink& sink) {
  const auto primary = primary_metric(results.session.metrics);
  const bool has_many = results.commands.size() > kMaxCommandsWithAllDeltaCharts;
  write_charts(results, kMaxDrawnPoints, !has_many, sink, [&](std::size_t metric) {
    const std::string deltas = metric == primary || !has_many ? delta_chart(results, metric) : "";
    if (!deltas.empty())
      sink(fmt::format("<h3>Differences, with their {:g}% intervals</h3>\n",
                       100 * results.session.confidence) +
           deltas);
    write_layout_chart(results, metric, sink);
  });
}

void write_tables(const Results& results, const Sink& sink) {
  sink("<details>\n<summary>Tables</summary>\n");
  const std::vector<std::string> classes = command_classes(results);
  for (const std::size_t c : commands_in_table_order(results)) {
    const CommandResult& command = results.commands[c];
    sink(fmt::format("<h3>{}: {}</h3>\n", html_text(command_title(results, c)),
                     command_html(results, c, classes[c])));
    if (has_values(command)) sink(table_html(full_table(results, c, true, true)));
  }
  sink("</details>\n");
}

std::string page_title(const Report& report) {
  const Results& first = report.benchmarks.front();
  if (!first.presentation.title.empty()) return first.presentation.title;
  if (report.is_suite()) return plural(report.benchmarks.size(), "benchmark") + " compared";
  if (first.commands.size() > 2) return plural(first.commands.size(), "command") + " compared";
  std::string names;
  for (const Command& command : first.session.commands)
    names += (names.empty() ? "" : " and ") + command.name;
  return names;
}

std::string changes_in_one_line(std::span<const ChangeRow> changes) {
  const auto count = [&](std::string_view css_class) {
    return std::ranges::count(changes, css_class, &ChangeRow::css_class);
  };
  const auto worse = count(ink_class(Ink::Red));
  const auto better = count(ink_class(Ink::Green));
  return fmt::format("{} worse, {} better, {} without a significant change",
                     worse == 0 ? "Nothing" : fmt::format("{}", worse), better,
                     std::ssize(changes) - worse - better);
}

void write_suite_page(const Report& suite, const Sink& sink) {
  if (!suite.complete()) sink(kCutShort);
  const std::vector<ChangeRow> changes = suite_changes(suite);
  sink(paragraphs(
      changes_in_one_line(std::span(changes).first(changes.size() - suite.geomeans.size())),
      "answer"));
  sink(paragraphs(gates_in_one_line(suite)) + paragraphs(largest_function_change_lines(suite)));
  std::string items;
  for (const Results* results : benchmarks_in_table_order(suite))
    items += gate_items(*results, false, results->benchmark);
  sink(gate_list(items));
  sink(circumstances(suite.benchmarks.front().session.circumstances));
  if (const std::string chart = change_chart(changes); !chart.empty())
    sink("<h2>Changes</h2>\n" + chart);
  sink("<h2>" + html_text(suite_title(suite)) + "</h2>\n" + table_html(suite_table(suite)));
  sink(caveats(warning_texts(suite, {}), note_lines(suite)));
  sink("<h2>Benchmarks</h2>\n");
  sink(kNoScript);
  constexpr std::size_t points_of_suite = 16'000;
  const std::size_t most =
      std::clamp<std::size_t>(points_of_suite / suite.benchmarks.size(), 16, kMaxDrawnPoints);
  for (const Results* results : benchmarks_in_table_order(suite)) {
    sink("<details>\n<summary>" + html_text(results->benchmark) + "</summary>\n" +
         verdict_part(*results) + function_part(*results) +
         table_html(metrics_table(*results, true), "matrix metrics"));
    write_charts(*results, most, true, sink, {});
    sink("</details>\n");
  }
}

void write_session_page(const Report& report, const Sink& sink) {
  const Results& results = report.benchmarks.front();
  sink(verdict_part(results) + circumstances(results.session.circumstances));
  sink(function_part(results));
  if (is_scan(results)) sink("<div class=\"scanned\">\n");
  write_overview(results, sink);
  std::vector<std::string> notes = lines_with_text(shell_start_time_lines(results));
  for (const Note& note : results.session.notes) notes.push_back(note.text);
  sink(caveats(warning_texts(report, {}), notes));
  sink(fmt::format("<h2>Charts</h2>\n{}", kNoScript));
  write_drawings(results, sink);
  write_tables(results, sink);
  if (is_scan(results)) sink("</div>\n");
}

}  // namespace

void write_page_begin(const std::string& title, std::string_view style, const Sink& sink) {
  sink(fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}{2}</style>\n</head>\n<body>\n{3}<main>\n<h1>{0}</h1>\n",
      html_text(title), kStyle, style, kSigns));
}

void write_page_end(std::string_view script, const Sink& sink) {
  sink(fmt::format("</main>\n<script>{}{}</script>\n</body>\n</html>\n", kScript, script));
}

void write_html(const Report& report, const Sink& sink) {
  const Results& first = report.benchmarks.front();
  write_page_begin(page_title(report), "", sink);
  if (!first.presentation.description.empty())
    sink("<p>" + html_text(first.presentation.description) + "</p>\n");
  if (report.is_suite())
    write_suite_page(report, sink);
  else
    write_session_page(report, sink);
  sink(tuned_machine(first.session.circumstances));
  const bool has_tables = std::ranges::any_of(report.benchmarks, [](const Results& results) {
    return results.presentation.functions && !function_metrics(results).empty();
  });
  write_page_end(fmt::format("{}{}", kDrawingScript, has_tables ? kSortingScript : ""), sink);
}

}  // namespace lauka::report
