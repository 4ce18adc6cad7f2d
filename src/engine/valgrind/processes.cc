#include "engine/valgrind/processes.h"

#include "core/function_table.h"
#include "core/text.h"
#include "engine/symbol_names.h"
#include "engine/valgrind/valgrind_engine.h"
#include "os/symbols.h"

#include <algorithm>
#include <istream>
#include <streambuf>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lauka::engine::valgrind {

namespace {

/// Largest share of a sum that may be counted twice.
constexpr double kMaxInheritedShare = 0.01;

/// Estimated memory of an entry of a map, besides its key and value.
constexpr std::size_t kBytesPerMapNode = 64;

/// Returns what follows `key` at the beginning of a line; nullopt for other lines.
std::optional<std::string_view> find_text_after(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  return line.substr(key.size());
}

bool parse_numbers(std::string_view text, std::vector<std::uint64_t>& numbers) {
  numbers.clear();
  while (!(text = trimmed(text)).empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const auto number = parse_number(text.substr(0, end));
    if (!number) return false;
    numbers.push_back(*number);
    text.remove_prefix(end);
  }
  return true;
}

/// Reads a line number and a count for each of the events. Sets `counts`, without the line number.
/// Missing counts at the end are 0.
bool parse_counts(std::string_view line, std::size_t event_count,
                  std::vector<std::uint64_t>& counts) {
  if (!parse_numbers(line, counts) || counts.size() > event_count + 1) return false;
  counts.erase(counts.begin());
  counts.resize(event_count);
  return true;
}

/// Adds the counts to `sums`. Returns false if a sum would be too large.
bool add_counts(const std::vector<std::uint64_t>& counts, std::vector<std::uint64_t>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] += counts[i];
    if (sums[i] < counts[i]) return false;
  }
  return true;
}

TotalsOfProcess make_totals(const std::string& command, const std::vector<std::string>& events,
                            const std::vector<std::uint64_t>& sums) {
  TotalsOfProcess totals{command, {}};
  for (std::size_t i = 0; i < events.size(); ++i) totals.values.emplace(events[i], sums[i]);
  return totals;
}

/// A function that receives the counts of one source line of a function, in the order of the file's
/// events.
using FunctionLineSink =
    std::function<void(std::string_view function, const std::vector<std::uint64_t>& counts)>;

/// Reads the head of a cachegrind.out file, up to the first line of the counts.
class CachegrindHead {
 public:
  /// Takes a line. Returns false if the head has ended before the line.
  bool take_line(std::string_view line) {
    if (!command_) {
      if (const auto text = find_text_after(line, "cmd:")) command_ = std::string(trimmed(*text));
      return true;
    }
    if (has_events() && (line.starts_with("fl=") || line.starts_with("fn="))) return false;

    // Cachegrind writes line breaks in a command's arguments as they are, so any line may belong to
    // the command until the counts begin, even one that looks like the line of events.
    if (const auto names = find_text_after(line, "events:")) {
      const auto words = blank_separated(*names);
      events_.assign(words.begin(), words.end());
      *command_ += std::exchange(rest_, {});
    }
    rest_.append("\n").append(line);
    return true;
  }

  bool has_events() const { return !events_.empty(); }
  const std::vector<std::string>& events() const { return events_; }
  const std::string& command() const { return *command_; }

 private:
  std::optional<std::string> command_;
  std::string rest_;  // lines after the latest line of events
  std::vector<std::string> events_;
};

/// True if the line `summary` has the sums of all lines of counts and is the last one of a file.
bool is_right_and_last_line(std::string_view summary, const std::vector<std::uint64_t>& sums,
                            LineReader& lines) {
  std::vector<std::uint64_t> totals;
  if (!parse_numbers(summary, totals) || totals != sums) return false;
  return !lines.next() && lines.has_read_all();
}

/// Reads the head, which has the command, which may have any lines, and then the names of the
/// events. Returns the first line after it; nullopt if the file ends before. In a file without
/// counts, this line is the summary.
std::optional<std::string_view> read_head(LineReader& lines, CachegrindHead& head) {
  auto line = lines.next();
  for (; line; line = lines.next()) {
    const bool is_summary = head.has_events() && line->starts_with("summary:");
    if (is_summary) break;
    const bool is_of_head = head.take_line(*line);
    if (!is_of_head) break;
  }
  return line;
}

/// Reads a cachegrind.out file, with which Cachegrind reports the counts of a process by function
/// and source line. The file is given in pieces. Calls `begin_counts` with the names of the file's
/// events, then `take_line` for each line of counts. Returns the totals; nullopt if the file is
/// incomplete or malformed.
std::optional<TotalsOfProcess> read_cachegrind(
    Pieces pieces_of_file,
    const std::function<void(const std::vector<std::string>& events)>& begin_counts,
    const FunctionLineSink& take_line) {
  LineReader lines(std::move(pieces_of_file));

  CachegrindHead head;
  auto line = read_head(lines, head);
  if (!line) return std::nullopt;

  // After the head, a line "fn=NAME" begins the counts of a function. Lines with the names of
  // source files are not needed.
  begin_counts(head.events());
  std::vector<std::uint64_t> sums(head.events().size());
  std::vector<std::uint64_t> counts;  // of a source line
  std::string function;
  for (; line; line = lines.next()) {
    if (const auto name = find_text_after(*line, "fn=")) {
      function = *name;
    } else if (!line->empty() && is_digit(line->front())) {
      if (!parse_counts(*line, sums.size(), counts)) return std::nullopt;
      if (!add_counts(counts, sums)) return std::nullopt;
      take_line(function, counts);
    } else if (const auto summary = find_text_after(*line, "summary:")) {
      // The summary must have the sums of all lines of counts, and end the file.
      if (!is_right_and_last_line(*summary, sums, lines)) return std::nullopt;
      return make_totals(head.command(), head.events(), sums);
    }
  }

  // Without a summary, the file ends too early.
  return std::nullopt;
}

/// A text as a stream. A line longer than kMaxLine ends the text, which limits the memory for a
/// value.
class TextStream final : public std::streambuf {
 public:
  explicit TextStream(Pieces pieces) : lines_(std::move(pieces)) {}

 private:
  int_type underflow() override {
    if (is_at_end_) return traits_type::eof();
    const auto line = lines_.next();
    is_at_end_ = !line;
    text_ = line ? std::string(*line) + '\n' : lines_.unfinished_line();
    setg(text_.data(), text_.data(), text_.data() + text_.size());
    return text_.empty() ? traits_type::eof() : traits_type::to_int_type(text_.front());
  }

  LineReader lines_;
  std::string text_;
  bool is_at_end_ = false;
};

/// Sums up the numbers of DHAT's program points ("pps", an array of objects) while its JSON is
/// read.
class DhatEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ != kProgramPointDepth || !is_in_program_points_) return true;
    const auto sum = totals_.values.find(key_);
    if (sum == totals_.values.end()) return true;
    sum->second += value;
    return sum->second >= value;
  }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& value) override {
    if (depth_ == 1 && key_ == "cmd") totals_.command = value;
    return true;
  }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*elements*/) override { return open(); }
  bool key(string_t& value) override {
    key_ = value;
    if (depth_ == 1 && value == "pps")
      has_program_points_ = is_in_program_points_ = true;
    else if (depth_ == 1)
      is_in_program_points_ = false;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*elements*/) override { return open(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*place*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

  std::optional<TotalsOfProcess> totals() const {
    return has_program_points_ ? std::optional(totals_) : std::nullopt;
  }

 private:
  static constexpr std::size_t kProgramPointDepth = 3;
  static constexpr std::size_t kMaxJsonDepth = 16;

  bool open() { return ++depth_ <= kMaxJsonDepth; }
  bool close() {
    --depth_;
    return true;
  }

  TotalsOfProcess totals_{{}, {{"tbk", 0}, {"tb", 0}, {"gbk", 0}, {"gb", 0}}};
  bool has_program_points_ = false;
  std::string key_;
  std::size_t depth_ = 0;
  bool is_in_program_points_ = false;
};

/// Reads DHAT's JSON. Returns the totals `tbk` and `tb` (blocks and bytes that were allocated),
/// `gbk` and `gb` (blocks and bytes at the peak); nullopt if the file is incomplete or malformed.
std::optional<TotalsOfProcess> read_dhat(Pieces pieces) {
  TextStream text(std::move(pieces));
  std::istream stream(&text);
  DhatEvents events;
  const bool is_whole = nlohmann::json::sax_parse(stream, &events);
  return is_whole ? events.totals() : std::nullopt;
}

/// Returns the text after `label` in a line of Valgrind's log, such as "==10== Parent PID: 9". The
/// words of a command, which may be the same, follow "Command: ".
std::optional<std::string_view> find_text_after_label(std::string_view line,
                                                      std::string_view label) {
  const std::size_t at = line.find(' ');
  const bool is_of_log =
      at != std::string_view::npos && at > 0 &&
      line.substr(0, at).find_first_not_of("=-0123456789") == std::string_view::npos;
  return is_of_log ? find_text_after(line.substr(at + 1), label) : std::nullopt;
}

/// Returns the sum of the tool's counts of which an event consists; nullopt if one is missing.
std::optional<std::uint64_t> sum_tool_counts(const TotalsOfProcess& totals,
                                             const SimulatedEvent& event) {
  std::uint64_t sum = 0;
  for (const std::string_view part : blank_separated(event.tool_counts)) {
    const auto found = totals.values.find(part);
    if (found == totals.values.end()) return std::nullopt;
    sum += found->second;
  }
  return sum;
}

}  // namespace

Pieces pieces_of(std::string text) {
  return [text = std::move(text), is_taken = false]() mutable -> std::string_view {
    return std::exchange(is_taken, true) ? std::string_view() : std::string_view(text);
  };
}

std::optional<std::string_view> LineReader::next() {
  line_.clear();
  for (;;) {
    if (piece_.empty()) piece_ = pieces_();
    if (piece_.empty()) {
      has_read_all_ = line_.empty();
      return std::nullopt;
    }
    const std::size_t end = piece_.find('\n');
    const std::string_view part = piece_.substr(0, end);
    if (line_.size() + part.size() > kMaxLine) return std::nullopt;
    piece_.remove_prefix(end == std::string_view::npos ? piece_.size() : end + 1);
    if (end != std::string_view::npos && line_.empty()) return part;
    line_ += part;
    if (end != std::string_view::npos) return line_;
  }
}

ProcessCounts::ProcessCounts(Tool tool, std::span<const WantedEvent> wanted,
                             std::optional<User> user)
    : tool_(tool), wanted_(wanted), user_(std::move(user)) {
  for (const WantedEvent& count : wanted) {
    const auto found = std::ranges::find(events_, count.event);
    event_index_of_wanted_.push_back(static_cast<std::size_t>(found - events_.begin()));
    if (found == events_.end()) events_.push_back(count.event);
  }
}

/// Reads a file that Valgrind wrote about a process of the run: its log, which tells about the
/// process, or its counts.
void ProcessCounts::add_file(std::string_view file_name, Pieces pieces) {
  // For example, log.4711.1 is the first file of process 4711. Other files are not Valgrind's.
  const auto parts = split(file_name, '.');
  if (parts.size() != 3) return;
  const std::string_view kind = parts[0];
  const auto pid = parse_number(parts[1]);
  const std::string_view number_in_process = parts[2];
  if (!pid) return;

  Process& process = processes_[*pid];
  if (kind == "log") {
    // The log is the first file of a process only if execve started its program. A process that was
    // only forked goes on with a copy of its parent's counts.
    const bool is_first_file = number_in_process == "1";
    if (is_first_file) process.was_started_by_execve = true;
    read_log(process, std::move(pieces));
    return;
  }

  if (auto totals = read_counts(std::move(pieces)))
    process.totals.push_back(*std::move(totals));
  else
    process.is_complete = false;
}

/// Reads from the log of a process which process is its parent, and adds the files whose symbols
/// Valgrind read to `files_`.
void ProcessCounts::read_log(Process& process, Pieces pieces) {
  LineReader log(std::move(pieces));
  const auto first_line = log.next();
  if (!first_line) process.is_complete = false;

  while (const auto line = log.next()) {
    if (const auto parent = find_text_after_label(*line, "Parent PID: "))
      process.parent = parse_number(parent->substr(0, parent->find_first_not_of("0123456789")));
    else if (const auto file = find_text_after_label(*line, "Reading syms from "))
      files_.emplace(*file);
  }
}

std::optional<TotalsOfProcess> ProcessCounts::read_counts(Pieces pieces) {
  if (tool_ == Tool::Dhat) return read_dhat(std::move(pieces));
  last_function_ = nullptr;
  return read_cachegrind(
      std::move(pieces),
      [this](const std::vector<std::string>& events) {
        events_of_tool_count_.assign(events.size(), {});
        for (std::size_t i = 0; i < events.size(); ++i)
          for (std::size_t e = 0; e < events_.size(); ++e)
            if (has_word(events_[e]->tool_counts, events[i])) events_of_tool_count_[i].push_back(e);
      },
      std::bind_front(&ProcessCounts::add_line, this));
}

void ProcessCounts::add_line(std::string_view symbol, const std::vector<std::uint64_t>& counts) {
  if (has_too_many_functions()) return;
  if (last_function_ == nullptr || symbol != last_symbol_) {
    last_symbol_ = symbol;
    last_function_ = &find_or_add_function(symbol);
  }
  std::vector<std::uint64_t>& sums = last_function_->second.counts;
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (const std::size_t place : events_of_tool_count_[i]) sums[place] += counts[i];
}

ProcessCounts::Functions::value_type& ProcessCounts::find_or_add_function(std::string_view symbol) {
  const auto [known, is_new_symbol] = functions_by_symbol_.try_emplace(std::string(symbol));
  if (!is_new_symbol) return *known->second;

  const auto [function, is_new] =
      functions_.try_emplace(normalized_function(os::demangled(known->first)),
                             Function{std::vector<std::uint64_t>(events_.size())});
  known->second = &*function;
  functions_bytes_ += kBytesPerMapNode + symbol.size() + sizeof(*known);
  if (is_new)
    functions_bytes_ += kBytesPerMapNode + function->first.size() + sizeof(*function) +
                        events_.size() * sizeof(std::uint64_t);
  return *function;
}

/// Valgrind names one symbol of an address. Finds the others in the files that Valgrind read.
void ProcessCounts::name_functions() {
  if (functions_.empty() || has_too_many_functions()) return;
  for (const std::string& file : files_)
    if (const os::OpenedCode code = os::open_code({file}, 0, user_); code.symbols)
      code.symbols->list(std::bind_front(&ProcessCounts::add_names, this));
}

void ProcessCounts::add_names(std::span<const char* const> symbols) {
  if (symbols.size() < 2) return;
  std::optional<FunctionName> all;
  for (const char* symbol : symbols) {
    const auto known = functions_by_symbol_.find(symbol);
    if (known == functions_by_symbol_.end()) continue;
    if (!all) all = name_of_symbols({symbols.begin(), symbols.end()});
    auto& [name, function] = *known->second;
    function.other_names.insert(all->name);
    function.other_names.insert(all->other_names.begin(), all->other_names.end());
    function.other_names.erase(name);
  }
}

/// Returns an upper bound for the part of a forked process's count that the parent counted, too.
std::uint64_t ProcessCounts::find_max_inherited(const TotalsOfProcess& totals,
                                                const Process& process,
                                                const SimulatedEvent& event) const {
  const std::uint64_t own = sum_tool_counts(totals, event).value_or(0);
  const auto parent = process.parent ? processes_.find(*process.parent) : processes_.end();
  if (parent == processes_.end() || parent->second.totals.size() != 1) return own;
  const TotalsOfProcess& before = parent->second.totals.front();
  return before.command == totals.command
             ? std::min(own, sum_tool_counts(before, event).value_or(own))
             : own;
}

ProcessCounts::Sum ProcessCounts::sum_over_processes(const SimulatedEvent& event) const {
  Sum sum;
  for (const auto& [pid, process] : processes_) {
    for (const TotalsOfProcess& totals : process.totals) {
      const auto value = sum_tool_counts(totals, event);
      sum.is_known = sum.is_known && value.has_value();
      sum.counted += value.value_or(0);
      if (!process.was_started_by_execve)
        sum.inherited += find_max_inherited(totals, process, event);
    }
  }
  return sum;
}

/// Returns the count of the process with the largest heap.
std::optional<std::uint64_t> ProcessCounts::count_in_largest_process(
    const SimulatedEvent& event) const {
  const TotalsOfProcess* largest = nullptr;
  const auto bytes = [](const TotalsOfProcess& totals) { return totals.values.find("gb")->second; };
  for (const auto& [pid, process] : processes_)
    for (const TotalsOfProcess& totals : process.totals)
      if (largest == nullptr || bytes(totals) > bytes(*largest)) largest = &totals;
  return largest == nullptr ? std::nullopt : sum_tool_counts(*largest, event);
}

const TotalsOfProcess* ProcessCounts::find_process_without_allocations() const {
  if (tool_ != Tool::Dhat) return nullptr;
  for (const auto& [pid, process] : processes_)
    for (const TotalsOfProcess& totals : process.totals)
      if (totals.values.find("tbk")->second == 0) return &totals;
  return nullptr;
}

std::optional<Error> ProcessCounts::find_why_missing() const {
  const bool lost = std::ranges::any_of(
      processes_, [](const auto& entry) { return entry.second.totals.empty(); });
  if (processes_.empty() || lost)
    return Error{
        "the run was not simulated to its end, because a process was killed, was still running, or "
        "left Valgrind (as setuid programs do)",
        ""};
  if (const TotalsOfProcess* process = find_process_without_allocations())
    return Error{
        fmt::format("DHAT saw no allocation in the process {}; either it makes none, or Valgrind "
                    "does not replace its allocator, because the program is static or has its own",
                    cited(process->command)),
        "link it with the shared allocator of the C library"};
  return std::nullopt;
}

/// Enters the counts of all events that are known. The reason names the others, unless it is of
/// all.
void ProcessCounts::enter_counts(CountsOfRun& counted) const {
  std::vector<std::string> missing;
  for (std::size_t e = 0; e < events_.size(); ++e) {
    auto why = enter_count(e, counted);
    if (!why) continue;
    missing.emplace_back(events_[e]->name);
    counted.why_missing_counts = std::move(why);
  }
  if (!missing.empty() && missing.size() < events_.size())
    counted.why_missing_counts = counted.why_missing_counts->prefixed(listed(missing));
}

/// Returns why a sum is not what the program did; nullopt if it is, or nearly.
std::optional<Error> ProcessCounts::find_fault(const Sum& sum) {
  if (!sum.is_known)
    return Error{"this version of Valgrind does not report all that lauka needs", ""};

  // A forked process inherits its parent's counts, which are therefore in the sum twice.
  const double inherited_share =
      static_cast<double>(sum.inherited) / static_cast<double>(sum.counted);
  if (sum.inherited > 0 && inherited_share > kMaxInheritedShare)
    return Error{
        "the program works in forked processes that never call execve, and in such a process "
        "Valgrind counts the work of its parent again",
        "measure such a process as a separate command"};
  return std::nullopt;
}

/// Enters the count of an event into `counted`, wherever users want this event: for the whole
/// program, for functions, or both. Returns an error, and enters nothing, if the count is unknown.
std::optional<Error> ProcessCounts::enter_count(std::size_t event_index,
                                                CountsOfRun& counted) const {
  const SimulatedEvent& event = *events_[event_index];
  std::optional<std::uint64_t> count_of_program;
  if (event.is_of_largest_process) {
    count_of_program = count_in_largest_process(event);
  } else {
    const Sum sum = sum_over_processes(event);
    if (auto fault = find_fault(sum)) return fault;

    // If only a small part is in the sum twice, find_fault() accepts the sum. Users get a note.
    if (sum.inherited > 0)
      counted.note = Note{"simulation_inexact",
                          "simulated counts may be up to 1% too high, because in a forked "
                          "process Valgrind counts the work of its parent again"};
    count_of_program = sum.counted;
  }

  for (std::size_t wanted_index = 0; wanted_index < wanted_.size(); ++wanted_index) {
    if (event_index_of_wanted_[wanted_index] != event_index) continue;

    // The count of a function starts at 0, because enter_wanted_functions() adds to it.
    const bool is_of_program = wanted_[wanted_index].function.empty();
    counted.counts[wanted_index] = is_of_program ? count_of_program : 0;
  }

  return std::nullopt;
}

void ProcessCounts::enter_wanted_functions(CountsOfRun& counted) const {
  std::vector<std::string> names;
  for (const WantedEvent& wanted : wanted_) names.push_back(wanted.function);
  const WantedFunctions wanted(names);
  for (const auto& [name, function] : functions_) {
    const std::vector<std::string> others(function.other_names.begin(), function.other_names.end());
    for (const std::size_t i : wanted.find(name, others))
      if (counted.counts[i]) *counted.counts[i] += function.counts[event_index_of_wanted_[i]];
  }
  for (std::size_t i = 0; i < wanted_.size() && has_too_many_functions(); ++i)
    if (!names[i].empty()) counted.counts[i].reset();
}

/// Enters the counts of each function of the run, in the order of the functions' names.
void ProcessCounts::enter_functions(CountsOfRun& counted) {
  if (has_too_many_functions()) {
    counted.note = Note{"functions_left_out", "has too many functions to count each of them"};
    return;
  }

  const std::map<std::string, Function> function_by_name = take_functions_by_name();
  auto& rows = counted.functions.emplace();
  rows.reserve(function_by_name.size());
  for (const auto& [name, function] : function_by_name) {
    FunctionCounts& row = rows.emplace_back(FunctionCounts{.name = name, .counts = {}});
    row.other_names.assign(function.other_names.begin(), function.other_names.end());

    // Events that users want only of certain functions are not counted in all of them.
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      if (wanted_[i].function.empty())
        row.counts.push_back(function.counts[event_index_of_wanted_[i]]);
  }
}

/// Moves all functions out of `functions_`, under the most natural of their names. Several
/// functions may get the same name; their counts are added.
std::map<std::string, ProcessCounts::Function> ProcessCounts::take_functions_by_name() {
  functions_by_symbol_.clear();  // it has pointers into `functions_`
  std::map<std::string, Function> function_by_name;

  // Takes out one function after the other, because both maps together would need much memory.
  while (!functions_.empty()) {
    auto node = functions_.extract(functions_.begin());
    Function& function = node.mapped();
    std::vector<std::string> names(function.other_names.begin(), function.other_names.end());
    names.push_back(std::move(node.key()));
    FunctionName ranked_names = make_function_name(std::move(names));

    // try_emplace() leaves `function` as it is if the name is not new.
    const auto [entry, is_new] =
        function_by_name.try_emplace(std::move(ranked_names.name), std::move(function));
    auto& [natural_name, sum] = *entry;
    if (!is_new)
      std::ranges::transform(sum.counts, function.counts, sum.counts.begin(), std::plus());
    sum.other_names.insert(ranked_names.other_names.begin(), ranked_names.other_names.end());
    sum.other_names.erase(natural_name);
  }

  return function_by_name;
}

CountsOfRun ProcessCounts::finish() {
  CountsOfRun counted{std::vector<std::optional<std::uint64_t>>(wanted_.size())};
  if (std::ranges::any_of(processes_,
                          [](const auto& entry) { return !entry.second.is_complete; })) {
    counted.session_error = Error{
        "Valgrind's output for a simulated run ends too early, or is malformed",
        "if the folder for temporary files is full, make room or set TMPDIR to another folder"};
    return counted;
  }
  counted.why_missing_counts = find_why_missing();
  if (counted.why_missing_counts) return counted;
  enter_counts(counted);
  name_functions();
  enter_wanted_functions(counted);
  if (tool_ == Tool::Cachegrind) enter_functions(counted);
  return counted;
}

}  // namespace lauka::engine::valgrind
