#include "report/html_tables.h"

#include "report/cells.h"
#include "report/charts.h"
#include "report/columns.h"
#include "report/compact.h"
#include "report/format.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

/// A delta that is broken, where there is no room for it, before its interval or in the middle of
/// that.
std::string breakable(const std::string& delta) {
  constexpr std::string_view no_break = "\u00a0";
  std::string html;
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const bool may_break =
        delta[i] == ' ' && i > 0 &&
        (delta.substr(i + 1).starts_with("(") || delta.substr(0, i).ends_with("…"));
    if (delta[i] == ' ' && !may_break)
      html += no_break;
    else
      html += delta[i];
  }
  return html_text(html);
}

/// A delta is coloured, and so is the word that stands in the reference's place.
std::string html_cell(const Cell& cell, bool is_delta) {
  const std::string text = is_delta ? breakable(cell.text) : html_text(cell.text);
  const std::string_view color = is_delta && !cell.text.empty() ? ink_class(cell.ink) : "";
  return color.empty() ? fmt::format("<td>{}</td>", text)
                       : fmt::format("<td class=\"{}\">{}</td>", color, text);
}

std::string table_of(const Results& results, std::size_t index) {
  const CommandResult& command = results.commands[index];
  TableShape shape{.format = Format::Html};
  shape.has_deltas = std::any_of(command.rows.begin(), command.rows.end(),
                                 [](const MetricResult& row) { return row.delta.has_value(); });
  std::string html = fmt::format(
      "<h3><span class=\"dot {}\"></span>{}: <code>{}</code></h3>\n", command_class(index),
      html_text(benchmark_title(command, index + 1)), html_text(command.name));
  if (command.runs == 0) return html;
  const std::vector<const Column*> columns = columns_of(shape);
  html += "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const Column* column : columns) html += fmt::format("<th>{}</th>", column->heading);
  html += "</tr></thead>\n<tbody>\n";
  for (const MetricResult& row : command.rows) {
    html += "<tr>";
    for (const Column* column : columns)
      html += html_cell(column->cell({results, index, results.metrics[row.metric], &row, shape}),
                        column->is_delta());
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

std::string title_of(const Metric& metric) {
  return html_text(metric.note.empty() ? metric.name : metric.name + " " + metric.note);
}

bool has_delta(const CommandResult& command, std::size_t metric) {
  const MetricResult* row = shown_row(command, metric);
  return row != nullptr && row->delta;
}

}  // namespace

std::string delta_matrix(const Results& results) {
  std::vector<std::size_t> metrics;
  for (std::size_t m = 0; m < results.metrics.size(); ++m) {
    const bool any = std::any_of(results.commands.begin(), results.commands.end(),
                                 [&](const auto& command) { return has_delta(command, m); });
    if (any && results.metrics[m].shown == Shown::Always) metrics.push_back(m);
  }
  if (metrics.empty()) return "";
  std::string html = "<div class=\"scroll\"><table class=\"matrix\">\n<thead><tr><th>command</th>";
  for (const std::size_t metric : metrics)
    html += fmt::format("<th>{}</th>", title_of(results.metrics[metric]));
  html += "</tr></thead>\n<tbody>\n";
  const TableShape shape{.format = Format::Html, .is_compact = true};
  for (const std::size_t c : order_of(results)) {
    const CommandResult& command = results.commands[c];
    html += fmt::format(
        "<tr><td><div class=\"who\"><span class=\"dot {}\"></span><code>{}</code></div></td>",
        command_class(c), html_text(command.name));
    for (const std::size_t metric : metrics)
      html += html_cell(
          delta_cell({results, c, results.metrics[metric], shown_row(command, metric), shape}),
          true);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

void write_tables(const Results& results, const Sink& sink) {
  sink("<details>\n<summary>Tables</summary>\n");
  for (const std::size_t c : order_of(results)) sink(table_of(results, c));
  sink("</details>\n");
}

std::string_view html_script() {
  return R"js(
"use strict";
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const points = new WeakMap();
  const read = path => {
    if (!points.has(path)) {
      const runs = path.dataset.runs ? path.dataset.runs.split(" ") : null;
      points.set(path, [...path.getAttribute("d").matchAll(/M(\d+) (\d+)/g)].map((at, i) =>
        ({x: +at[1], y: +at[2], run: runs ? runs[i] : +at[1] + 1})));
    }
    return points.get(path);
  };
  const value = (plot, part) => {
    const {low, high, size, unit} = plot.closest(".chart").dataset;
    return Number(((+low + part * (high - low)) / size).toPrecision(4)) + unit;
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
    const part = plot.closest(".chart").dataset.along === "x" ? best.point.x / best.width : 1 - best.point.y / best.height;
    tip.textContent = `run ${best.point.run} of ${best.path.dataset.name}: ${value(plot, part)}`;
    const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 8)}px`;
    tip.style.top = `${event.clientY + 16}px`;
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", () => { tip.hidden = true; }, {passive: true});
})();
)js";
}

}  // namespace lauka::report
