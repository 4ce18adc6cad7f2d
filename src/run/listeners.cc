#include "run/listeners.h"

#include "run/programs.h"

#include <algorithm>
#include <chrono>
#include <utility>

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
  const std::uint64_t room = kMostStored - std::min(stored_.bytes, kMostStored);
  const std::string_view kept = bytes.substr(0, static_cast<std::size_t>(room));
  has_room_ = has_room_ && (kept.empty() || stored_.text->append(kept));
  rest_.add(bytes.substr(kept.size()));
  stored_.bytes += bytes.size();
  return true;
}

Result<StoredOutput> OutputStore::take() {
  if (!has_room_) return Error{"--expect-output has no room for an output to compare with", ""};
  if (stored_.bytes > kMostStored) stored_.rest = rest_.digest();
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

std::string OutputComparison::expected_line() const {
  std::string line(static_cast<std::size_t>(kShownBefore + kShownBehind), '\0');
  line.resize(expected_.text->read(shown_from(), line));
  return line;
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
  const std::string expected = expected_line();
  const auto text_of = [](std::string_view line) { return line.substr(0, line.find('\n')); };
  // One has a line break at the other's end.
  const bool with_break = text_of(expected) == text_of(got_);
  const bool from_begin = shown_from() == line_begin_;
  return fmt::format("line {}: expected {}, got {} ({})", line_,
                     shown(expected, from_begin, with_break), shown(got_, from_begin, with_break),
                     sizes);
}

bool OutputHash::receive(os::Kept which, std::string_view bytes) {
  if (which != os::Kept::Output) return true;
  sum_.add(bytes);
  bytes_ += bytes.size();
  return true;
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

Result<os::Launch> OutputCheck::launch_of(std::uint32_t command) {
  command_ = command;
  os::ProgramSpec spec = program_of(plan_, plan_.commands[command], context_.user);
  spec.output.kept = false;
  spec.output.has_listener = true;
  spec.jobs = 1;
  const auto program = context_.launcher.add_program(spec);
  if (!program) return program.error();
  if (auto begun = begin(command); !begun) return begun.error();
  os::Launch launch{.program = *program};
  launch.listener = hash_         ? static_cast<os::OutputListener*>(hash_.get())
                    : comparison_ ? static_cast<os::OutputListener*>(comparison_.get())
                                  : store_.get();
  return launch;
}

/// Makes the listener of the run.
Result<void> OutputCheck::begin(std::uint32_t command) {
  store_.reset();
  comparison_.reset();
  hash_.reset();
  const ExpectedOutput& expected = plan_.commands[command].expected.value_or(ExpectedOutput{});
  if (expected.kind == ExpectedOutput::Kind::Hash) {
    hash_ = std::make_unique<OutputHash>();
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
  if (!text) return text.error().of("--expect-output same");
  store_ = std::make_unique<OutputStore>(*std::move(text));
  return {};
}

std::optional<Error> OutputCheck::verdict() {
  const std::string name = cited(plan_.commands[command_].name);
  if (store_) {
    auto stored = store_->take();
    if (!stored) return stored.error();
    stored_.emplace(command_, *std::move(stored));
    return std::nullopt;
  }
  const ExpectedOutput& expected = plan_.commands[command_].expected.value_or(ExpectedOutput{});
  if (hash_) {
    if (hash_->digest() == expected.text) return std::nullopt;
    return Error{fmt::format("--expect-output: {} writes {} bytes with sha256:{}, not sha256:{}",
                             name, hash_->bytes(), hash_->digest(), expected.text),
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

}  // namespace lauka
