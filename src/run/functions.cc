#include "run/functions.h"

#include "session/baseline.h"
#include "session/functions.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace lauka {

void FunctionTableBuilder::add(const Step& step, const std::vector<FunctionCounts>& functions) {
  if (functions.empty()) return;
  constexpr double ns_per_second = 1e9;
  std::vector<std::string> metrics;
  double per_unit = 1.0;
  for (const std::size_t index : plan_.setting.events.passes.at(step.pass).event_indices) {
    const Event& event = plan_.setting.events.events[index];
    if (event.is_time) per_unit = ns_per_second;
    if (event.only_function.empty()) metrics.push_back(event.name);
  }
  tables_[step.command].add_round(metrics, functions, per_unit);
}

std::optional<Error> FunctionTableBuilder::find_unknown() {
  const bool has_all = std::ranges::none_of(
      tables_, [](const FunctionTable& table) { return table.functions.empty(); });
  if (is_checked_ || !has_all) return std::nullopt;
  is_checked_ = true;
  std::vector<std::string> wanted;
  for (const Event& event : plan_.setting.events.events) wanted.push_back(event.only_function);
  const auto& baseline = plan_.reference.baseline;
  const auto known =
      check_functions(wanted, tables_,
                      baseline ? std::span<const FunctionTable>(baseline->session->function_tables)
                               : std::span<const FunctionTable>());
  return known ? std::nullopt : std::optional(known.error());
}

std::vector<FunctionTable> FunctionTableBuilder::close() {
  const bool has_any = std::ranges::any_of(
      tables_, [](const FunctionTable& table) { return !table.metrics.empty(); });
  return has_any ? std::move(tables_) : std::vector<FunctionTable>();
}

}  // namespace lauka
