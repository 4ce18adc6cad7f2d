#include "cli/option_table.h"
#include "cli/values.h"
#include "core/pattern.h"

#include <array>
#include <cstdint>
#include <string>

// The options about suites: the part of the table that speaks of one file with many benchmarks.

namespace lauka::cli {

namespace {

constexpr std::uint64_t kMostShards = 100'000;

/// A suite is measured once.
Result<void> set_suite(Draft& draft, const Given& given) {
  if (draft.options.suite) return refused(given, {"is a second suite", "measure one at a time"});
  return keep(text(given), draft.options.suite);
}

Result<void> set_only(Draft& draft, const Given& given) {
  auto pattern = Pattern::compile(given.value, Pattern::Groups::Idle);
  if (!pattern) return refused(given, pattern.error());
  return keep(text(given), draft.options.only);
}

Result<void> set_shard(Draft& draft, const Given& given) {
  const Error wrong{"is not I/N", "write, for example, --shard 2/5 for the second of five parts"};
  const std::size_t slash = given.value.find('/');
  if (slash == std::string::npos) return refused(given, wrong);
  const auto part = parse_whole_number(given.value.substr(0, slash), 1, kMostShards);
  const auto parts = parse_whole_number(given.value.substr(slash + 1), 1, kMostShards);
  if (!part || !parts || *part > *parts) return refused(given, wrong);
  draft.options.shard =
      Shard{static_cast<std::uint32_t>(*part), static_cast<std::uint32_t>(*parts)};
  return {};
}

Result<void> set_anchor(Draft& draft, const Given& given) {
  return keep(text(given), draft.options.anchor);
}

Result<void> set_resume(Draft& draft, const Given& /*given*/) {
  draft.options.resumes = true;
  return {};
}

Result<void> set_fdr(Draft& draft, const Given& /*given*/) {
  draft.options.controls_fdr = true;
  return {};
}

constexpr auto kSuiteOptions = std::to_array<OptionInfo>({
    {"suite", '\0', Takes::Value, Group::Measured, "FILE",
     "measure the benchmarks that this TOML file describes, their rounds interleaved, and show a "
     "row for each and the geometric mean of the changes. Options of a benchmark win over those of "
     "the "
     "command line, and these over the file's [defaults]",
     set_suite},
    {"only", '\0', Takes::Value, Group::Measured, "REGEX",
     "of a suite: the benchmarks whose names match", set_only},
    {"shard", '\0', Takes::Value, Group::Measured, "I/N",
     "of a suite: the I-th of N disjoint parts, as 2/5; a benchmark is never divided", set_shard},
    {"resume", '\0', Takes::Nothing, Group::Measured, "",
     "of a suite that was interrupted: go on with the rounds kept beside the file of --export-json "
     "(FILE.rounds); begin where there are none",
     set_resume},
    {"anchor", '\0', Takes::Value, Group::Measured, "NAME",
     "in a suite: the command of this name (-n, else its text) is an old build that is measured in "
     "the same rounds, and is neither base nor candidate",
     set_anchor},
    {"fdr", '\0', Takes::Nothing, Group::Gate, "",
     "in a suite: of the gates that fail, at most 1 - confidence are expected to be false alarms "
     "(default: that any is one)",
     set_fdr},
});

}  // namespace

std::span<const OptionInfo> suite_options() {
  return kSuiteOptions;
}

}  // namespace lauka::cli
