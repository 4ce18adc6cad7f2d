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

constexpr const char* kRemedy = "correct the command, or leave out --expect-output";

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

  /// The one value that stands for the run.
  double combined() const {
    if (combine == Combine::Last) return last;
    return combine == Combine::Sum ? sum : sum / static_cast<double>(count);
  }
};

std::string option_of(const OwnMetric& metric) {
  return fmt::format("--scrape {}", cited(metric.name + "=" + metric.pattern->text()));
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

  // Advances piece by piece to the first byte that differs, and counts the lines before it.
  std::vector<char> expected_room(kPieceBytes);
  std::vector<char> got_room(kPieceBytes);
  std::uint64_t at = 0;
  std::uint64_t line = 1;
  std::uint64_t line_begin = 0;
  bool differs = false;
  while (!differs) {
    const std::string_view expected_piece(expected_room.data(),
                                          expected.text.read(at, expected_room));
    const std::string_view got_piece(got_room.data(), got.text.read(at, got_room));

    // Only the beginning of an output is stored, but the hash is that of the whole output.
    if (expected_piece.empty() && got_piece.empty()) {
      if (got.hash == expected.hash) return std::nullopt;
      return "beyond the first 64 MB (" + sizes + ")";
    }

    const auto end_of_equal = std::ranges::mismatch(expected_piece, got_piece).in1;
    const auto equal_bytes = static_cast<std::size_t>(end_of_equal - expected_piece.begin());
    const std::string_view equal = expected_piece.substr(0, equal_bytes);
    const auto breaks = std::ranges::count(equal, '\n');
    if (breaks > 0) line_begin = at + equal.rfind('\n') + 1;
    line += static_cast<std::uint64_t>(breaks);
    at += equal_bytes;
    differs = equal_bytes < std::max(expected_piece.size(), got_piece.size());
  }

  // Shows the surroundings of this byte in both outputs, but nothing before its line.
  const std::uint64_t shown_begin = std::max(line_begin, at - std::min(at, kBytesShownBefore));
  const auto read_surroundings = [&](const os::TextFile& file) {
    std::string text(static_cast<std::size_t>(kBytesShownBefore + kBytesShownAfter), '\0');
    text.resize(file.read(shown_begin, text));
    return text;
  };
  const std::string wanted = read_surroundings(expected.text);
  const std::string written = read_surroundings(got.text);

  // If the lines differ only in how they end, their ends are shown.
  const auto without_break = [](std::string_view text) { return text.substr(0, text.find('\n')); };
  const bool with_break = without_break(wanted) == without_break(written);
  const bool is_from_line_begin = shown_begin == line_begin;

  return fmt::format("line {}: expected {}, got {} ({})", line,
                     cite_line(wanted, is_from_line_begin, with_break),
                     cite_line(written, is_from_line_begin, with_break), sizes);
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

Result<os::Launch> OutputCheck::make_launch(std::uint32_t command, std::uint32_t layout) {
  command_ = command;
  layout_ = layout;

  const auto built = command_in_layout(plan_, command, layout);
  os::ProgramSpec spec = make_program(plan_, *built, context_.user);
  spec.output.is_stored_during_run = false;
  spec.output.has_listener = true;
  spec.jobs = 1;

  const auto program = context_.launcher.add_program(spec);
  if (!program) return program.error();

  const ExpectedOutput expected = built->expected.value_or(ExpectedOutput{});
  file_.reset();
  if (expected.kind == ExpectedOutput::Kind::File) {
    auto file = read_file(expected.file_or_hash);  // before the run, which may write to it
    if (!file) return file.error();
    file_ = *std::move(file);
  }

  auto text = os::TextFile::make();
  if (!text) return text.error().prefixed("--expect-output " + text_of(expected));
  store_.emplace(*std::move(text));

  return os::Launch{.program = *program, .listener = &*store_};
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

std::optional<Error> OutputCheck::find_error() {
  const std::string name =
      cited(name_in_layout(plan_, Step{.command = command_, .layout = layout_}));
  const ExpectedOutput& expected = plan_.commands[command_].expected.value_or(ExpectedOutput{});

  auto stored = store_->take();
  if (!stored) return stored.error();

  if (expected.kind == ExpectedOutput::Kind::Hash && stored->hash != expected.file_or_hash)
    return Error{fmt::format("--expect-output: {} writes {} bytes with sha256:{}, not sha256:{}",
                             name, stored->bytes, stored->hash, expected.file_or_hash),
                 kRemedy};

  // In its later layouts, a source must write what it wrote in the first one.
  const bool is_compared_with_own = layout_ > 0 && is_source_[command_] && !sources_[command_];
  const auto source =
      is_compared_with_own ? std::optional<std::size_t>(command_) : sources_[command_];

  std::optional<std::string> difference;
  if (file_) {
    difference = describe_difference(*file_, *stored);
  } else if (source) {
    // list_commands_to_run() sorts by source, so the outputs of earlier sources are not needed
    // again.
    stored_.erase(stored_.begin(), stored_.lower_bound(*source));
    difference = describe_difference(stored_.at(*source), *stored);
  }

  if (difference) {
    const std::string wanted = source ? cited(plan_.commands[*source].name) + " writes"
                                      : cited(expected.file_or_hash) + " has";
    return Error{
        fmt::format("--expect-output: {} does not write what {}: {}", name, wanted, *difference),
        kRemedy};
  }

  if (is_source_[command_]) stored_.emplace(command_, *std::move(stored));
  return std::nullopt;
}

bool has_scraped_metrics(const Plan& plan) {
  return std::ranges::any_of(plan.reported_metrics, &OwnMetric::is_scraped);
}

bool ReportedValues::uses_metric_files() const {
  return !discovered_.empty() ||
         std::ranges::any_of(plan_.reported_metrics, &OwnMetric::is_from_metrics_file);
}

std::optional<Error> ReportedValues::read_values(const Step& step, std::size_t place,
                                                 Values& values) {
  const auto refuse_values = [&](const Error& error) {
    values.clear();
    return error;
  };

  if (step.kind != RoundKind::Timed && step.kind != RoundKind::Warmup) return std::nullopt;
  for (std::size_t metric = 0; metric < plan_.reported_metrics.size(); ++metric) {
    if (!plan_.reported_metrics[metric].is_scraped()) continue;
    if (auto scraped = scrape(metric, values); !scraped) return refuse_values(scraped.error());
  }

  for (const os::MetricFiles::RunFile& written : batch_) {
    if (written.run_index != place) continue;
    if (!written.is_whole)
      return refuse_values(
          {fmt::format("{} is not a regular file, or it is larger than 1 MB", kMetricsVariable),
           "write fewer lines, or only their sum"});
    if (auto read_all = read_lines(written.text, values); !read_all)
      return refuse_values(read_all.error());
  }

  return std::nullopt;
}

Result<void> ReportedValues::scrape(std::size_t place, Values& values) const {
  const OwnMetric& metric = plan_.reported_metrics[place];
  std::string text;

  for (const os::OutputStream which : {os::OutputStream::Output, os::OutputStream::Error}) {
    const auto match = find_last_match(*metric.pattern, which, text);
    if (!match) return match.error().about(option_of(metric));
    if (!*match) continue;

    const auto value = parse_own_value(**match, metric.unit);
    if (!value)
      return value.error().about(
          fmt::format("{} found {}, which", option_of(metric), cited(**match)));

    values.resize(std::max(values.size(), place + 1));
    values[place] = *value;
    return {};
  }

  const std::string end = read_output_end();
  return Error{
      fmt::format("{} matches nothing in its output; {}", option_of(metric),
                  end.empty() ? "there is no output" : "the output ends with " + cited(end)),
      "use -i to continue without the value"};
}

/// Searches a stream from its end, in pieces. The match is a part of the latest piece, `text`.
Result<std::optional<std::string_view>> ReportedValues::find_last_match(const Pattern& pattern,
                                                                        os::OutputStream which,
                                                                        std::string& text) const {
  const std::uint64_t size = launcher_.stored_stream_bytes(which);
  const std::uint64_t search_begin = size > os::kStoredEndBytes ? size - os::kStoredEndBytes : 0;
  const auto deadline = clock_.now() + kMaxTimeToScrape;
  const auto goes_on = [&] { return clock_.now() < deadline; };

  for (std::uint64_t end = size; end > search_begin;) {
    const std::uint64_t begin =
        end - search_begin > kWindowBytes ? end - kWindowBytes : search_begin;

    // A match must begin in the window, but it may end behind it.
    const std::uint64_t from = begin - std::min<std::uint64_t>(begin, kContextBytes);
    const std::uint64_t to = std::min<std::uint64_t>(end + (end < size ? kMaxMatchBytes : 0), size);

    text.resize(static_cast<std::size_t>(to - from));
    text.resize(launcher_.read_kept(which, from, text));
    auto found = pattern.group_in_last_match(
        {text, static_cast<std::size_t>(begin - from),
         std::min(static_cast<std::size_t>(end - from), text.size()), from == 0},
        goes_on);
    if (!found || *found) return found;

    end = begin;
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

Result<void> ReportedValues::read_lines(std::string_view text, Values& values) {
  std::map<std::size_t, ValuesOfName> values_by_place;
  std::size_t line_number = 0;

  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));

    const auto refuse_line = [&](const Error& error) {
      return error.about(
          fmt::format("line {} of {}, {},", line_number, kMetricsVariable, cited(line)));
    };

    if (++line_number > kMaxReportedLines)
      return refuse_line({"is one line too many", "write at most 10,000 lines"});
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;

    const auto reported = parse_reported_line(line);
    if (!reported) return refuse_line(reported.error());
    const auto place = find_or_add_place(*reported);
    if (!place) return refuse_line(place.error());

    const bool has_unit =
        reported->value.find_last_not_of("0123456789.") + 1 == reported->value.size();
    const std::size_t planned_count = plan_.reported_metrics.size();
    const OwnMetric& metric = *place < planned_count ? plan_.reported_metrics[*place]
                                                     : discovered_[*place - planned_count];

    const auto value = parse_own_value(
        fmt::format("{} {}", reported->value, has_unit ? "" : reported->metric.unit.word),
        metric.unit);
    if (!value) return refuse_line(value.error());

    ValuesOfName& of_name = values_by_place[*place];
    of_name.sum += *value;
    of_name.last = *value;
    ++of_name.count;
    if (reported->combine) of_name.combine = *reported->combine;
  }

  for (const auto& [place, of_name] : values_by_place) {
    values.resize(std::max(values.size(), place + 1));
    if (is_in_numeric_range(of_name.combined())) values[place] = of_name.combined();
  }

  return {};
}

Result<std::size_t> ReportedValues::find_or_add_place(const ReportedLine& reported) {
  const OwnMetric& metric = reported.metric;

  for (std::size_t place = 0; place < plan_.reported_metrics.size(); ++place) {
    if (plan_.reported_metrics[place].name != metric.name) continue;
    if (plan_.reported_metrics[place].is_from_metrics_file()) return place;
    return Error{plan_.reported_metrics[place].region ? "has the name of a metric of --region"
                                                      : "has the name of a metric of --scrape",
                 "use another name"};
  }

  const auto found = std::ranges::find(discovered_, metric.name, &OwnMetric::name);
  const std::size_t index = static_cast<std::size_t>(found - discovered_.begin());
  if (found == discovered_.end()) {
    if (find_metric(plan_.metrics, metric.name))
      return Error{"has the name of another metric", "use another name"};
    if (discovered_.size() >= kMaxDiscoveredMetrics)
      return Error{"is one metric too many", "use at most 1,000 metrics"};
    discovered_.push_back(metric);
  } else if (metric.has_direction) {
    found->better = metric.better;
  }

  return plan_.reported_metrics.size() + index;
}

std::optional<Error> why_no_region(const os::Ended& ended) {
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
  if (use.entries == 0)
    return Error{
        "it did not call lauka_region_begin, or a program that started it had closed its "
        "descriptors",
        "include lauka/region.h and mark the region, or use -i to continue without its values"};
  if (use.is_open)
    return Error{"its region was still open when it ended",
                 "call lauka_region_end before the program ends"};
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
