#include "run/output.h"

#include "plan/command_layouts.h"
#include "run/programs.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace lauka {

namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{16} << 10U;
constexpr auto kMaxTimeOfLine = std::chrono::seconds(1);

constexpr std::uint64_t kMaxStoredBytes = std::uint64_t{64} << 20U;
constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

// How much of an output a message shows before and after the first byte that differs.
constexpr std::uint64_t kBytesShownBefore = 40;
constexpr std::uint64_t kBytesShownAfter = 60;

/// Returns the beginning of `line`, up to its break, as a message shows it. `from_begin`: false if
/// the beginning of the line is missing. `with_break`: true if the line's end is shown, too.
std::string cite_line(std::string_view line, bool from_begin, bool with_break) {
  const std::size_t end = line.find('\n');
  const bool has_break = with_break && end != std::string_view::npos;
  const std::string_view text = line.substr(0, has_break ? end + 1 : end);
  if (text.empty() && line.empty()) return "the end";
  return (from_begin ? "" : "…") + cited(text);
}

constexpr const char* kRemedyForWrongOutput = "correct the command, or leave out --expect-output";

// Bytes searched at a time. In a longer text, a pattern such as .* could need too many steps.
constexpr std::size_t kWindowBytes = std::size_t{64} << 10U;
constexpr std::size_t kMaxMatchBytes = std::size_t{16} << 10U;
constexpr std::size_t kContextBytes = 256;  // before a window, for anchors such as ^ and \b
constexpr auto kMaxTimeToScrape = std::chrono::seconds(5);
constexpr std::size_t kMaxShownEndBytes = 300;

constexpr std::size_t kMaxReportedLines = 10'000;
constexpr std::size_t kMaxDiscoveredMetrics = 1'000;

/// The values that one run has reported under the same name.
struct ValuesOfName {
  double sum = 0.0;
  double last = 0.0;
  std::size_t count = 0;
  Combine combine = Combine::Mean;

  void add(double value, const std::optional<Combine>& new_combine) {
    sum += value;
    last = value;
    ++count;
    if (new_combine) combine = *new_combine;
  }

  /// The one value that stands for the run.
  double combined() const {
    if (combine == Combine::Last) return last;
    return combine == Combine::Sum ? sum : sum / static_cast<double>(count);
  }
};

struct TextPosition {
  std::uint64_t offset = 0;
  std::uint64_t line = 1;
  std::uint64_t line_begin = 0;  // offset of the line's first byte
};

/// Returns the bytes with which both texts begin.
std::string_view common_beginning(std::string_view left, std::string_view right) {
  const auto end = std::ranges::mismatch(left, right).in1;
  return left.substr(0, static_cast<std::size_t>(end - left.begin()));
}

/// Returns the position behind `text`, which begins at `begin`.
TextPosition position_after(std::string_view text, const TextPosition& begin) {
  TextPosition end = begin;
  const auto line_breaks = std::ranges::count(text, '\n');
  if (line_breaks > 0) end.line_begin = begin.offset + text.rfind('\n') + 1;
  end.line += static_cast<std::uint64_t>(line_breaks);
  end.offset += text.size();
  return end;
}

/// Returns the position of the first byte that differs; nullopt if the files are equal.
std::optional<TextPosition> find_first_difference(const os::TextFile& expected,
                                                  const os::TextFile& got) {
  std::vector<char> expected_buffer(kPieceBytes);
  std::vector<char> got_buffer(kPieceBytes);
  TextPosition position;
  for (;;) {
    const std::string_view expected_piece(expected_buffer.data(),
                                          expected.read(position.offset, expected_buffer));
    const std::string_view got_piece(got_buffer.data(), got.read(position.offset, got_buffer));
    const bool are_both_at_end = expected_piece.empty() && got_piece.empty();
    if (are_both_at_end) return std::nullopt;

    const std::string_view equal = common_beginning(expected_piece, got_piece);
    position = position_after(equal, position);

    // Of two pieces of different length, the longer one has a byte that the other one lacks.
    if (equal.size() < std::max(expected_piece.size(), got_piece.size())) return position;
  }
}

/// Returns as much of a file from `begin` on as a message may show.
std::string read_shown_part(const os::TextFile& file, std::uint64_t begin) {
  std::string text(static_cast<std::size_t>(kBytesShownBefore + kBytesShownAfter), '\0');
  text.resize(file.read(begin, text));
  return text;
}

/// Returns both files around the first byte that differs, but nothing before its line, as
/// in: line 2: expected "a", got "b"
std::string cite_difference(const os::TextFile& expected, const os::TextFile& got,
                            const TextPosition& difference) {
  const std::uint64_t begin = std::max(
      difference.line_begin, difference.offset - std::min(difference.offset, kBytesShownBefore));
  const std::string expected_text = read_shown_part(expected, begin);
  const std::string got_text = read_shown_part(got, begin);

  // If the cited lines look the same, only their ends differ, so the line breaks are cited, too.
  const auto without_break = [](std::string_view text) { return text.substr(0, text.find('\n')); };
  const bool cites_break = without_break(expected_text) == without_break(got_text);
  const bool is_from_line_begin = begin == difference.line_begin;

  return fmt::format("line {}: expected {}, got {}", difference.line,
                     cite_line(expected_text, is_from_line_begin, cites_break),
                     cite_line(got_text, is_from_line_begin, cites_break));
}

Error make_wrong_hash_error(const std::string& name, const StoredOutput& output,
                            const std::string& expected_hash) {
  return {fmt::format("--expect-output: {} writes {} bytes with sha256:{}, not sha256:{}", name,
                      output.bytes, output.hash, expected_hash),
          kRemedyForWrongOutput};
}

/// Sets the combined value of each metric. A sum may leave the range of numbers that statistics can
/// handle. It then counts as missing.
void set_combined_values(const std::map<std::size_t, ValuesOfName>& values_by_metric,
                         ReportedValues::Values& values) {
  for (const auto& [metric_index, values_of_metric] : values_by_metric) {
    values.resize(std::max(values.size(), metric_index + 1));
    const double combined = values_of_metric.combined();
    if (is_in_numeric_range(combined)) values[metric_index] = combined;
  }
}

std::string option_of(const OwnMetric& metric) {
  return fmt::format("--scrape {}", cited(metric.name + "=" + metric.pattern->text()));
}

/// Returns the value that the pattern of a metric has found, in the metric's base unit.
Result<double> parse_match(const OwnMetric& metric, std::string_view match) {
  auto value = parse_own_value(match, metric.unit);
  if (!value)
    return value.error().about(fmt::format("{} found {}, which", option_of(metric), cited(match)));
  return value;
}

/// `output_end`: the last lines of the output that was searched.
Error make_no_match_error(const OwnMetric& metric, const std::string& output_end) {
  return {fmt::format("{} matches nothing in its output; {}", option_of(metric),
                      output_end.empty() ? "there is no output"
                                         : "the output ends with " + cited(output_end)),
          "use -i to continue without the value"};
}

/// A part of a stream in which a match must begin. The text around it is read, too, because a
/// pattern may look at bytes before the window, for example to see that a line begins there, and a
/// match may end behind the window.
struct Window {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t text_begin = 0;
  std::uint64_t text_end = 0;
};

/// Returns the last window of a stream of `size` bytes that lies between `search_begin` and `end`.
Window make_window(std::uint64_t search_begin, std::uint64_t end, std::uint64_t size) {
  const std::uint64_t begin = end - search_begin > kWindowBytes ? end - kWindowBytes : search_begin;
  return {
      .begin = begin,
      .end = end,
      .text_begin = begin - std::min<std::uint64_t>(begin, kContextBytes),
      .text_end = std::min<std::uint64_t>(end < size ? end + kMaxMatchBytes : end, size),
  };
}

/// Reads a window and its surroundings into `text`, and returns them as a piece to search.
Pattern::Piece read_window(const os::Launcher& launcher, os::OutputStream stream,
                           const Window& window, std::string& text) {
  text.resize(static_cast<std::size_t>(window.text_end - window.text_begin));
  text.resize(launcher.read_kept(stream, window.text_begin, text));
  return {.text = text,
          .min_match_start = static_cast<std::size_t>(window.begin - window.text_begin),
          .max_match_start =
              std::min(static_cast<std::size_t>(window.end - window.text_begin), text.size()),
          .is_beginning = window.text_begin == 0};
}

}  // namespace

void AwaitedLine::begin() {
  for (std::string& line : unfinished_lines_) line.clear();
  tail_.clear();
}

bool AwaitedLine::receive(os::OutputStream which, std::string_view bytes) {
  tail_.add(bytes);
  std::string& begun_line = unfinished_lines_.at(static_cast<std::size_t>(which));
  for (;;) {
    const std::size_t end = bytes.find('\n');
    begun_line += bytes.substr(0, std::min(end, kMaxLineBytes - begun_line.size()));
    if (end == std::string_view::npos) return true;
    const bool ends_run = is_awaited(begun_line);
    begun_line.clear();
    if (ends_run) return false;
    bytes.remove_prefix(end + 1);
  }
}

/// Matching that fails also ends the run, which then counts as failed.
bool AwaitedLine::is_awaited(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto deadline = clock_.now() + kMaxTimeOfLine;
  const auto found = pattern_.matches(line, [&] { return clock_.now() < deadline; });
  if (!found) error_ = found.error();
  return !found || *found;
}

bool OutputStore::receive(os::OutputStream which, std::string_view bytes) {
  if (which != os::OutputStream::Output) return true;
  const std::uint64_t room = kMaxStoredBytes - std::min(stored_.bytes, kMaxStoredBytes);
  const std::string_view kept = bytes.substr(0, static_cast<std::size_t>(room));
  has_room_ = has_room_ && (kept.empty() || stored_.text.append(kept));
  hash_.add(bytes);
  stored_.bytes += bytes.size();
  return true;
}

Result<StoredOutput> OutputStore::take() {
  if (!has_room_) return Error{"lauka has no room to store an output for --expect-output", ""};
  stored_.hash = hash_.hex_digest();
  return std::move(stored_);
}

std::optional<std::string> describe_difference(const StoredOutput& expected,
                                               const StoredOutput& got) {
  const std::string sizes =
      fmt::format("{} expected, {} written", plural(expected.bytes, "byte"), got.bytes);

  // Only the first 64 MB of an output are stored, but the hash is that of the whole output.
  const auto difference = find_first_difference(expected.text, got.text);
  if (!difference) {
    if (got.hash == expected.hash) return std::nullopt;
    return "beyond the first 64 MB (" + sizes + ")";
  }
  return fmt::format("{} ({})", cite_difference(expected.text, got.text, *difference), sizes);
}

OutputCheck::OutputCheck(const Plan& plan, const RunContext& context)
    : plan_(plan), context_(context) {
  for (std::size_t command = 0; command < plan.commands.size(); ++command)
    sources_.push_back(find_source(command));
  is_source_.resize(sources_.size());
  for (const auto& source : sources_)
    if (source) is_source_[*source] = true;
}

std::optional<std::size_t> OutputCheck::find_source(std::size_t command) const {
  const Command& own = plan_.commands[command];
  if (!own.expected || own.expected->kind != ExpectedOutput::Kind::Same) return std::nullopt;
  const std::size_t reference = plan_.reference.index_for(command);
  return command == reference ? std::nullopt : std::optional(reference);
}

std::vector<std::uint32_t> OutputCheck::list_commands_to_run(std::uint32_t first,
                                                             std::uint32_t count) const {
  // Commands that are compared with the same output follow one another, so that few outputs are
  // stored at the same time.
  std::vector<std::uint32_t> all;
  for (std::uint32_t command = first; command < first + count; ++command) {
    const auto& expected = plan_.commands[command].expected;
    if (sources_[command] || is_source_[command] ||
        (expected && expected->kind != ExpectedOutput::Kind::Same))
      all.push_back(command);
  }
  std::ranges::stable_sort(all, [&](std::uint32_t a, std::uint32_t b) {
    return sources_[a].value_or(a) < sources_[b].value_or(b);
  });
  return all;
}

// Remembers the launch, and where its output is stored, so that check_and_keep_output() can check
// the output later.
Result<os::Launch> OutputCheck::make_launch(std::uint32_t command, std::uint32_t layout) {
  launched_command_ = command;
  launched_layout_ = layout;

  const auto command_to_run = command_in_layout(plan_, command, layout);
  os::ProgramSpec spec = make_program(plan_, *command_to_run, context_.user);
  spec.output.is_stored_during_run = false;  // the listener stores it
  spec.output.has_listener = true;
  spec.jobs = 1;  // the outputs of several copies of the command would mix

  const auto program = context_.launcher.add_program(spec);
  if (!program) return program.error();

  // A command without --expect-output runs, too, if the outputs of others must equal its output.
  const ExpectedOutput expected = command_to_run->expected.value_or(ExpectedOutput{});

  // A file that the output must equal is read before the run, because the run may write to it.
  if (auto read = set_expected_file(expected); !read) return read.error();

  auto file_for_output = os::TextFile::make();
  if (!file_for_output)
    return file_for_output.error().prefixed("--expect-output " + text_of(expected));
  output_of_launch_.emplace(*std::move(file_for_output));

  return os::Launch{.program = *program, .listener = &*output_of_launch_};
}

Result<void> OutputCheck::set_expected_file(const ExpectedOutput& expected) {
  expected_file_.reset();
  if (expected.kind != ExpectedOutput::Kind::File) return {};
  return assign_or_error(read_file(expected.file_or_hash), expected_file_);
}

Result<StoredOutput> OutputCheck::read_file(const std::string& path) const {
  const auto file = os::TextFile::open(path, context_.user);
  if (!file) return file.error().about("--expect-output " + cited(path));
  auto text = os::TextFile::make();
  if (!text) return text.error().prefixed("--expect-output " + cited(path));
  OutputStore store(*std::move(text));
  std::vector<char> room(kPieceBytes);
  std::uint64_t at = 0;
  while (const std::size_t got = file->read(at, room)) {
    store.receive(os::OutputStream::Output, {room.data(), got});
    at += got;
  }
  return store.take();
}

// A command without a source that is itself the source of others must write the same in all its
// layouts.
std::optional<std::size_t> OutputCheck::find_source_of_launch() const {
  const std::uint32_t command = launched_command_;
  const bool is_later_layout_of_source =
      launched_layout_ > 0 && is_source_[command] && !sources_[command];
  return is_later_layout_of_source ? std::optional<std::size_t>(command) : sources_[command];
}

std::optional<std::string> OutputCheck::find_difference(const std::optional<std::size_t>& source,
                                                        const StoredOutput& output) {
  if (expected_file_) return describe_difference(*expected_file_, output);
  if (!source) return std::nullopt;

  // The commands run in the order of their sources (list_commands_to_run()), so the outputs of
  // earlier sources are not needed again.
  outputs_of_sources_.erase(outputs_of_sources_.begin(), outputs_of_sources_.lower_bound(*source));
  return describe_difference(outputs_of_sources_.at(*source), output);
}

// Checks the output of the latest launch. A source is a command whose output other outputs must
// equal, so its output is kept for later checks.
std::optional<Error> OutputCheck::check_and_keep_output() {
  const std::uint32_t command = launched_command_;
  const std::string name =
      cited(name_in_layout(plan_, Step{.command = command, .layout = launched_layout_}));
  const ExpectedOutput expected = plan_.commands[command].expected.value_or(ExpectedOutput{});

  auto output = output_of_launch_->take();
  if (!output) return output.error();

  const bool has_wrong_hash =
      expected.kind == ExpectedOutput::Kind::Hash && output->hash != expected.file_or_hash;
  if (has_wrong_hash) return make_wrong_hash_error(name, *output, expected.file_or_hash);

  // The output is compared with that of its source, or with a file.
  const auto source = find_source_of_launch();
  if (const auto difference = find_difference(source, *output)) {
    const std::string what_other_writes = source ? cited(plan_.commands[*source].name) + " writes"
                                                 : cited(expected.file_or_hash) + " has";
    return Error{fmt::format("--expect-output: {} does not write what {}: {}", name,
                             what_other_writes, *difference),
                 kRemedyForWrongOutput};
  }

  // Only the output of the first layout is kept. In later layouts, emplace() does nothing.
  if (is_source_[command]) outputs_of_sources_.emplace(command, *std::move(output));
  return std::nullopt;
}

bool has_scraped_metrics(const Plan& plan) {
  return std::ranges::any_of(plan.reported_metrics, &OwnMetric::is_scraped);
}

bool ReportedValues::uses_metric_files() const {
  return !discovered_.empty() ||
         std::ranges::any_of(plan_.reported_metrics, &OwnMetric::is_from_metrics_file);
}

// A run reports values in its output (--scrape) and in a file of its own, whose path it gets in the
// variable LAUKA_METRICS.
std::optional<Error> ReportedValues::read_values(const Step& step, std::size_t run_in_batch,
                                                 Values& values) {
  // Values of other runs are not used: counting slows some of them, and settling and untuned rounds
  // only serve the timed ones.
  const bool has_values = step.kind == RoundKind::Timed || step.kind == RoundKind::Warmup;
  if (!has_values) return std::nullopt;

  auto read_all = scrape_all(values);
  if (read_all) read_all = read_files(run_in_batch, values);
  if (read_all) return std::nullopt;

  values.clear();
  return read_all.error();
}

Result<void> ReportedValues::scrape_all(Values& values) const {
  for (std::size_t metric = 0; metric < plan_.reported_metrics.size(); ++metric) {
    if (!plan_.reported_metrics[metric].is_scraped()) continue;
    if (auto scraped = scrape(metric, values); !scraped) return scraped;
  }
  return {};
}

Result<void> ReportedValues::read_files(std::size_t run_in_batch, Values& values) {
  for (const os::MetricFiles::RunFile& file : batch_) {
    if (file.run_index != run_in_batch) continue;
    if (!file.is_whole)
      return Error{
          fmt::format("{} is not a regular file, or it is larger than 1 MB", kMetricsVariable),
          "write fewer lines, or only their sum"};
    if (auto read_all = read_values_of_lines(file.text, values); !read_all) return read_all;
  }
  return {};
}

// Finds the value of one metric of --scrape in the output of a run, and stores it in `values`: by
// the last match of its pattern in standard output or, if there is none, in standard error.
Result<void> ReportedValues::scrape(std::size_t metric_index, Values& values) const {
  const OwnMetric& metric = plan_.reported_metrics[metric_index];
  std::string searched_text;  // contains the match

  for (const os::OutputStream stream : {os::OutputStream::Output, os::OutputStream::Error}) {
    const auto search = find_last_match(*metric.pattern, stream, searched_text);
    if (!search) return search.error().about(option_of(metric));
    const std::optional<std::string_view> match = *search;
    if (!match) continue;

    const auto value = parse_match(metric, *match);
    if (!value) return value.error();
    values.resize(std::max(values.size(), metric_index + 1));
    values[metric_index] = *value;
    return {};
  }
  return make_no_match_error(metric, read_output_end());
}

/// Returns what the first group of a pattern, its part in parentheses, matched last in a stream.
/// Returns nullopt if the pattern matches nothing, and an error if matching takes too long. The
/// result is a part of `searched_text`, which is overwritten.
Result<std::optional<std::string_view>> ReportedValues::find_last_match(
    const Pattern& pattern, os::OutputStream stream, std::string& searched_text) const {
  // Only the end of a long stream is kept.
  const std::uint64_t stream_end = launcher_.stored_stream_bytes(stream);
  const std::uint64_t search_begin =
      stream_end > os::kStoredEndBytes ? stream_end - os::kStoredEndBytes : 0;

  const auto deadline = clock_.now() + kMaxTimeToScrape;
  const auto has_time_left = [&] { return clock_.now() < deadline; };

  // A search in the whole stream could take too many steps, so windows are searched one by one,
  // from the end of the stream on.
  std::uint64_t window_end = stream_end;
  while (window_end > search_begin) {
    const Window window = make_window(search_begin, window_end, stream_end);
    const Pattern::Piece piece = read_window(launcher_, stream, window, searched_text);
    auto match = pattern.group_in_last_match(piece, has_time_left);
    const bool has_failed = !match.has_value();
    const bool is_found = !has_failed && match->has_value();
    if (has_failed || is_found) return match;

    window_end = window.begin;
  }
  return std::optional<std::string_view>{};
}

std::string ReportedValues::read_output_end() const {
  for (const os::OutputStream which : {os::OutputStream::Output, os::OutputStream::Error}) {
    const std::uint64_t size = launcher_.stored_stream_bytes(which);
    if (size == 0) continue;
    std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(size, kMaxShownEndBytes)),
                     '\0');
    text.resize(launcher_.read_kept(which, size - text.size(), text));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  return "";
}

// Reads the text of the file that a run has written. Each line has a metric's name and value. A run
// may report the same metric several times, so its values are combined, as their mean or sum, for
// example.
Result<void> ReportedValues::read_values_of_lines(std::string_view text, Values& values) {
  std::map<std::size_t, ValuesOfName> values_by_metric;
  std::size_t line_number = 0;

  while (!text.empty()) {
    // The last line may have no line break.
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++line_number;

    const auto refuse_line = [&](const Error& error) {
      return error.about(
          fmt::format("line {} of {}, {},", line_number, kMetricsVariable, cited(line)));
    };

    if (line_number > kMaxReportedLines)
      return refuse_line({"is one line too many", "write at most 10,000 lines"});
    const bool is_blank = line.find_first_not_of(" \t\r") == std::string_view::npos;
    if (is_blank) continue;

    const auto reported = read_line(line);
    if (!reported) return refuse_line(reported.error());
    values_by_metric[reported->metric_index].add(reported->value, reported->combine);
  }

  set_combined_values(values_by_metric, values);
  return {};
}

Result<ReportedValues::LineValue> ReportedValues::read_line(std::string_view line) {
  const auto reported = parse_reported_line(line);
  if (!reported) return reported.error();
  const auto metric_index = find_or_add_metric(*reported);
  if (!metric_index) return metric_index.error();
  const auto value = parse_value(*reported, *metric_index);
  if (!value) return value.error();
  return LineValue{.metric_index = *metric_index, .value = *value, .combine = reported->combine};
}

/// Returns the value of a line in the base unit of its metric.
Result<double> ReportedValues::parse_value(const ReportedLine& reported,
                                           std::size_t metric_index) const {
  const std::size_t planned_count = plan_.reported_metrics.size();
  const OwnMetric& metric = metric_index < planned_count
                                ? plan_.reported_metrics[metric_index]
                                : discovered_[metric_index - planned_count];

  // The unit may directly follow the number, as in "12ms", or be a word of its own.
  const std::string_view value = reported.value;
  const bool has_attached_unit = value.find_last_not_of("0123456789.") + 1 == value.size();
  return parse_own_value(
      fmt::format("{} {}", value, has_attached_unit ? "" : reported.metric.unit.word), metric.unit);
}

// Returns the index of a line's metric. Metrics that the plan announces come first, then those that
// are discovered in lines.
Result<std::size_t> ReportedValues::find_or_add_metric(const ReportedLine& reported) {
  const auto& announced_metrics = plan_.reported_metrics;
  const auto announced =
      std::ranges::find(announced_metrics, reported.metric.name, &OwnMetric::name);
  if (announced == announced_metrics.end()) {
    const auto discovered_index = find_or_discover(reported.metric);
    if (!discovered_index) return discovered_index.error();
    return announced_metrics.size() + *discovered_index;
  }

  if (announced->is_from_metrics_file())
    return static_cast<std::size_t>(announced - announced_metrics.begin());
  return Error{announced->region ? "has the name of a metric of --region"
                                 : "has the name of a metric of --scrape",
               "use another name"};
}

Result<std::size_t> ReportedValues::find_or_discover(const OwnMetric& metric) {
  const auto discovered = std::ranges::find(discovered_, metric.name, &OwnMetric::name);
  const auto index = static_cast<std::size_t>(discovered - discovered_.begin());
  if (discovered == discovered_.end()) {
    if (find_metric(plan_.metrics, metric.name))
      return Error{"has the name of another metric", "use another name"};
    if (discovered_.size() >= kMaxDiscoveredMetrics)
      return Error{"is one metric too many", "use at most 1,000 metrics"};
    discovered_.push_back(metric);
  } else if (metric.has_direction) {
    // The line says whether more or less is better. The latest such line decides.
    discovered->better = metric.better;
  }
  return index;
}

// A region is a part of a program, between calls of lauka_region_begin and lauka_region_end. If it
// has not been measured as it should, the run has no values for it.
std::optional<Error> why_region_is_invalid(const os::Ended& ended) {
  // If the program has reported nothing, all fields are 0.
  const os::RegionUse use = ended.region.value_or(os::RegionUse{});

  if (use.lock_timeouts > 0)
    return Error{
        "one of its processes was beginning or ending a region for more than a second, as if it "
        "had been killed there",
        "make sure that no process is killed or stopped within the two calls, or use -i to "
        "continue without its values"};
  if (use.unmatched_ends > 0)
    return Error{"it called lauka_region_end without lauka_region_begin",
                 "call the two functions in pairs"};

  const bool was_never_entered = use.entries == 0;
  if (was_never_entered)
    return Error{
        "it did not call lauka_region_begin, or a program that started it had closed its "
        "descriptors",
        "include lauka/region.h and mark the region, or use -i to continue without its values"};
  if (use.is_open)
    return Error{"its region was still open when it ended",
                 "call lauka_region_end before the program ends"};

  // The program writes to shared memory, where another program may have written, too.
  if (use.time_ns > ended.usage.wall_ns)
    return Error{"it reported more time in its region than the whole run took",
                 "make sure that nothing else writes to the memory that it shares with lauka"};

  return std::nullopt;
}

void add_region(const Plan& plan, const os::RegionUse& use,
                std::vector<std::optional<double>>& reported) {
  for (std::size_t place = 0; place < plan.reported_metrics.size(); ++place) {
    const auto& value = plan.reported_metrics[place].region;
    if (!value) continue;
    reported.resize(std::max(reported.size(), place + 1));
    reported[place] =
        *value == RegionValue::Time ? to_seconds(use.time_ns) : static_cast<double>(use.entries);
  }
}

}  // namespace lauka
