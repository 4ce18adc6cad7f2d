#include "core/text.h"
#include "inquire/answers.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka::inquire {

namespace {

using cores::ThreadColumns;
using cores::ThreadLine;
using cores::ThreadPart;
using cores::Threads;

std::string seconds(std::optional<double> value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string count(std::optional<std::uint64_t> value) {
  return value ? fmt::format("{}", *value) : "-";
}

/// Prints 0.0 if there are no cycles: the thread did nothing.
std::string ratio(const ThreadPart& part) {
  if (!part.cycles || !part.instructions) return "-";
  const double ipc = *part.cycles == 0 ? 0.0
                                       : static_cast<double>(*part.instructions) /
                                             static_cast<double>(*part.cycles);
  return fmt::format("{:.1f}", ipc);
}

/// Prints the cells of a column group, or their headings if `part` is null.
std::string cells_of(const ThreadColumns& columns, const ThreadPart* part) {
  std::string text;
  const auto add = [&](std::string_view heading, int width, const std::string& value) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{:>{}}", part == nullptr ? heading : std::string_view(value), width);
  };
  const ThreadPart it = part == nullptr ? ThreadPart{} : *part;
  constexpr int time = 8;
  if (columns.has_split) add("usr", time, seconds(it.user_seconds));
  if (columns.has_split) add("sys", time, seconds(it.system_seconds));
  if (columns.has_cpu) add("cpu", time, seconds(it.cpu_seconds));
  if (!columns.has_counts) return text;
  constexpr int many = 15;
  add("cycles", many, count(it.cycles));
  add("insns", many, count(it.instructions));
  add("IPC", 3, ratio(it));
  return text;
}

std::string first_cell(std::string_view text) {
  return fmt::format("{:>7} |", text);
}

template <typename T>
void add(std::optional<T>& sum, const std::optional<T>& value) {
  if (value) sum = sum.value_or(T{}) + *value;
}

ThreadPart total_of(const Threads& threads, std::size_t column) {
  ThreadPart total;
  for (const ThreadLine& line : threads.lines) {
    const ThreadPart& part = line.parts[column];
    add(total.user_seconds, part.user_seconds);
    add(total.system_seconds, part.system_seconds);
    add(total.cpu_seconds, part.cpu_seconds);
    add(total.cycles, part.cycles);
    add(total.instructions, part.instructions);
  }
  return total;
}

std::string titles_of(const Threads& threads) {
  std::string titles = first_cell("");
  for (const ThreadColumns& columns : threads.columns)
    titles += fmt::format(" {:^{}} |", columns.title, cells_of(columns, nullptr).size());
  return titles + "\n";
}

using cores::ThreadSample;
using std::chrono::nanoseconds;

double seconds(nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Appends the members of an object, the same in each line. With hundreds of lines a second, only
/// shown values are formatted.
class Members {
 public:
  explicit Members(std::string& text) : text_(text) {}

  /// Begins a member; the caller appends its value.
  std::string& add(std::string_view name) {
    text_.append(is_first_ ? "\"" : ",\"").append(name).append("\":");
    is_first_ = false;
    return text_;
  }
  void add(std::string_view name, const std::optional<double>& value) {
    add(name);
    if (value)
      fmt::format_to(std::back_inserter(text_), "{:.9g}", *value);
    else
      text_ += "null";
  }
  void add(std::string_view name, const std::optional<std::uint64_t>& value) {
    add(name);
    if (value)
      fmt::format_to(std::back_inserter(text_), "{}", *value);
    else
      text_ += "null";
  }
  void add(std::string_view name, bool value) { add(name).append(value ? "true" : "false"); }

 private:
  std::string& text_;
  bool is_first_ = true;
};

std::optional<double> quotient(std::optional<double> a, std::optional<double> b) {
  if (!a || !b || *b <= 0.0) return std::nullopt;
  return *a / *b;
}

void add_part(const ThreadPart& part, nanoseconds interval, Members& members) {
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

/// Returns the share of the fastest kind of core in the time on all kinds.
std::optional<double> share_of_fastest(const ThreadSample& sample) {
  double all = 0.0;
  for (const ThreadPart& part : sample.by_kind) all += part.cpu_seconds.value_or(0.0);
  if (sample.by_kind.size() < 2) return std::nullopt;
  return quotient(sample.by_kind.front().cpu_seconds, all);
}

void add_string(std::string_view value, std::string& text) {
  const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (is_plain)
    text.append("\"").append(value).append("\"");
  else
    text += nlohmann::json(value).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string threads_table(const Threads& threads) {
  std::string text;
  if (threads.columns.size() > 1) text += titles_of(threads);
  text += first_cell("TID");
  for (const ThreadColumns& columns : threads.columns)
    text += " " + cells_of(columns, nullptr) + " |";
  text += "\n";
  for (const ThreadLine& line : threads.lines) {
    text += first_cell(fmt::format("{}", line.id));
    for (std::size_t i = 0; i < threads.columns.size(); ++i)
      text += " " + cells_of(threads.columns[i], &line.parts[i]) + " |";
    text += (line.name.empty() ? "" : " " + one_line(line.name)) + "\n";
  }
  text += first_cell("total");
  for (std::size_t i = 0; i < threads.columns.size(); ++i) {
    const ThreadPart total = total_of(threads, i);
    text += " " + cells_of(threads.columns[i], &total) + " |";
  }
  return text +
         fmt::format(" {} thread{}\n", threads.lines.size(), threads.lines.size() == 1 ? "" : "s");
}

void add_thread_line(const ThreadSample& sample, const std::vector<std::string>& kinds,
                     nanoseconds time, std::string& text) {
  text += "{";
  Members members(text);
  fmt::format_to(std::back_inserter(members.add("time")), "{:.6f}", seconds(time));
  members.add("interval", std::optional(seconds(sample.interval)));
  fmt::format_to(std::back_inserter(members.add("pid")), "{}", sample.process);
  members.add("tid", std::optional(sample.thread));
  add_string(sample.name, members.add("name"));
  members.add("new", sample.is_new);
  members.add("ended", sample.has_ended);
  add_part(sample.all, sample.interval, members);
  members.add("wait_time", sample.waited_seconds);
  members.add("p_share", share_of_fastest(sample));
  members.add("moves", sample.moves);
  members.add("kinds") += "{";
  const std::size_t count = kinds.size() < 2 ? 0 : std::min(kinds.size(), sample.by_kind.size());
  for (std::size_t kind = 0; kind < count; ++kind) {
    if (kind > 0) text += ",";
    add_string(kinds[kind], text);
    text += ":{";
    Members parts(text);
    add_part(sample.by_kind[kind], sample.interval, parts);
    text += "}";
  }
  text += "}}\n";
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
      add_thread_line(sample, stream.kinds(), now + watching.time_ahead, text);
    if (!text.empty())
      if (auto written = watching.write(text); !written) return written;
    due += watching.interval *
           std::max<std::int64_t>(1, (watching.now() - due) / watching.interval + 1);
  }
  return {};
}

}  // namespace lauka::inquire
