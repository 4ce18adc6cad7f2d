#pragma once

#include "darwin/folder.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// Drives the whole program on the model of macOS (the test build lauka_on_model) by its command
// line.

namespace lauka::darwin {

/// The output and the end of a program, and what the model knows of it.
struct Reported {
  std::string out;
  std::string err;
  int status = 0;  ///< exit status, or 128 + signal
  nlohmann::json report;

  bool says(const std::string& text) const;  ///< on either
  /// The model's truth of a spawned process, counted from the end: 0 is the last.
  const nlohmann::json& run(std::size_t from_the_end) const;
  /// Checks that it ended so, and gave everything back.
  void check_ended(int expected) const;
};

/// A machine with programs.
class Mac {
 public:
  /// `scenario`: keys of fakes/darwin/scenario.h, in addition to defaults.
  explicit Mac(nlohmann::json scenario = nlohmann::json::object());

  Folder folder;

  /// Runs lauka_on_model.
  Reported lauka(const std::vector<std::string>& arguments, bool apart = false) const;

  /// The file of the kpep database of the chip with that hw.cpufamily.
  std::string database(const std::string& family) const;
  std::string text_of(const std::string& file) const;

 private:
  nlohmann::json scenario_;
};

/// A machine by its scenario; `Mac mac({...})` would be ambiguous.
inline Mac mac_with(const nlohmann::json& scenario) {
  return Mac(scenario);
}

/// One column of an --export-runs file, run by run.
std::vector<double> column(const std::string& csv, const std::string& name);

}  // namespace lauka::darwin
