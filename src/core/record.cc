#include "core/record.h"

#include <algorithm>
#include <bit>

namespace lauka {
namespace {

using Bytes = std::vector<unsigned char>;

// Size of a list's first block: small, because a suite may have thousands of lists with few runs.
constexpr std::size_t kMinBlockBytes = std::size_t{1} << 10U;
constexpr std::size_t kMaxDoublings = 6;
constexpr std::size_t kMaxPackedNumberBytes = 1 + sizeof(std::uint64_t);
// Numbers of a run whose lists are empty.
constexpr std::size_t kMinPackedNumbers = 12 + kUsageFields.size();
constexpr unsigned char kAbsent = 0xff;  // replaces the length of a missing number
constexpr unsigned kKindBits = 3;
constexpr std::uint64_t kKindMask = (1U << kKindBits) - 1;
static_assert(static_cast<std::uint64_t>(RoundKind::Untuned) <= kKindMask);

/// Writes the number of bytes that `number` needs, then these bytes, the lowest first.
void put(Bytes& to, std::uint64_t number) {
  const std::size_t place = to.size();
  to.push_back(0);
  for (; number != 0; number >>= 8U) to.push_back(static_cast<unsigned char>(number));
  to[place] = static_cast<unsigned char>(to.size() - place - 1);
}

template <typename Number>
void put(Bytes& to, const std::optional<Number>& number) {
  if (number)
    put(to, std::bit_cast<std::uint64_t>(*number));
  else
    to.push_back(kAbsent);
}

template <typename Number>
void put(Bytes& to, const std::vector<std::optional<Number>>& numbers) {
  put(to, std::uint64_t{numbers.size()});
  for (const auto& number : numbers) put(to, number);
}

class Taker {
 public:
  explicit Taker(const unsigned char* from) : next_(from) {}

  std::uint64_t number() {
    const std::size_t length = *next_++;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < length; ++i) number |= std::uint64_t{next_[i]} << (8 * i);
    next_ += length;
    return number;
  }

  template <typename Number>
  std::optional<Number> optional() {
    if (*next_ != kAbsent) return std::bit_cast<Number>(number());
    ++next_;
    return std::nullopt;
  }

  template <typename Number>
  void list(std::vector<std::optional<Number>>& into) {
    into.resize(number());
    for (auto& number : into) number = optional<Number>();
  }

 private:
  const unsigned char* next_;
};

void encode(const RunRecord& run, Bytes& to) {
  put(to, std::uint64_t{run.step.command});
  put(to, std::uint64_t{run.step.round});
  put(to, std::uint64_t{run.step.pass});
  // Layout and kind share a number, so that a run without --layouts needs no byte for its layout.
  put(to,
      (std::uint64_t{run.step.layout} << kKindBits) | static_cast<std::uint64_t>(run.step.kind));
  const auto* exited = std::get_if<Exited>(&run.outcome);
  put(to,
      exited != nullptr ? std::optional(static_cast<std::uint64_t>(exited->status)) : std::nullopt);
  for (const auto field : kUsageFields) put(to, run.usage.*field);
  put(to, run.counts);
  put(to, run.instruction_coverage);
  put(to, run.own_process_counts);
  put(to, std::uint64_t{run.below_overhead});
  put(to, std::uint64_t{run.number_in_suite});
  put(to, std::uint64_t{run.outlived});
  put(to, run.reported);
}

}  // namespace

std::optional<int> shell_status(const Outcome& outcome) {
  constexpr int signalled = 128;
  constexpr int kill = 9;
  if (std::holds_alternative<NotStarted>(outcome)) return std::nullopt;
  if (const auto* end = std::get_if<Exited>(&outcome)) return end->status;
  if (const auto* end = std::get_if<Signalled>(&outcome)) return signalled + end->signal;
  if (const auto* end = std::get_if<Stopped>(&outcome)) return signalled + end->signal;
  return signalled + kill;
}

bool is_listed_status(const Outcome& outcome, const std::optional<IgnoreFailure>& ignored) {
  return ignored && has_exited_or_signalled(outcome) &&
         std::ranges::find(ignored->statuses, *shell_status(outcome)) != ignored->statuses.end();
}

Ending ending_of(const Outcome& outcome, const std::optional<IgnoreFailure>& ignored) {
  if (succeeded(outcome) || is_listed_status(outcome, ignored)) return Ending::Succeeded;
  if (std::holds_alternative<Exited>(outcome)) return Ending::Failed;
  if (std::holds_alternative<TimedOut>(outcome)) return Ending::TimedOut;
  if (std::holds_alternative<Stopped>(outcome)) return Ending::Stopped;
  return std::holds_alternative<NotStarted>(outcome) ? Ending::NotStarted : Ending::Signalled;
}

void RunList::push_back(const RunRecord& run) {
  const std::size_t numbers =
      kMinPackedNumbers + run.counts.size() + run.own_process_counts.size() + run.reported.size();
  const std::size_t most = kMaxPackedNumberBytes * numbers;
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < most) {
    const std::size_t size = kMinBlockBytes << std::min(blocks_.size(), kMaxDoublings);
    blocks_.emplace_back().reserve(std::max(size, most));
  }
  Bytes& block = blocks_.back();
  if (!std::holds_alternative<Exited>(run.outcome)) other_outcomes_.emplace(size(), run.outcome);
  places_.push_back(
      {static_cast<std::uint32_t>(blocks_.size() - 1), static_cast<std::uint32_t>(block.size())});
  encode(run, block);
}

void RunList::read(std::size_t index, RunRecord& run) const {
  const Place place = places_[index];
  Taker from(blocks_[place.block].data() + place.begin);

  // The order is that of encode().
  run.step.command = static_cast<std::uint32_t>(from.number());
  run.step.round = static_cast<std::uint32_t>(from.number());
  run.step.pass = static_cast<std::uint32_t>(from.number());
  const std::uint64_t kind = from.number();
  run.step.kind = static_cast<RoundKind>(kind & kKindMask);
  run.step.layout = static_cast<std::uint32_t>(kind >> kKindBits);

  if (const auto status = from.optional<std::uint64_t>())
    run.outcome = Exited{static_cast<int>(*status)};
  else
    run.outcome = other_outcomes_.at(index);

  for (const auto field : kUsageFields) run.usage.*field = from.number();
  from.list(run.counts);
  run.instruction_coverage = from.optional<double>();
  from.list(run.own_process_counts);
  run.below_overhead = from.number() != 0;
  run.number_in_suite = static_cast<std::uint32_t>(from.number());
  run.outlived = static_cast<std::uint32_t>(from.number());
  from.list(run.reported);
}

RunRecord RunList::operator[](std::size_t index) const {
  RunRecord run{};
  read(index, run);
  return run;
}

}  // namespace lauka
