#pragma once

#include "history/load.h"
#include "history/observe.h"
#include "report/style.h"
#include "report/table.h"

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lauka::history {

/// Small drawings of intervals, one below the other, on one scale.
class Drawing {
 public:
  /// Makes room for a value and so much on either side.
  void include(double value, double reach);

  /// Of one value and the ends of its interval.
  std::string of(double value, double low, double high, bool ascii) const;

 private:
  bool has_any_ = false;
  double low_ = 0.0;
  double high_ = 0.0;
};

/// A table without rows; in a narrow terminal the middle of what is long is left out.
report::Table table_of(std::initializer_list<std::string_view> headings);

/// The same with a drawing at the end of each row, which goes first: what it shows stands beside
/// it.
report::Table table_with_drawing(std::initializer_list<std::string_view> headings);

/// A metric of a history, for whoever shows its values.
Metric as_metric(const MetricRecord& record);

/// "2026-11-22 18:00", UTC.
std::string minute_text(std::int64_t seconds);

/// As long as people write it: ten digits, with "+dirty".
std::string short_commit(const std::string& commit);

/// A commit as long as people write it, or when it was measured if it is not known.
std::string commit_name(const Observation& commit);

/// The value of a commit with its 95% interval: "591ms ± 5.1ms", "−2.1% ± 0.3%" where it is a
/// ratio.
std::string value_text(const Trend& trend, const Observation& commit, const MetricRecord& metric);

/// The change from one commit to another, likewise.
std::string change_text(const Trend& trend, const Observation& from, const Observation& to,
                        const MetricRecord& metric);

/// "machine 1a2b3c4d5e6f7081: AMD EPYC, 8 CPUs, Linux 6.1".
std::string machine_line(const Variant& variant);

/// What `list` says.
std::string sessions_text(const std::vector<SessionLine>& sessions, const report::Style& style);
std::string benchmarks_text(const std::vector<Variant>& variants, const report::Style& style);

/// What `show` says of one series: a line for each of its last commits.
/// `steps`: what is added to the change of a commit, by its index ("step 1a2b3c4d").
std::string series_text(const Series& series, const Trend& trend, const report::Style& style,
                        const std::map<std::size_t, std::string>& steps = {});

}  // namespace lauka::history
