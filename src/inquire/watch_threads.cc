#include "inquire/watch_threads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka::inquire {
namespace {

using cores::SampledPart;
using cores::ThreadSample;
using std::chrono::nanoseconds;

double seconds(nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Appends the members of an object, of which each line has the same.
class Members {
 public:
  explicit Members(std::string& text) : text_(text) {}

  void add(std::string_view name, std::string_view json) {
    fmt::format_to(std::back_inserter(text_), "{}\"{}\":{}", is_first_ ? "" : ",", name, json);
    is_first_ = false;
  }
  void add(std::string_view name, const std::optional<double>& value) {
    add(name, value ? fmt::format("{:.9g}", *value) : "null");
  }
  void add(std::string_view name, const std::optional<std::uint64_t>& value) {
    add(name, value ? fmt::format("{}", *value) : "null");
  }
  void add(std::string_view name, bool value) {
    add(name, std::string_view(value ? "true" : "false"));
  }

 private:
  std::string& text_;
  bool is_first_ = true;
};

std::optional<double> quotient(std::optional<double> a, std::optional<double> b) {
  if (!a || !b || *b <= 0.0) return std::nullopt;
  return *a / *b;
}

void add_part(const SampledPart& part, nanoseconds interval, Members& members) {
  members.add("cpu_time", part.cpu_seconds);
  members.add("user_time", part.user_seconds);
  members.add("system_time", part.system_seconds);
  members.add("cycles", part.cycles);
  members.add("instructions", part.instructions);
  std::optional<double> cycles;
  if (part.cycles) cycles = static_cast<double>(*part.cycles);
  members.add("clock", quotient(cycles, part.cpu_seconds));
  members.add("energy", part.joules);
  members.add("power", quotient(part.joules, seconds(interval)));
}

/// Of the time on all kinds of core, that on the fastest.
std::optional<double> share_of_fastest(const ThreadSample& sample) {
  double all = 0.0;
  for (const SampledPart& part : sample.by_kind) all += part.cpu_seconds.value_or(0.0);
  if (sample.by_kind.size() < 2) return std::nullopt;
  return quotient(sample.by_kind.front().cpu_seconds, all);
}

std::string string_of(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string thread_line(const ThreadSample& sample, const std::vector<std::string>& kinds,
                        nanoseconds time) {
  std::string text = "{";
  Members members(text);
  members.add("time", std::string_view(fmt::format("{:.6f}", seconds(time))));
  members.add("interval", std::optional(seconds(sample.interval)));
  members.add("pid", std::string_view(fmt::format("{}", sample.process)));
  members.add("tid", std::optional(sample.thread));
  members.add("name", std::string_view(string_of(sample.name)));
  members.add("new", sample.is_new);
  members.add("ended", sample.has_ended);
  add_part(sample.all, sample.interval, members);
  members.add("wait_time", sample.waited_seconds);
  members.add("p_share", share_of_fastest(sample));
  std::string by_kind = "{";
  const std::size_t count = kinds.size() < 2 ? 0 : std::min(kinds.size(), sample.by_kind.size());
  for (std::size_t kind = 0; kind < count; ++kind) {
    by_kind += (kind == 0 ? "" : ",") + string_of(kinds[kind]) + ":{";
    Members parts(by_kind);
    add_part(sample.by_kind[kind], sample.interval, parts);
    by_kind += "}";
  }
  members.add("kinds", std::string_view(by_kind + "}"));
  return text + "}\n";
}

Result<void> watch_threads(cores::ThreadStream& stream, const Watching& watching) {
  const nanoseconds began = watching.now();
  static_cast<void>(stream.read(began));
  const nanoseconds longest = nanoseconds::max() - began;
  const nanoseconds last = began + std::min(watching.during.value_or(longest), longest);
  std::string text;
  for (nanoseconds due = began + watching.interval; stream.goes_on() && due <= last;) {
    nanoseconds now = watching.now();
    while (now < due && !watching.is_over()) {
      watching.wait(due - now);
      now = watching.now();
    }
    if (watching.is_over()) break;
    text.clear();
    for (const ThreadSample& sample : stream.read(now))
      text += thread_line(sample, stream.kinds(), now + watching.time_ahead);
    if (!text.empty())
      if (auto written = watching.write(text); !written) return written;
    due += watching.interval *
           std::max<std::int64_t>(1, (watching.now() - due) / watching.interval + 1);
  }
  return {};
}

}  // namespace lauka::inquire
