#pragma once

#include "core/machine.h"

#include <string>
#include <vector>

namespace lauka {

/// One metric of a command in a baseline, in the order run.
struct BaselineSeries {
  std::string metric;
  std::string unit;  ///< as the file has it
  std::vector<double> values;
};

/// One command of a baseline.
struct BaselineCommand {
  std::string name;
  std::vector<BaselineSeries> series{};

  /// The values of `metric`; null where it was not measured.
  const std::vector<double>* values_of(const std::string& metric) const {
    for (const BaselineSeries& one : series) {
      if (one.metric == metric) return &one.values;
    }
    return nullptr;
  }
};

/// An earlier results file that supplies the reference of every command.
struct Baseline {
  std::string file{};  ///< as typed
  std::vector<BaselineCommand> commands{};
  bool by_lauka = true;   ///< else by hyperfine, which tells neither machine nor version of lauka
  std::string version{};  ///< of lauka
  Machine machine{};
};

}  // namespace lauka
