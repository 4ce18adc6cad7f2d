#include "core/text.h"
#include "report/exports.h"
#include "report/format.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

// Go's benchmark format, as benchstat reads it: https://go.dev/design/14313-benchmark-format. A
// line is a run, since benchstat takes each line for a sample.

namespace lauka::report {

namespace {

bool is_space(char32_t code) {
  return code == ' ' || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
         code == 0x202f || code == 0x205f || code == 0x3000;
}

/// "Benchmarkparse/role=candidate", "Benchmark/command=old_{n}/n=8": comparable parts are keys, as
/// `benchstat -col` takes them.
std::string full_name(const CommandResult& command, const ToolName& name) {
  std::string text = "Benchmark" + benchfmt_word(name.benchmark);
  if (!name.role.empty()) text += fmt::format("/role={}", name.role);
  if (!name.command.empty()) {
    const std::string& typed = command.parameters.empty() ? command.name : command.pattern;
    text += "/command=" + benchfmt_word(typed + name.twin);
    for (const Parameter& parameter : command.parameters)
      text += fmt::format("/{}={}", benchfmt_word(parameter.name), benchfmt_word(parameter.value));
  }
  // Go takes a number after the last - for the number of processors.
  const std::size_t last = text.find_last_not_of("0123456789");
  if (last + 1 < text.size() && text[last] == '-') text[last] = '_';
  return text;
}

void write_runs(const Results& results, const Sink& sink) {
  std::vector<std::string> names;
  for (const ToolName& name : tool_names(results))
    names.push_back(full_name(results.commands[names.size()], name));
  for (std::size_t run = 0; run < results.runs->size(); ++run) {
    std::string values;
    for (std::size_t m = 0; m < results.metrics.size(); ++m) {
      const Metric& metric = results.metrics[m];
      const auto value = metric.percentile ? std::nullopt : results.runs->value(run, m);
      if (!value || !std::isfinite(*value)) continue;
      values +=
          fmt::format(" {} {}", full_precision(*value), benchfmt_unit(metric.name, metric.unit));
    }
    if (!values.empty()) sink(names[results.runs->row(run).command] + " 1" + values + "\n");
  }
}

}  // namespace

std::string benchfmt_word(std::string_view text) {
  const std::string line = one_line(text);
  std::string word;
  for (std::string_view rest = line; !rest.empty();) {
    const Character first = first_character(rest);
    const bool is_end = is_space(first.code) || first.code == '/';
    word += is_end ? "_" : rest.substr(0, first.bytes);
    rest.remove_prefix(first.bytes);
  }
  return word;
}

std::string benchfmt_unit(std::string_view metric, Unit unit) {
  if (metric == metric_name_of(Role::WallTime)) return "sec/op";
  const std::string_view suffix = unit == Unit::Seconds ? "-sec" : unit == Unit::Bytes ? "-B" : "";
  return benchfmt_word(metric) + std::string(suffix);
}

void write_benchfmt(const Report& report, const Sink& sink) {
  const Machine& machine = report.benchmarks.front().circumstances.machine;
  if (!machine.cpu_model.empty()) sink("cpu: " + one_line(machine.cpu_model) + "\n");
  std::vector<std::string> known;
  for (const Results& one : report.benchmarks) {
    for (const Metric& metric : one.metrics) {
      const std::string unit = benchfmt_unit(metric.name, metric.unit);
      const bool is_known = std::ranges::find(known, unit) != known.end();
      if (metric.percentile || metric.better != Better::More || is_known) continue;
      known.push_back(unit);
      sink(fmt::format("Unit {} better=higher\n", unit));
    }
  }
  for (const Results& one : report.benchmarks) write_runs(one, sink);
}

std::string_view role_of(const Reference& reference, std::size_t command) {
  if (reference.anchor == command) return "anchor";
  return reference.is_candidate(command) ? "candidate" : "reference";
}

std::string ToolName::text() const {
  std::string all = benchmark;
  for (const std::string& part : {role, command})
    if (!part.empty()) all += (all.empty() ? "" : " ") + part;
  return all + twin;
}

std::vector<ToolName> tool_names(const Results& results) {
  std::vector<ToolName> names;
  for (const CommandResult& command : results.commands)
    names.push_back({.benchmark = results.benchmark,
                     .role = results.benchmark.empty()
                                 ? ""
                                 : std::string(role_of(results.reference, names.size())),
                     .command = command.name});
  std::vector<ToolName> unique = names;
  for (std::size_t c = 0; c < names.size(); ++c) {
    const auto has_role = [&](const ToolName& other) { return other.role == names[c].role; };
    if (!names[c].role.empty() && std::ranges::count_if(names, has_role) == 1)
      unique[c].command.clear();
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(c);
    const auto earlier = std::count_if(names.begin(), end, [&](const ToolName& other) {
      return has_role(other) && other.command == names[c].command;
    });
    if (earlier > 0) unique[c].twin = fmt::format("#{}", earlier + 1);
  }
  return unique;
}

}  // namespace lauka::report
