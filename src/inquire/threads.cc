#include "core/foreign_text.h"
#include "inquire/answers.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace lauka::inquire {
namespace {

using cores::ThreadColumns;
using cores::ThreadLine;
using cores::ThreadPart;
using cores::Threads;

constexpr int kTime = 8;
constexpr int kCount = 15;
constexpr int kRatio = 3;

std::string seconds(std::optional<double> value) {
  return value ? fmt::format("{:{}.2f}", *value, kTime) : fmt::format("{:>{}}", "-", kTime);
}

std::string count(std::optional<std::uint64_t> value) {
  return value ? fmt::format("{:{}}", *value, kCount) : fmt::format("{:>{}}", "-", kCount);
}

/// Of no cycles it is 0.0: a thread that did nothing.
std::string ratio(const ThreadPart& part) {
  if (!part.cycles || !part.instructions) return fmt::format("{:>{}}", "-", kRatio);
  const double ipc = *part.cycles == 0 ? 0.0
                                       : static_cast<double>(*part.instructions) /
                                             static_cast<double>(*part.cycles);
  return fmt::format("{:{}.1f}", ipc, kRatio);
}

std::string joined(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) text += (text.empty() ? "" : " ") + cell;
  return text;
}

std::string cells_of(const ThreadColumns& columns, const ThreadPart& part) {
  std::vector<std::string> cells;
  if (columns.has_split) {
    cells.push_back(seconds(part.user_seconds));
    cells.push_back(seconds(part.system_seconds));
  }
  if (columns.has_cpu) cells.push_back(seconds(part.cpu_seconds));
  if (columns.has_counts) {
    cells.push_back(count(part.cycles));
    cells.push_back(count(part.instructions));
    cells.push_back(ratio(part));
  }
  return joined(cells);
}

std::string heads_of(const ThreadColumns& columns) {
  std::vector<std::string> heads;
  if (columns.has_split) {
    heads.push_back(fmt::format("{:>{}}", "usr", kTime));
    heads.push_back(fmt::format("{:>{}}", "sys", kTime));
  }
  if (columns.has_cpu) heads.push_back(fmt::format("{:>{}}", "cpu", kTime));
  if (columns.has_counts) {
    heads.push_back(fmt::format("{:>{}}", "cycles", kCount));
    heads.push_back(fmt::format("{:>{}}", "insns", kCount));
    heads.push_back(fmt::format("{:>{}}", "IPC", kRatio));
  }
  return joined(heads);
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
    titles += fmt::format(" {:^{}} |", columns.title, heads_of(columns).size());
  return titles + "\n";
}

}  // namespace

std::string threads_table(const Threads& threads) {
  std::string text;
  if (threads.columns.size() > 1) text += titles_of(threads);
  text += first_cell("TID");
  for (const ThreadColumns& columns : threads.columns) text += " " + heads_of(columns) + " |";
  text += "\n";
  for (const ThreadLine& line : threads.lines) {
    text += first_cell(fmt::format("{}", line.id));
    for (std::size_t i = 0; i < threads.columns.size(); ++i)
      text += " " + cells_of(threads.columns[i], line.parts[i]) + " |";
    text += (line.name.empty() ? "" : " " + one_line(line.name)) + "\n";
  }
  text += first_cell("total");
  for (std::size_t i = 0; i < threads.columns.size(); ++i)
    text += " " + cells_of(threads.columns[i], total_of(threads, i)) + " |";
  return text +
         fmt::format(" {} thread{}\n", threads.lines.size(), threads.lines.size() == 1 ? "" : "s");
}

}  // namespace lauka::inquire
