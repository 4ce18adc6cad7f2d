#include "report/layout_lines.h"

#include "report/format.h"
#include "results/analyse.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace lauka::report {

namespace {

std::string make_scatter_line(const stats::LayoutEstimate& estimate, const Metric& metric,
                              const std::string& subject) {
  const auto& scatter = estimate.scatter;
  if (!scatter || !scatter->bounds) return "";
  if (scatter->is_clear)
    return fmt::format("{}the placement of the code alone changes {} by {} ({} … {})\n", subject,
                       metric.name, rough_percent(scatter->deviation),
                       rough_percent(scatter->bounds->low), rough_percent(scatter->bounds->high));
  return fmt::format("{}the placement of the code has no clear effect on {} (at most {})\n",
                     subject, metric.name, rough_percent(scatter->bounds->high));
}

/// Returns 1 for a significant rise, -1 for a significant fall, and 0 for neither.
int find_direction(const stats::Delta& delta) {
  if (!delta.is_significant()) return 0;
  return *delta.change > 0.0 ? 1 : -1;
}

/// The numbers of layouts of a candidate and its reference. They may differ if the two are from
/// different sessions.
struct LayoutCounts {
  std::uint32_t of_reference = 1;
  std::uint32_t of_candidate = 1;

  /// Returns "8" or, if the numbers differ, "8 and 6", the reference's first.
  std::string text() const {
    return of_reference == of_candidate ? fmt::to_string(of_candidate)
                                        : fmt::format("{} and {}", of_reference, of_candidate);
  }
};

std::string make_line_on_both_answers(const MetricResult& row, const LayoutCounts& layouts,
                                      const std::string& subject) {
  if (!row.delta || !is_misled_by_one_layout(row)) return "";
  return fmt::format("{}the change over {} layouts is {}, but that of layout 1 alone is {}\n",
                     subject, layouts.text(), delta_text(*row.delta),
                     delta_text(*row.layouts->delta_of_first_layout));
}

std::string make_line_on_left_out_layouts(const MetricResult& row, const LayoutCounts& layouts,
                                          const std::string& subject) {
  if (!row.delta)
    return fmt::format(
        "{}the change over layouts is unknown, because fewer than {} of {} layouts ran on both "
        "sides without a failure\n",
        subject, kMinLayouts, layouts.text());
  if (!row.layouts->mean_log_ratio) return "";
  const std::vector<stats::LayoutMean>& each = row.layouts->mean_log_ratio->layout_means;
  std::string missing;
  for (std::uint32_t layout = 0; layout < layouts.of_candidate; ++layout)
    if (std::ranges::find(each, layout, &stats::LayoutMean::layout) == each.end())
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", layout + 1);
  if (missing.empty()) return "";
  return fmt::format(
      "{}the change leaves out layout {} of {}, which did not run on both sides without a "
      "failure\n",
      subject, missing, layouts.of_candidate);
}

bool may_be_placement(const Results& results, std::size_t command, std::size_t metric) {
  constexpr double largest_usual_effect = 0.03;  // of placement, as layouts_advice_line says
  const auto program = [](const Command& measured) {
    return measured.text.substr(0, measured.text.find(' '));
  };
  const Role role = results.session.metrics[metric].role;
  const auto& delta = results.commands[command].rows[metric].delta;
  return (role == Role::WallTime || role == Role::CpuTime) && delta && delta->is_significant() &&
         std::abs(*delta->change) < largest_usual_effect &&
         program(results.session.commands[command]) != program(results.reference_of(command));
}

/// Returns the lines about the only command of a session: its mean over layouts, and their scatter.
std::string make_lines_of_only_command(const Results& results, const MetricResult& row,
                                       const Metric& metric) {
  const stats::LayoutEstimate& mean = *row.layouts->mean;
  const std::string start =
      fmt::format("mean of {} over {} layouts: ", metric.name, mean.layout_count);
  if (row.summary && are_exact(*row.summary, metric))
    return start + mean_text(*row.summary, metric) + "\n";

  const double reach = mean.interval_half_width((1.0 - results.session.confidence) / 2.0);
  return start + mean_text(mean.value, reach, metric) + "\n" + make_scatter_line(mean, metric, "");
}

/// Returns the lines about a candidate's change in `metric`, each of which begins with `subject`.
std::string make_lines_of_candidate(const Results& results, std::size_t candidate,
                                    std::size_t metric, const std::string& subject) {
  const Pair pair = pair_of(results.session, candidate);
  const LayoutCounts layouts{.of_reference = count_layouts(results.session, pair.reference),
                             .of_candidate = count_layouts(results.session, pair.candidate)};
  // A reference without layouts allows no comparison over layouts. A warning says so.
  if (layouts.of_reference == 1) return "";

  const MetricResult& row = results.commands[candidate].rows[metric];
  std::string lines = make_line_on_both_answers(row, layouts, subject) +
                      make_line_on_left_out_layouts(row, layouts, subject);
  // Exact values, such as simulated instructions, do not scatter.
  const bool is_exact = row.delta && row.delta->is_exact;
  if (!row.layouts->mean_log_ratio || is_exact) return lines;
  return lines +
         make_scatter_line(*row.layouts->mean_log_ratio, results.session.metrics[metric], subject);
}

}  // namespace

std::string layouts_advice_line(const Results& results) {
  const auto primary = primary_metric(results.session.metrics);
  if (results.session.setting.layouts > 1 || !primary) return "";
  for (const std::size_t candidate : find_candidates(results))
    if (may_be_placement(results, candidate, *primary))
      return "changes below 3% between two builds may come from the placement of their code alone; "
             "--layouts compares several builds of each (docs/layouts.md)\n";
  return "";
}

// Layout 1 has only a part of the runs. If it alone is not significant, more of its runs might have
// given the answer of all layouts, unless its interval rules out their change.
bool is_misled_by_one_layout(const MetricResult& row) {
  if (!row.delta || !row.delta->change || !row.layouts || !row.layouts->delta_of_first_layout)
    return false;
  const stats::Delta& alone = *row.layouts->delta_of_first_layout;
  if (find_direction(*row.delta) == find_direction(alone)) return false;
  return alone.is_significant() || (alone.bounds && alone.bounds->leave_out(*row.delta->change));
}

/// With --layouts, each command was built several times, with its code at other addresses. The
/// lines say what the layouts add to the result: whether a single layout would have misled the
/// user, which layouts are missing, and how much the addresses alone change the metric.
std::string layout_lines(const Results& results) {
  const auto metric_index = primary_metric(results.session.metrics);
  const bool has_layouts = results.session.setting.layouts != 1;
  if (!has_layouts || !metric_index) return "";

  const bool has_only_one_command = results.commands.size() == 1;
  const bool has_several_candidates = find_candidates(results).size() > 1;
  std::string lines;
  for (std::size_t c = 0; c < results.commands.size(); ++c) {
    const MetricResult& row = results.commands[c].rows[*metric_index];
    if (!row.layouts) continue;

    // A reference has no lines of its own. Those of its candidates are also about it.
    if (results.session.reference.is_candidate(c)) {
      const std::string subject =
          has_several_candidates ? results.session.commands[c].name + ": " : "";
      lines += make_lines_of_candidate(results, c, *metric_index, subject);
    } else if (has_only_one_command && row.layouts->mean) {
      lines += make_lines_of_only_command(results, row, results.session.metrics[*metric_index]);
    }
  }

  return lines;
}

}  // namespace lauka::report
