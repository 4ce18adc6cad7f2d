#include "run/output.h"

#include "run/programs.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace lauka {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t kLongestLine = std::size_t{16} << 10U;
constexpr auto kMostTimeOfLine = std::chrono::seconds(1);  // for one line

constexpr std::uint64_t kMostStored = std::uint64_t{64} << 20U;
constexpr std::size_t kPiece = std::size_t{64} << 10U;
constexpr std::uint64_t kShownBefore = 40;  // bytes of a line before and after a difference
constexpr std::uint64_t kShownBehind = 60;

/// Returns a line of a difference, from a place in it on.
std::string shown(std::string_view line, bool from_begin, bool with_break) {
  const std::size_t end = line.find('\n');
  const bool has_break = with_break && end != std::string_view::npos;
  const std::string_view text = line.substr(0, has_break ? end + 1 : end);
  if (text.empty() && line.empty()) return "the end";
  return (from_begin ? "" : "…") + cited(text);
}

constexpr const char* kRemedy = "mend it, or leave --expect-output out";

bool was_made_alike(const Command& reference, const Command& command) {
  return std::ranges::all_of(reference.parameters, [&](const Parameter& one) {
    return std::ranges::find(command.parameters, one) != command.parameters.end();
  });
}

using std::chrono::steady_clock;

// A .* takes a step for each byte, so a longer one would take more than are allowed. Most matches
// are in the last.
constexpr std::size_t kWindow = std::size_t{64} << 10U;
constexpr std::size_t kLongestMatch = std::size_t{16} << 10U;
constexpr std::size_t kLookedBack = 256;  // bytes before its match that an expression may look at
constexpr auto kMostTimeToScrape = std::chrono::seconds(5);
constexpr std::size_t kShown = 300;  // bytes of the output, in a message

constexpr std::size_t kMostLines = 10'000;
constexpr std::size_t kMostMetrics = 1'000;

/// The values of one name in a run.
struct Several {
  double sum = 0.0;
  double last = 0.0;
  std::size_t count = 0;
  Combine combine = Combine::Mean;

  double value() const {
    if (combine == Combine::Last) return last;
    return combine == Combine::Sum ? sum : sum / static_cast<double>(count);
  }
};

std::string option_of(const OwnMetric& metric) {
  return fmt::format("--scrape {}", cited(metric.name + "=" + metric.text));
}

}  // namespace

void AwaitedLine::begin() {
  for (std::string& line : begun_) line.clear();
  tail_.clear();
}

bool AwaitedLine::receive(os::Kept which, std::string_view bytes) {
  tail_.add(bytes);
  std::string& begun = begun_.at(static_cast<std::size_t>(which));
  for (;;) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    const bool is_in_pieces = !begun.empty() || end == std::string_view::npos;
    if (is_in_pieces) begun += part.substr(0, kLongestLine - std::min(begun.size(), kLongestLine));
    if (end == std::string_view::npos) return true;
    const bool is_last = is_awaited(is_in_pieces ? std::string_view(begun) : part);
    begun.clear();
    if (is_last) return false;
    bytes.remove_prefix(end + 1);
  }
}

bool AwaitedLine::is_awaited(std::string_view line) {
  line = line.substr(0, kLongestLine);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto deadline = steady_clock::now() + kMostTimeOfLine;
  const auto found = pattern_.matches(line, [&] { return steady_clock::now() < deadline; });
  if (!found) error_ = found.error();
  return !found || *found;
}

bool OutputStore::receive(os::Kept which, std::string_view bytes) {
  if (which != os::Kept::Output) return true;
  const std::uint64_t most = stored_.text ? kMostStored : 0;
  const std::uint64_t room = most - std::min(stored_.bytes, most);
  const std::string_view kept = bytes.substr(0, static_cast<std::size_t>(room));
  has_room_ = has_room_ && (kept.empty() || stored_.text->append(kept));
  rest_.add(bytes.substr(kept.size()));
  stored_.bytes += bytes.size();
  return true;
}

Result<StoredOutput> OutputStore::take() {
  if (!has_room_) return Error{"--expect-output has no room for an output to compare with", ""};
  if (!stored_.text || stored_.bytes > kMostStored) stored_.rest = rest_.digest();
  return std::move(stored_);
}

OutputComparison::OutputComparison(const StoredOutput& expected)
    : expected_(expected), room_(kPiece) {}

bool OutputComparison::receive(os::Kept which, std::string_view bytes) {
  if (which != os::Kept::Output) return true;
  received_ += bytes.size();
  if (differs_) {
    add_to_got(bytes);
  } else {
    compare(bytes);
  }
  return true;
}

void OutputComparison::compare(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t wanted = std::min(bytes.size(), room_.size());
    const std::size_t there = expected_.text->read(at_, {room_.data(), wanted});
    if (there == 0 && !expected_.rest.empty()) return rest_.add(bytes);
    const std::string_view expected(room_.data(), there);
    const auto same =
        static_cast<std::size_t>(std::ranges::mismatch(expected, bytes).in1 - expected.begin());
    pass(bytes.substr(0, same));
    bytes.remove_prefix(same);
    if (same < there || there == 0) return note_difference(bytes);
  }
}

void OutputComparison::pass(std::string_view equal) {
  const auto breaks = std::ranges::count(equal, '\n');
  if (breaks > 0) line_begin_ = at_ + equal.rfind('\n') + 1;
  line_ += static_cast<std::uint64_t>(breaks);
  at_ += equal.size();
}

std::uint64_t OutputComparison::shown_from() const {
  return std::max(line_begin_, at_ - std::min(at_, kShownBefore));
}

void OutputComparison::note_difference(std::string_view bytes) {
  differs_ = true;
  got_.resize(static_cast<std::size_t>(at_ - shown_from()));
  got_.resize(expected_.text->read(shown_from(), got_));
  add_to_got(bytes);
}

void OutputComparison::add_to_got(std::string_view bytes) {
  if (got_is_whole_) return;
  const std::size_t most = static_cast<std::size_t>(kShownBefore + kShownBehind);
  got_ += bytes.substr(0, most - std::min(got_.size(), most));
  got_is_whole_ = got_.size() == most || got_.find('\n') != std::string::npos;
}

std::optional<std::string> OutputComparison::difference() {
  const std::string sizes =
      fmt::format("{} expected, {} written", plural(expected_.bytes, "byte"), received_);
  if (!differs_ && received_ == at_ && at_ < expected_.text->bytes()) note_difference({});
  if (!differs_) {
    const bool is_same = received_ == expected_.bytes &&
                         (expected_.rest.empty() || expected_.rest == rest_.digest());
    if (is_same) return std::nullopt;
    return fmt::format("beyond the first 64 MB ({})", sizes);
  }
  std::string expected(static_cast<std::size_t>(kShownBefore + kShownBehind), '\0');
  expected.resize(expected_.text->read(shown_from(), expected));
  const auto text_of = [](std::string_view line) { return line.substr(0, line.find('\n')); };
  // One has a line break at the other's end.
  const bool with_break = text_of(expected) == text_of(got_);
  const bool from_begin = shown_from() == line_begin_;
  return fmt::format("line {}: expected {}, got {} ({})", line_,
                     shown(expected, from_begin, with_break), shown(got_, from_begin, with_break),
                     sizes);
}

OutputCheck::OutputCheck(const Plan& plan, const RunContext& context)
    : plan_(plan), context_(context) {
  for (std::size_t command = 0; command < plan.commands.size(); ++command)
    sources_.push_back(source_of(command));
}

/// With several commands typed, each combination of parameters has a reference of its own.
std::optional<std::size_t> OutputCheck::source_of(std::size_t command) const {
  const auto& commands = plan_.commands;
  const std::size_t reference = plan_.reference.command;
  const Command& own = commands[command];
  if (!own.expected || own.expected->kind != ExpectedOutput::Kind::Same) return std::nullopt;
  const std::size_t typed = commands[reference].typed;
  const bool is_one_typed =
      std::ranges::all_of(commands, [&](const Command& one) { return one.typed == typed; });
  if (is_one_typed) return command == reference ? std::nullopt : std::optional(reference);
  if (own.typed == typed) return std::nullopt;
  const auto found = std::ranges::find_if(
      commands, [&](const Command& one) { return one.typed == typed && was_made_alike(one, own); });
  if (found == commands.end()) return reference;
  return static_cast<std::size_t>(found - commands.begin());
}

std::vector<std::uint32_t> OutputCheck::due(std::uint32_t first, std::uint32_t count) const {
  const auto is_source = [&](std::size_t command) {
    return std::ranges::find(sources_, std::optional(command)) != sources_.end();
  };
  // Each after its counterpart, so that few outputs are stored at a time.
  std::vector<std::uint32_t> all;
  for (std::uint32_t command = first; command < first + count; ++command) {
    const auto& expected = plan_.commands[command].expected;
    if (sources_[command] || is_source(command) ||
        (expected && expected->kind != ExpectedOutput::Kind::Same))
      all.push_back(command);
  }
  std::ranges::stable_sort(all, [&](std::uint32_t a, std::uint32_t b) {
    return sources_[a].value_or(a) < sources_[b].value_or(b);
  });
  return all;
}

Result<os::Launch> OutputCheck::make_launch(std::uint32_t command) {
  command_ = command;
  os::ProgramSpec spec = make_program(plan_, plan_.commands[command], context_.user);
  spec.output.kept = false;
  spec.output.has_listener = true;
  spec.jobs = 1;
  const auto program = context_.launcher.add_program(spec);
  if (!program) return program.error();
  if (auto begun = begin(command); !begun) return begun.error();
  os::Launch launch{.program = *program};
  if (comparison_)
    launch.listener = comparison_.get();
  else
    launch.listener = store_.get();
  return launch;
}

/// Makes the listener of the run.
Result<void> OutputCheck::begin(std::uint32_t command) {
  store_.reset();
  comparison_.reset();
  const ExpectedOutput& expected = plan_.commands[command].expected.value_or(ExpectedOutput{});
  if (expected.kind == ExpectedOutput::Kind::Hash) {
    store_ = std::make_unique<OutputStore>(nullptr);
    return {};
  }
  if (expected.kind == ExpectedOutput::Kind::File) {
    auto text = context_.texts->open(expected.text);
    if (!text) return text.error().about("--expect-output " + cited(expected.text));
    file_ = {*std::move(text), 0};
    file_.bytes = file_.text->bytes();
    comparison_ = std::make_unique<OutputComparison>(file_);
    return {};
  }
  if (const auto source = sources_[command]) {
    // Later places are not compared with anything before its source.
    stored_.erase(stored_.begin(), stored_.lower_bound(*source));
    comparison_ = std::make_unique<OutputComparison>(stored_.at(*source));
    return {};
  }
  auto text = os::TextFiles::make();
  if (!text) return text.error().prefixed("--expect-output same");
  store_ = std::make_unique<OutputStore>(*std::move(text));
  return {};
}

std::optional<Error> OutputCheck::verdict() {
  const std::string name = cited(plan_.commands[command_].name);
  const ExpectedOutput& expected = plan_.commands[command_].expected.value_or(ExpectedOutput{});
  if (store_) {
    auto stored = store_->take();
    if (!stored) return stored.error();
    if (expected.kind != ExpectedOutput::Kind::Hash) {
      stored_.emplace(command_, *std::move(stored));
      return std::nullopt;
    }
    if (stored->rest == expected.text) return std::nullopt;
    return Error{fmt::format("--expect-output: {} writes {} bytes with sha256:{}, not sha256:{}",
                             name, stored->bytes, stored->rest, expected.text),
                 kRemedy};
  }
  const auto difference = comparison_->difference();
  if (!difference) return std::nullopt;
  const auto source = sources_[command_];
  return Error{fmt::format("--expect-output: {} does not write what {} {}: {}", name,
                           source ? cited(plan_.commands[*source].name) : cited(expected.text),
                           source ? "writes" : "has", *difference),
               kRemedy};
}

bool scrapes(const Plan& plan) {
  return std::ranges::any_of(plan.reported,
                             [](const OwnMetric& metric) { return metric.is_scraped(); });
}

Result<void> ReportedValues::prepare() {
  for (std::size_t place = 0; place < plan_.reported.size(); ++place) {
    const OwnMetric& metric = plan_.reported[place];
    if (!metric.is_scraped()) continue;
    auto pattern = Pattern::compile(metric.text);
    if (!pattern) return pattern.error().about(option_of(metric));
    patterns_.emplace_back(place, *std::move(pattern));
  }
  return {};
}

bool ReportedValues::by_file() const {
  return !discovered_.empty() || std::ranges::any_of(plan_.reported, [](const OwnMetric& metric) {
    return metric.is_written();
  });
}

void ReportedValues::collect() {
  if (files_ != nullptr) batch_ = files_->collect();
}

Result<std::vector<std::optional<double>>> ReportedValues::read_values(const Step& step,
                                                                       std::size_t place) {
  Values values;
  // Counting runs are slower, and so are their own values.
  if (step.kind != RoundKind::Timed && step.kind != RoundKind::Warmup) return values;
  for (const auto& [metric, pattern] : patterns_) {
    auto scraped = scrape(metric, pattern, values);
    if (!scraped) return scraped.error();
  }
  for (const os::MetricFiles::Written& written : batch_) {
    if (written.place != place) continue;
    if (!written.is_whole)
      return Error{fmt::format("{} is no file, or larger than 1 MB", kMetricsVariable),
                   "write fewer lines, or their sum"};
    auto read_all = read(written.text, values);
    if (!read_all) return read_all.error();
  }
  return values;
}

Result<void> ReportedValues::scrape(std::size_t place, const Pattern& pattern,
                                    Values& values) const {
  const OwnMetric& metric = plan_.reported[place];
  for (const os::Kept which : {os::Kept::Output, os::Kept::Error}) {
    const auto match = last_match(pattern, which);
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
  const std::string end = output_end();
  return Error{fmt::format("{} matches nothing that it wrote; {}", option_of(metric),
                           end.empty() ? "it wrote nothing" : "that ends with " + cited(end)),
               "use -i to go on without the value"};
}

/// Windows overlap by the longest match, and each has a little context before it.
Result<std::optional<std::string>> ReportedValues::last_match(const Pattern& pattern,
                                                              os::Kept which) const {
  const std::uint64_t size = launcher_.kept_bytes(which);
  const std::uint64_t least = size > os::kMostKept ? size - os::kMostKept : 0;
  const auto deadline = steady_clock::now() + kMostTimeToScrape;
  const auto goes_on = [&] { return steady_clock::now() < deadline; };
  std::string text;
  for (std::uint64_t end = size; end > least;) {
    const std::uint64_t begin = end - least > kWindow ? end - kWindow : least;
    const std::uint64_t from = begin - std::min<std::uint64_t>(begin, kLookedBack);
    const std::uint64_t to = std::min<std::uint64_t>(end + (end < size ? kLongestMatch : 0), size);
    text.resize(static_cast<std::size_t>(to - from));
    text.resize(launcher_.read_kept(which, from, text));
    auto found =
        pattern.last_group({text, static_cast<std::size_t>(begin - from),
                            std::min(static_cast<std::size_t>(end - from), text.size()), from == 0},
                           goes_on);
    if (!found || *found) return found;
    end = begin;
  }
  return std::optional<std::string>{};
}

std::string ReportedValues::output_end() const {
  for (const os::Kept which : {os::Kept::Output, os::Kept::Error}) {
    const std::uint64_t size = launcher_.kept_bytes(which);
    if (size == 0) continue;
    std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(size, kShown)), '\0');
    text.resize(launcher_.read_kept(which, size - text.size(), text));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  return "";
}

Result<void> ReportedValues::read(std::string_view text, Values& values) {
  std::map<std::size_t, Several> all;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto refused = [&](const Error& error) {
      return error.about(fmt::format("line {} of {}, {},", number, kMetricsVariable, cited(line)));
    };
    if (++number > kMostLines) return refused({"is one too many", "write 10,000 at most"});
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto reported = parse_reported_line(line);
    if (!reported) return refused(reported.error());
    const auto place = place_of(*reported);
    if (!place) return refused(place.error());
    // A value with a unit in it keeps that.
    const bool has_one =
        reported->value.find_last_not_of("0123456789.") + 1 == reported->value.size();
    const std::size_t asked = plan_.reported.size();
    const OwnMetric& metric = *place < asked ? plan_.reported[*place] : discovered_[*place - asked];
    const auto value = parse_own_value(
        fmt::format("{} {}", reported->value, has_one ? "" : reported->metric.unit.word),
        metric.unit);
    if (!value) return refused(value.error());
    Several& several = all[*place];
    several.sum += *value;
    several.last = *value;
    ++several.count;
    if (reported->combine) several.combine = *reported->combine;
  }
  for (const auto& [place, several] : all) {
    values.resize(std::max(values.size(), place + 1));
    if (is_measurable(several.value())) values[place] = several.value();
  }
  return {};
}

Result<std::size_t> ReportedValues::place_of(const ReportedLine& reported) {
  const OwnMetric& metric = reported.metric;
  for (std::size_t place = 0; place < plan_.reported.size(); ++place) {
    if (plan_.reported[place].name != metric.name) continue;
    if (plan_.reported[place].is_written()) return place;
    return Error{plan_.reported[place].region ? "has the name of a row of --region"
                                              : "has the name of what --scrape looks for",
                 "use another name"};
  }
  const auto found = std::ranges::find(discovered_, metric.name, &OwnMetric::name);
  const std::size_t index = static_cast<std::size_t>(found - discovered_.begin());
  if (found == discovered_.end()) {
    if (find_metric(plan_.metrics, metric.name))
      return Error{"has the name of another metric", "use another name"};
    if (discovered_.size() >= kMostMetrics)
      return Error{"names one metric too many", "use 1,000 at most"};
    discovered_.push_back(metric);
  } else if (metric.has_direction) {
    found->better = metric.better;
  }
  return plan_.reported.size() + index;
}

std::optional<Error> why_no_region(const os::Ended& ended) {
  const os::RegionUse use = ended.region.value_or(os::RegionUse{});
  if (use.stray > 0)
    return Error{"it called lauka_region_end without a lauka_region_begin before it",
                 "call the two in pairs"};
  if (use.entries == 0)
    return Error{
        "it did not call lauka_region_begin, or something that started it had closed its "
        "descriptors",
        "include lauka/region.h and mark the region; or use -i to go on without it"};
  if (use.is_open)
    return Error{"its region was still open when it ended",
                 "call lauka_region_end before the program ends"};
  if (use.time_ns > ended.usage.wall_ns)
    return Error{"it noted more time in its region than it took",
                 "see that nothing else writes to the memory that it shares with lauka"};
  return std::nullopt;
}

void add_region(const Plan& plan, const os::RegionUse& use,
                std::vector<std::optional<double>>& reported) {
  for (std::size_t place = 0; place < plan.reported.size(); ++place) {
    const auto& value = plan.reported[place].region;
    if (!value) continue;
    reported.resize(std::max(reported.size(), place + 1));
    reported[place] = *value == RegionValue::Time ? static_cast<double>(use.time_ns) / 1e9
                                                  : static_cast<double>(use.entries);
  }
}

}  // namespace lauka
