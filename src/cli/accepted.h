#pragma once

#include "core/condition.h"
#include "core/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace lauka::cli {

/// An entry of the file of --accept.
struct AcceptedRegression {
  std::string benchmark{};  ///< name in a suite; empty: every benchmark, and calls without a suite
  Condition condition{};    ///< its limit is the accepted one
  std::string reason{};
  std::string last_day{};  ///< such as "2027-03-01"
  std::string entry{};     ///< file and line, such as "accepted.toml:3"
  bool has_gate = false;   ///< true if accept_regressions() found a gate for it
};

/// Reads the entries of `text`, the content of `file`. An error names the file and the line.
Result<std::vector<AcceptedRegression>> read_accepted(const std::string& file,
                                                      std::string_view text);

/// Gives the gates of a benchmark the limits that are accepted on the day `today`, which is written
/// as AcceptedRegression::last_day. An entry of this benchmark wins over an entry of every
/// benchmark. Returns notes about entries whose limit is not beyond the gate's own.
std::vector<Note> accept_regressions(std::vector<AcceptedRegression>& accepted,
                                     std::string_view benchmark, std::string_view today,
                                     std::vector<Condition>& gates);

}  // namespace lauka::cli
