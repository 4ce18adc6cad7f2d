#pragma once

#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lauka::report {

/// A metric that needs no source: results are made by hand here.
inline Metric metric(std::string name, Unit unit, Better better = Better::Less,
                     Shown shown = Shown::Always, std::string note = "") {
  return {std::move(name), unit, better, shown, CountedEvent{}, std::move(note)};
}

/// The figures of one row; median and quartiles lie in the middle of the range.
inline stats::Summary summary(std::size_t count, double mean, std::optional<double> stddev,
                              double min, double max, std::size_t outliers = 0) {
  const double middle = (min + max) / 2;
  return {count, mean, middle, min, max, middle, middle, stddev, outliers, 0};
}

inline MetricResult row(std::size_t index, const stats::Summary& values,
                        std::optional<stats::Delta> delta = std::nullopt) {
  MetricResult result;
  result.metric = index;
  result.runs = values.count;
  result.summary = values;
  result.delta = delta;
  return result;
}

inline CommandResult command(std::string name, std::size_t runs, std::vector<MetricResult> rows) {
  CommandResult result;
  result.name = name;
  result.text = std::move(name);
  result.runs = runs;
  result.rows = std::move(rows);
  return result;
}

/// The manual's example.
inline Results manual_example() {
  Results results;
  results.metrics = {metric("wall_time", Unit::Seconds), metric("peak_rss", Unit::Bytes),
                     metric("core_active_cycle", Unit::Count)};
  results.commands = {
      command("./build-old", 9,
              {row(0, summary(9, 0.591, 0.0076, 0.583, 0.605)),
               row(1, summary(9, 137e6, 0.3e6, 136.6e6, 137.4e6)),
               row(2, summary(9, 2.51e9, 22.1e6, 2.48e9, 2.54e9))}),
      command(
          "./build-new -O2", 9,
          {row(0, summary(9, 0.130, 0.0083, 0.125, 0.141), stats::Delta{-0.78, 0.005, true}),
           row(1, summary(9, 141e6, 0.4e6, 140.4e6, 141.9e6, 1), stats::Delta{0.031, 0.004, true}),
           row(2, summary(9, 2.5e9, 31.4e6, 2.41e9, 2.59e9), stats::Delta{-0.004, 0.011, false})})};
  results.rankings = {{1, 4.5512, 0.0411, true, true}};
  return results;
}

}  // namespace lauka::report
