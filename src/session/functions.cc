#include "session/functions.h"

#include "core/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lauka {

namespace {

/// The runs of a session with one more metric, the last: the sum of some functions' values.
class WithFunction final : public RunTable {
 public:
  /// `base`: the metric of the whole command, whose runs have values of the functions.
  WithFunction(const Recording& session, std::size_t base, const std::string& function)
      : runs_(session.runs), metric_(session.metrics.size()), values_(runs_->size()) {
    for (std::size_t c = 0; c < session.functions.size(); ++c) {
      const FunctionTable& table = session.functions[c];
      const std::size_t place = table.find(session.metrics[base].name);
      if (place == table.metrics.size()) continue;
      std::size_t round = 0;
      for (const std::uint32_t run : runs_->of_command(c))
        if (runs_->value(run, base) && round < table.metrics[place].rounds)
          values_[run] = sum(table, place, function, round++);
    }
  }

  std::size_t size() const override { return runs_->size(); }
  RunRow row(std::size_t run) const override { return runs_->row(run); }
  std::optional<double> value(std::size_t run, std::size_t metric) const override {
    return metric == metric_ ? values_[run] : runs_->value(run, metric);
  }
  std::optional<double> bound(std::size_t run, std::size_t metric) const override {
    return metric == metric_ ? std::nullopt : runs_->bound(run, metric);
  }
  std::span<const std::uint32_t> of_command(std::size_t command) const override {
    return runs_->of_command(command);
  }

 private:
  static double sum(const FunctionTable& table, std::size_t place, const std::string& function,
                    std::size_t round) {
    double all = 0.0;
    for (const auto& [name, values] : table.functions)
      if (is_function_named(name, function)) all += value_in(values[place], round);
    return all;
  }

  std::shared_ptr<const RunTable> runs_;
  std::size_t metric_;
  std::vector<std::optional<double>> values_;
};

}  // namespace

bool has_function(std::span<const FunctionTable> tables, std::string_view wanted) {
  return std::ranges::any_of(tables, [&](const FunctionTable& table) {
    return std::ranges::any_of(
        table.functions, [&](const auto& entry) { return is_function_named(entry.first, wanted); });
  });
}

Error unknown_function(const std::string& wanted, std::span<const FunctionTable> tables) {
  std::set<std::string> names;
  for (const FunctionTable& table : tables)
    for (const auto& [name, values] : table.functions) names.insert(name);
  const std::vector<std::string> nearest =
      nearest_names(wanted, std::vector<std::string>(names.begin(), names.end()));
  return {fmt::format("no command has the function {}", cited(wanted)),
          nearest.empty() ? "--functions without the gate lists them"
                          : fmt::format("did you mean {}?", listed(nearest, "or")),
          wanted, !nearest.empty()};
}

Result<void> add_function_metrics(std::span<const Condition> gates, bool may_lack,
                                  Recording& session) {
  for (const Condition& gate : gates) {
    const std::size_t at = gate.metric.find(kInFunction);
    const auto base = find_metric(session.metrics, std::string_view(gate.metric).substr(0, at));
    if (at == std::string::npos || !base || find_metric(session.metrics, gate.metric)) continue;
    if (session.functions.empty()) continue;
    const std::string function = normalized_function(gate.metric.substr(at + 1));
    if (!may_lack && !has_function(session.functions, function))
      return unknown_function(function, session.functions);
    auto runs = std::make_shared<WithFunction>(session, *base, function);
    Metric metric = session.metrics[*base];
    metric.name = gate.metric;
    metric.role = Role::Other;
    metric.event.reset();
    session.metrics.push_back(std::move(metric));
    session.runs = std::move(runs);
  }
  return {};
}

}  // namespace lauka
