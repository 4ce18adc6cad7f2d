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

/// Half the width of a 95% interval: Student's t, with so many degrees of freedom (below 1: 1).
double reach95(double error, double degrees);

/// The degrees of freedom of the sum of two independent errors, by Welch & Satterthwaite.
double degrees_of_sum(double error, double degrees, double other, double other_degrees);

/// One session's share of a value.
struct SessionPart {
  LogRatio ratio{};
  std::uint64_t runs = 0;
};

/// Makes no session surer than its series: each error is at least the typical one for its number of
/// runs. Returns the variance between sessions, beside that, by neighbours of `parts` in order.
double hold_errors(std::span<SessionPart> parts);

/// What sessions of one commit are together.
struct Merged {
  LogRatio ratio{};
  double degrees = 1.0;
};

/// Of sessions that vary by `between` (a variance) beside their errors; of a single one, itself.
Merged merged(std::span<const SessionPart> parts, double between);

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
  double degrees = 1.0;           ///< of freedom, of `error`

  /// Of both.
  std::optional<double> whole_error() const;

  /// Half the width of the 95% interval, of both errors; 0: not known.
  double reach() const;
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
