#include "cli/setters.h"

#include "cli/values.h"
#include "core/exit_status.h"
#include "core/own_metric.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace lauka::cli {

namespace {

/// Of a gate, in percent: at -100 the candidate would have to take no time at all.
constexpr Range kLimits{{-100.0, false}, {1e6, true}};

}  // namespace

Result<void> add_events(Draft& draft, const Given& given) {
  const bool beside_defaults = given.value.starts_with('+');
  const std::string list = beside_defaults ? given.value.substr(1) : given.value;
  const auto names = event_names(Given{given.option, list});
  if (!names) return names.error();
  draft.options.with_default_events = draft.options.with_default_events || beside_defaults;
  auto& events = draft.options.events;
  for (const std::string& name : *names) {
    if (std::find(events.begin(), events.end(), name) == events.end()) events.push_back(name);
  }
  return {};
}

Result<void> set_ignore_failure(Draft& draft, const Given& given) {
  if (given.value.empty()) {
    draft.options.ignore_failure = IgnoreFailure{.any = true};
    return {};
  }
  auto statuses = exit_statuses(given);
  if (!statuses) return statuses.error();
  draft.options.ignore_failure = IgnoreFailure{.any = false, .statuses = *std::move(statuses)};
  return {};
}

Result<void> set_fail_if_slower(Draft& draft, const Given& given) {
  double limit_percent = 0.0;
  if (!given.value.empty()) {
    const auto percent = percentage(given, kLimits.low, kLimits.high);
    if (!percent) return percent.error();
    limit_percent = *percent;
  }
  draft.slower_percent = limit_percent;
  return {};
}

/// A key is a word, so that it can be one of a file's or a database's.
Result<void> add_label(Draft& draft, const Given& given) {
  const std::size_t equals = given.value.find('=');
  const std::string key = given.value.substr(0, equals);
  if (equals == std::string::npos || !is_own_name(key))
    return refused(given, {"is not KEY=VALUE", "write, for example, --label commit=1a2b3c"});
  auto& labels = draft.options.labels;
  if (std::any_of(labels.begin(), labels.end(),
                  [&](const Label& label) { return label.key == key; }))
    return refused(given, {"gives a key twice", "use only one of them"});
  labels.push_back({key, given.value.substr(equals + 1)});
  return {};
}

Result<void> set_fail_if_inconclusive(Draft& draft, const Given& given) {
  draft.options.fail_if_inconclusive = static_cast<int>(ExitStatus::GateInconclusive);
  if (given.value.empty()) return {};
  const auto status = whole_number(given, 1, 255);
  if (!status) return status.error();
  draft.options.fail_if_inconclusive = static_cast<int>(*status);
  return {};
}

Result<void> add_fail_if(Draft& draft, const Given& given) {
  auto gate = condition(given, kLimits);
  if (!gate) return gate.error();
  draft.options.gates.push_back(*std::move(gate));
  return {};
}

Result<void> set_percentiles(Draft& draft, const Given& given) {
  std::vector<double>& all = draft.options.percentiles;
  all.clear();
  for (const std::string& part : list_of(given.value)) {
    const auto percent = parse_decimal(part, {0.0, false}, {100.0, false});
    if (!percent) return refused(Given{given.option, part}, percent.error());
    if (std::find(all.begin(), all.end(), *percent) == all.end()) all.push_back(*percent);
  }
  return {};
}

/// An event's own name may have colons too: the last one counts.
Result<void> set_precision(Draft& draft, const Given& given) {
  const std::size_t colon = given.value.rfind(':');
  const bool names_metric = colon != std::string::npos && colon > 0;
  draft.options.precision_metric = names_metric ? given.value.substr(0, colon) : "";
  const std::string number = names_metric ? given.value.substr(colon + 1) : given.value;
  return keep(fraction(Given{given.option, number}, {0.0, false}, {1000.0, true}),
              draft.options.precision);
}

EngineWords engine_words() {
  EngineWords words;
  for (const EngineRow& row : kEngines) {
    words.names.append(words.names.empty() ? "" : "|").append(row.name);
    if (!row.help.empty()) words.help += fmt::format("; {} {}", row.name, row.help);
  }
  return words;
}

Result<void> set_engine(Draft& draft, const Given& given) {
  const Result<std::size_t> position = choice(given);
  if (!position) return position.error();
  draft.options.engine = kEngines.at(*position).choice;
  return {};
}

Result<void> set_metrics(Draft& draft, const Given& given) {
  Options& options = draft.options;
  options.metric_list.clear();
  if (given.value == "default" || given.value == "time" || given.value == "all") {
    options.metrics = given.value == "time"  ? MetricSelection::Time
                      : given.value == "all" ? MetricSelection::All
                                             : MetricSelection::Default;
    return {};
  }
  options.metrics = MetricSelection::Listed;
  return keep(event_names(given), options.metric_list);
}

Result<void> add_parameter_list(Draft& draft, const Given& given) {
  if (given.words[1].empty()) {
    return Error{fmt::format("{} {} has an empty list", given.option.spelling(), given.words[0]),
                 "write values with commas between them"};
  }
  draft.options.parameters.push_back({.name = given.words[0], .values = list_of(given.words[1])});
  return {};
}

Result<void> set_interval(Draft& draft, const Given& given) {
  const auto interval = duration(given);
  if (!interval) return interval.error();
  if (*interval < std::chrono::milliseconds(1) || *interval > std::chrono::hours(1))
    return refused(given, {"is not between 1ms and 1h", "write, for example, 10ms"});
  draft.interval = *interval;
  return {};
}

Result<void> set_threads(Draft& draft, const Given& given) {
  Inquiry inquiry{.kind = InquiryKind::Threads};
  for (const std::string& one : list_of(given.value)) {
    const auto process =
        whole_number(Given{given.option, one}, 1, std::numeric_limits<std::int32_t>::max());
    if (!process) return process.error();
    const auto id = static_cast<std::int32_t>(*process);
    auto& all = inquiry.processes;
    if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
  }
  draft.options.inquiry = std::move(inquiry);
  return {};
}

}  // namespace lauka::cli
