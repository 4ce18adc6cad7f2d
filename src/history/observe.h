#pragma once

#include "history/load.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::history {

/// Of several sessions, each weighted by how sure it is where all say so.
LogRatio mean_of(std::span<const LogRatio> ratios);

/// What the values of a history are compared with in their own sessions.
enum class Against : unsigned char {
  Usual,    ///< the anchor where the latest session has one, else nothing
  Nothing,  ///< they stand for themselves
  Reference,
  Anchor,
};

/// A commit, with all sessions that measured it.
struct Observation {
  std::int64_t began = 0;  ///< the first of them
  std::string commit{};    ///< empty: not known, and the session stands alone
  std::size_t sessions = 0;
  double value = 0.0;             ///< its logarithm, or that of the ratio, where Trend says so
  std::optional<double> error{};  ///< standard error of the value, of what varies within sessions
  double link_error = 0.0;        ///< and that of chained anchors, which neighbours share

  /// Of both.
  std::optional<double> whole_error() const;
};

/// A series from commit to commit, in the order in which they were first measured.
struct Trend {
  Against against = Against::Nothing;  ///< never Usual
  bool is_logarithm = true;            ///< false: a value is not above 0
  std::vector<Observation> commits{};
};

Trend trend_of(const Series& series, Against against);

/// "parse, wall_time, candidate": what a series is of, on one line.
std::string title_of(const Series& series);

/// What the values are: "value", "to the anchor".
std::string_view words_of(Against against);

}  // namespace lauka::history
