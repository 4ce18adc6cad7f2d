#include "results/read_session.h"

#include "core/choices.h"
#include "core/foreign_text.h"
#include "core/own_metric.h"
#include "core/text.h"
#include "results/json_in.h"
#include "results/json_words.h"
#include "results/read_parts.h"
#include "results/stored_runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

// A file from anywhere: each step asks whether what it takes is there, and of the right type. What
// an older lauka did not write is left at its default.

namespace lauka {

namespace {

using Json = JsonIn;

constexpr std::size_t kMostShown = 60;  // bytes of a value in a message
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Error foreign(std::string_view detail) {
  return Error{fmt::format("is neither lauka's nor hyperfine's JSON ({})", detail),
               "make one with lauka --export-json FILE"};
}

/// A value that was measured: NaN where it was not, in this run; none where that cannot be.
std::optional<double> measured(const Json& value) {
  if (value.is_null()) return kNone;
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return is_measurable(number) ? std::optional(number) : std::nullopt;
}

bool is_of_ones_own(const Metric& metric) {
  return metric.role == Role::Other && !metric.event &&
         std::none_of(kBuiltInMetrics.begin(), kBuiltInMetrics.end(),
                      [&](const BuiltInMetric& one) { return one.name == metric.name; });
}

/// `may_be_negative`: as a formula of the user's own may.
Result<std::vector<double>> values_of(const Json& list, const std::string& name,
                                      bool may_be_negative = false) {
  std::vector<double> values;
  for (const Json& value : list) {
    const auto number = measured(value);
    if (!number || (*number < 0.0 && !may_be_negative)) {
      const std::string found = value.dump(-1, ' ', true, Json::error_handler_t::replace);
      return Error{fmt::format("has {} among the samples of {}", without_middle(found, kMostShown),
                               cited(name)),
                   "export it again"};
    }
    values.push_back(*number);
  }
  return values;
}

/// Reads one document.
class SessionReader {
 public:
  explicit SessionReader(const Json& document) : document_(document) {}

  Result<ReadSession> read() {
    const Json* results = list_in(document_, "results");
    if (results == nullptr) return foreign("no list of results");
    session_ = member(document_, "lauka");
    read_.recording.by_lauka = session_ != nullptr;
    if (auto known = check_format(); !known) return known.error();
    if (session_ != nullptr) recording().setting = setting_of(*session_);
    if (session_ == nullptr) recording().setting.order = Order::Sequential;  // hyperfine's
    read_metrics(*results);
    for (const Json& result : *results) {
      auto added = session_ != nullptr ? add_command(result) : add_command_of_hyperfine(result);
      if (!added) return added.error();
    }
    if (recording().measured.empty()) return Error{"has no commands", "export it again"};
    recording().runs = std::make_shared<StoredRuns>(std::move(runs_), recording().measured.size(),
                                                    recording().metrics, std::move(at_most_));
    recording().redone = std::make_shared<StoredRuns>(
        std::move(redone_), recording().measured.size(), recording().metrics, Bounds{});
    if (session_ != nullptr) {
      if (auto whole = read_session(); !whole) return whole.error();
    }
    return std::move(read_);
  }

 private:
  using Bounds = StoredRuns::Bounds;
  using Run = StoredRuns::Run;

  Recording& recording() { return read_.recording; }

  Result<void> check_format() {
    if (session_ == nullptr) return {};
    const Json* format = member(*session_, "format");
    if (format == nullptr || !format->is_number_integer()) return foreign("no lauka.format");
    if (*format >= 1 && *format <= kNewestFormat) return {};
    return Error{fmt::format("was written by lauka {}",
                             without_middle(text_in(*session_, "version"), kMostShown)),
                 "export it again"};
  }

  /// Those of the session; of an older one, those of its commands.
  void read_metrics(const Json& results) {
    if (session_ == nullptr) {
      add_metric(Json{{"name", metric_name_of(Role::WallTime)}, {"unit", "s"}});
      return;
    }
    if (const Json* list = list_in(*session_, "metrics"))
      for (const Json& metric : *list) add_metric(metric);
    for (const Json& result : results) {
      const Json* ours = member(result, "lauka");
      const Json* metrics = ours != nullptr ? object_in(*ours, "metrics") : nullptr;
      if (metrics == nullptr) continue;
      for (const auto& [name, metric] : metrics->items())
        if (places_.count(name) == 0)
          add_metric(Json{{"name", name}, {"unit", text_in(metric, "unit")}});
    }
  }

  /// A built-in metric has its own, whatever the file says; none where lauka knows no such unit.
  static std::optional<Unit> unit_of(std::string_view metric, std::string_view word) {
    for (const BuiltInMetric& one : kBuiltInMetrics)
      if (one.name == metric) return one.unit;
    if (word.empty()) return Unit::Count;
    for (const auto& one : kUnitWords)
      if (one.word == word) return one.value;
    return std::nullopt;
  }

  void add_metric(const Json& there) {
    Metric metric;
    metric.name = text_in(there, "name");
    const auto unit = unit_of(metric.name, text_in(there, "unit"));
    if (!unit) return;
    metric.unit = *unit;
    metric.better = value_in(kBetterWords, text_in(there, "better"));
    metric.note = text_in(there, "note");
    metric.shown = flag_in(there, "shown", true) ? Shown::Always : Shown::Verbose;
    metric.shown_in = find_display_unit(text_in(there, "shown_in"));
    metric.kind = value_in(kKindWords, text_in(there, "kind"));
    metric.role =
        value_in(kRoleWords, there.contains("role") ? text_in(there, "role") : metric.name);
    metric.is_part = flag_in(there, "part");
    const auto share = number_in(there, "percentile");
    if (share && *share > 0.0 && *share < 1.0)
      metric.percentile = Percentile{text_in(there, "percentile_of"), *share};
    const auto event = count_in(there, "event");
    if (event && *event < recording().setting.events.events.size()) metric.event = *event;
    places_.emplace(metric.name, recording().metrics.size());
    recording().metrics.push_back(std::move(metric));
  }

  Result<std::size_t> add_name(const Json& result) {
    Command command;
    const std::string text = text_in(result, "command");
    const std::string name = text_in(result, "name");
    command.name = name.empty() ? text : name;
    command.text = text;
    if (command.name.empty()) return foreign("a result without a command");
    recording().measured.push_back(std::move(command));
    return recording().measured.size() - 1;
  }

  Run empty_run(std::size_t command, std::size_t round) {
    Run run;
    run.number = runs_.size();
    run.row.command = command;
    run.row.round = round;
    run.values.assign(recording().metrics.size(), kNone);
    return run;
  }

  /// What `there` tells of a run, kept or redone; `number`: where it does not say which it was.
  Run run_of(const Json& there, std::size_t command, std::size_t number) {
    Run run = empty_run(command, count_in(there, "round").value_or(1) - 1);
    run.number = count_in(there, "run").value_or(number + 1) - 1;
    run.row.pass = count_in(there, "pass").value_or(1) - 1;
    run.row.order = static_cast<std::uint32_t>(count_in(there, "order").value_or(0));
    run.row.status = static_cast<int>(count_in(there, "exit_code").value_or(0) & 0xffU);
    return run;
  }

  Result<void> add_command_of_hyperfine(const Json& result) {
    const auto command = add_name(result);
    if (!command) return command.error();
    const std::string& name = recording().measured[*command].name;
    const auto times = wall_times(result);
    if (!times) return foreign("no times of " + cited(name));
    const auto values = values_of(*times, name);
    if (!values) return values.error();
    for (const double value : *values) {
      Run run = empty_run(*command, runs_.size());
      run.values[0] = value;
      run.row.wall_seconds = value;
      runs_.push_back(std::move(run));
    }
    return {};
  }

  Result<void> add_command(const Json& result) {
    const auto command = add_name(result);
    if (!command) return command.error();
    const Json* ours = member(result, "lauka");
    const Json* metrics = ours != nullptr ? object_in(*ours, "metrics") : nullptr;
    if (metrics == nullptr) return foreign("a result without metrics");
    Command& made = recording().measured[*command];
    if (const std::string text = text_in(*ours, "command_line"); !text.empty()) made.text = text;
    made.typed = count_in(*ours, "typed").value_or(*command);
    if (text_in(*ours, "role") == "anchor") recording().reference.anchor = *command;
    made.folder = text_in(*ours, "cwd");
    made.expected = expected_output_of(text_in(*ours, "expected_output"));
    made.pattern = text_in(*ours, "pattern");
    made.program = {text_in(*ours, "executable_sha256"), text_in(*ours, "call_sha256")};
    if (const Json* parameters = list_in(*ours, "parameters"))
      for (const Json& one : *parameters)
        made.parameters.push_back({text_in(one, "name"), text_in(one, "value")});
    if (const Json* overhead = member(*ours, "shell_overhead")) read_overhead(*overhead);
    std::vector<Run> runs = runs_of(*ours, *command);
    if (auto added = add_samples(*metrics, *command, runs); !added) return added;
    for (Run& run : runs) runs_.push_back(std::move(run));
    return read_redone(*ours, *command);
  }

  void read_overhead(const Json& there) {
    const auto nanoseconds = [&](Role role) {
      const auto seconds = number_in(there, metric_name_of(role));
      return static_cast<std::uint64_t>(
          std::llround(std::clamp(seconds.value_or(0.0), 0.0, 1e9) * 1e9));
    };
    recording().overheads.push_back(
        {nanoseconds(Role::WallTime), nanoseconds(Role::UserTime), nanoseconds(Role::SystemTime)});
  }

  std::vector<Run> runs_of(const Json& ours, std::size_t command) {
    std::vector<Run> runs;
    const Json* list = list_in(ours, "runs");
    if (list == nullptr) return runs;
    for (const Json& there : *list) {
      Run run = run_of(there, command, 0);
      run.row.kind = value_in(kKindWords, text_in(there, "kind"));
      run.row.coverage = number_in(there, "coverage");
      run.row.wall_seconds = number_in(there, metric_name_of(Role::WallTime)).value_or(0.0);
      run.row.below_overhead = flag_in(there, "below_overhead");
      if (const Json* own = object_in(there, "own"))
        for (const Event& event : recording().setting.events.events)
          if (const auto count = count_in(*own, event.name))
            run.row.own.push_back({event.name, *count});
      runs.push_back(std::move(run));
    }
    return runs;
  }

  void enter(const std::vector<double>& values, std::size_t metric, std::vector<Run>& runs) {
    const bool is_wall_time = recording().metrics[metric].role == Role::WallTime;
    for (std::size_t i = 0; i < values.size(); ++i) {
      runs[i].values[metric] = values[i];
      if (is_wall_time && !std::isnan(values[i])) runs[i].row.wall_seconds = values[i];
    }
  }

  /// Fills the runs' values; where the file does not tell the runs, there are as many as samples.
  Result<void> add_samples(const Json& metrics, std::size_t command, std::vector<Run>& runs) {
    const std::string& name = recording().measured[command].name;
    const bool is_told = !runs.empty();
    for (const auto& [metric, there] : metrics.items()) {
      const Json* samples = list_in(there, "samples");
      if (samples == nullptr) return foreign("a metric without samples");
      const auto known = places_.find(metric);
      if (known != places_.end() && recording().metrics[known->second].percentile) continue;
      const bool is_own =
          known != places_.end() && is_of_ones_own(recording().metrics[known->second]);
      const auto values = values_of(*samples, name, is_own);
      if (!values) return values.error();
      if (is_told && values->size() != runs.size()) return foreign("samples without their runs");
      if (known == places_.end()) continue;
      const std::size_t place = known->second;
      const Metric& of = recording().metrics[place];
      if (auto fits = check_unit(of, text_in(there, "unit"), name); !fits) return fits;
      while (runs.size() < values->size()) runs.push_back(empty_run(command, runs.size()));
      enter(*values, place, runs);
      const Json* bound = member(there, "at_most");
      if (const auto value = bound != nullptr ? measured(*bound) : std::nullopt)
        at_most_[{command, place}] = *value;
    }
    return {};
  }

  Result<void> read_redone(const Json& ours, std::size_t command) {
    const Json* list = list_in(ours, "redone_runs");
    if (list == nullptr) return {};
    for (const Json& there : *list) {
      Run run = run_of(there, command, redone_.size());
      run.why = text_in(there, "why");
      if (const Json* values = object_in(there, "values")) {
        for (const auto& [metric, value] : values->items()) {
          const auto place = places_.find(metric);
          if (place != places_.end()) run.values[place->second] = measured(value).value_or(kNone);
        }
      }
      redone_.push_back(std::move(run));
    }
    return {};
  }

  Result<void> read_session() {
    Recording& to = recording();
    const Json& there = *session_;
    to.circumstances = circumstances_of(there);
    if (const Json* metadata = member(document_, "metadata"))
      to.circumstances.began = time_of(text_in(*metadata, "start_time"));
    if (const Json* timers = member(there, "timers")) {
      to.timers.clock_step =
          std::chrono::nanoseconds(count_in(*timers, "clock_step_ns").value_or(1));
      if (const auto tick = count_in(*timers, "tick_ns"))
        to.timers.tick = std::chrono::nanoseconds(*tick);
    }
    to.origins = origins_of(there, to.measured.size());
    to.complete = flag_in(there, "complete", true);
    const double confidence = number_in(there, "confidence").value_or(0.0);
    if (confidence > 0.0 && confidence < 1.0) to.confidence = confidence;
    to.notes = texts_in(there, "notes");
    if (auto shell = split_words(text_in(there, "shell"))) to.shell = *std::move(shell);
    to.reference.command =
        std::min<std::size_t>(count_in(there, "reference").value_or(0), to.measured.size() - 1);
    read_.findings = findings_of(there, to);
    return read_baseline(there);
  }

  /// The samples that this session itself was compared with.
  Result<void> read_baseline(const Json& there) {
    const Json* baseline = member(there, "baseline");
    if (baseline == nullptr) return {};
    auto session = std::make_shared<Recording>();
    session->by_lauka = text_in(*baseline, "tool") != "hyperfine";
    session->circumstances = circumstances_of(*baseline);
    session->metrics = recording().metrics;
    const std::vector<std::string> names = texts_in(*baseline, "commands");
    const auto executables = texts_in(*baseline, "executable_sha256");
    const auto calls = texts_in(*baseline, "call_sha256");
    const Json* samples = list_in(*baseline, "samples");
    if (names.size() != recording().measured.size()) return foreign("a baseline without commands");
    const bool has_samples = samples != nullptr && samples->size() == names.size();  // else older
    std::vector<Run> runs;
    Baseline reference{.file = text_in(*baseline, "file")};
    for (std::size_t c = 0; c < names.size(); ++c) {
      session->measured.push_back({.name = names[c], .text = names[c], .words = {}});
      if (executables.size() == names.size() && calls.size() == names.size())
        session->measured.back().program = {executables[c], calls[c]};
      reference.commands.push_back(c);
      std::vector<Run> of_command;
      if (has_samples)
        if (auto added = add_samples((*samples)[c], c, of_command); !added) return added;
      for (Run& run : of_command) runs.push_back(std::move(run));
    }
    for (std::size_t m = 0; m < session->metrics.size(); ++m) reference.metrics.emplace_back(m);
    session->runs =
        std::make_shared<StoredRuns>(std::move(runs), names.size(), session->metrics, Bounds{});
    reference.session = std::move(session);
    recording().reference.baseline = std::move(reference);
    return {};
  }

  const Json& document_;
  const Json* session_ = nullptr;
  ReadSession read_{};
  std::map<std::string, std::size_t, std::less<>> places_{};  // of the metrics, by name
  std::vector<Run> runs_{};
  std::vector<Run> redone_{};
  Bounds at_most_{};
};

/// The results of each benchmark, taken out of the document.
std::map<std::string, JsonIn> results_by_benchmark(JsonIn& document) {
  std::map<std::string, JsonIn> all;
  const auto results = document.find("results");
  if (results == document.end() || !results->is_array()) return all;
  for (JsonIn& result : *results) {
    const JsonIn* ours = object_in(result, "lauka");
    if (ours == nullptr) continue;
    JsonIn& list = all[text_in(*ours, "benchmark")];
    if (list.is_null()) list = JsonIn::array();
    list.push_back(std::move(result));
  }
  return all;
}

JsonIn document_of(const JsonIn& document, const JsonIn& session, const JsonIn& benchmark,
                   JsonIn results) {
  JsonIn alone = JsonIn::object();
  if (const JsonIn* metadata = object_in(document, "metadata")) alone["metadata"] = *metadata;
  alone["results"] = std::move(results);
  JsonIn& ours = alone["lauka"] = session;
  if (benchmark.is_object()) ours.update(benchmark);
  return alone;
}

}  // namespace

Result<ReadSession> read_session(std::string_view text) {
  const auto document = parsed(text);
  if (!document) return document.error();
  return read_session_of(*document);
}

Result<ReadSession> read_session_of(const JsonIn& document) {
  return SessionReader(document).read();
}

Result<ReadFile> read_file_of_sessions(std::string_view text) {
  auto document = parsed(text);
  if (!document) return document.error();
  ReadFile file;
  const JsonIn* ours = object_in(*document, "lauka");
  const JsonIn* benchmarks = ours != nullptr ? list_in(*ours, "benchmarks") : nullptr;
  if (benchmarks == nullptr) {
    auto session = read_session_of(*document);
    if (!session) return session.error();
    file.benchmarks.push_back(*std::move(session));
    return file;
  }
  file.risk = value_in(kRiskWords, text_in(*ours, "gates_control"));
  JsonIn session = *ours;
  session.erase("benchmarks");
  const JsonIn names = *benchmarks;
  auto results = results_by_benchmark(*document);
  for (const JsonIn& benchmark : names) {
    const std::string name = text_in(benchmark, "name");
    const auto found = results.find(name);
    if (name.empty() || found == results.end())
      return Error{"has a benchmark " + cited(name) + " without results", "export it again"};
    auto read =
        read_session_of(document_of(*document, session, benchmark, std::move(found->second)));
    if (!read) return read.error();
    results.erase(found);
    file.benchmarks.push_back(*std::move(read));
    file.benchmarks.back().benchmark = name;
  }
  if (file.benchmarks.empty()) return Error{"has no benchmarks", "export it again"};
  return file;
}

}  // namespace lauka
