#include "core/pattern.h"

#include <algorithm>
#include <array>
#include <cstdint>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace lauka {
namespace {

constexpr std::size_t kMaxPatternBytes = 10'000;
constexpr std::uint32_t kMaxSteps = 200'000;  // for one starting offset
constexpr std::uint32_t kMaxDepth = 10'000;
constexpr std::uint32_t kMaxHeapKib = 4096;
/// Starting offsets in a stride. Each call of PCRE2 tries one or more strides.
constexpr std::size_t kStrideBytes = 2048;
/// Strides per call of PCRE2 in group_in_last_match(), until a starting offset needs too many
/// steps. From then on, each call tries a single stride.
constexpr std::size_t kMaxStridesPerCall = 32;

PCRE2_SPTR as_bytes(std::string_view text) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): characters as PCRE2 has them
  return reinterpret_cast<PCRE2_SPTR>(text.data());
}

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> message{};
  const int length = pcre2_get_error_message(code, message.data(), message.size());
  return length < 0 ? "unknown error" : std::string(message.begin(), message.begin() + length);
}

using CompileContext =
    std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)>;
using MatchContext = std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)>;
using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

MatchContext make_limited_context() {
  MatchContext context(pcre2_match_context_create(nullptr), &pcre2_match_context_free);
  if (!context) return context;
  pcre2_set_match_limit(context.get(), kMaxSteps);
  pcre2_set_depth_limit(context.get(), kMaxDepth);
  pcre2_set_heap_limit(context.get(), kMaxHeapKib);
  return context;
}

Error make_memory_error() {
  return Error{"needs too much memory", ""};
}

/// Returns a context for PCRE2's compiler; null without memory.
CompileContext make_compile_context() {
  CompileContext context(pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
  if (!context) return context;
  pcre2_set_max_pattern_length(context.get(), kMaxPatternBytes);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_ANYCRLF);
  return context;
}

Error make_syntax_error(int error, PCRE2_SIZE offset) {
  return Error{"is not a regular expression: " + message_of(error) + ", at character " +
                   std::to_string(offset + 1),
               "put a \\ before each character that has no special meaning"};
}

/// Returns the code (a pcre2_code) to which PCRE2 compiles the pattern.
Result<std::shared_ptr<void>> compile_code(std::string_view text) {
  const CompileContext context = make_compile_context();
  if (!context) return make_memory_error();

  // Programs may write any bytes, so these are never decoded as UTF-8. A search is made in several
  // calls with some starting offsets each, which needs the option for the offset limit.
  constexpr std::uint32_t options = PCRE2_MULTILINE | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP |
                                    PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT;
  int error = 0;
  PCRE2_SIZE error_offset = 0;
  std::shared_ptr<void> code(
      pcre2_compile(as_bytes(text), text.size(), options, &error, &error_offset, context.get()),
      [](void* compiled) { pcre2_code_free(static_cast<pcre2_code*>(compiled)); });
  if (code == nullptr) return make_syntax_error(error, error_offset);
  return code;
}

std::uint32_t count_groups(const pcre2_code* code) {
  std::uint32_t count = 0;
  pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &count);
  return count;
}

Error make_too_many_steps_error() {
  return Error{"needs too many steps to match",
               "simplify it by nesting fewer * and + within each other"};
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view text, Groups wanted) {
  auto code = compile_code(text);
  if (!code) return code.error();

  // A pattern that finds a number needs a group around it. One that is only looked for needs none.
  if (wanted == Groups::Needed && count_groups(static_cast<pcre2_code*>(code->get())) == 0)
    return Error{"has no group", "put the number in parentheses: 'took ([0-9.]+) ms'"};

  return Pattern(text, *std::move(code));
}

Result<bool> Pattern::matches(std::string_view text, const std::function<bool()>& goes_on) const {
  const MatchContext context = make_limited_context();
  const MatchData data(pcre2_match_data_create(1, nullptr), &pcre2_match_data_free);
  if (!context || !data) return make_memory_error();
  const auto* const code = static_cast<const pcre2_code*>(code_.get());
  for (std::size_t at = 0; at <= text.size(); at += kStrideBytes) {
    pcre2_set_offset_limit(context.get(), std::min(at + kStrideBytes - 1, text.size()));
    const int found =
        pcre2_match(code, as_bytes(text), text.size(), at, 0, data.get(), context.get());
    if (found >= 0) return true;
    if (found != PCRE2_ERROR_NOMATCH || !goes_on()) return make_too_many_steps_error();
  }
  return false;
}

Result<std::optional<std::string_view>> Pattern::group_in_last_match(
    const Piece& piece, const std::function<bool()>& goes_on) const {
  const MatchContext context = make_limited_context();
  constexpr std::uint32_t wanted_parts = 2;  // the whole match, and its first group
  const MatchData data(pcre2_match_data_create(wanted_parts, nullptr), &pcre2_match_data_free);
  if (!context || !data) return make_memory_error();

  const auto* const code = static_cast<const pcre2_code*>(code_.get());

  // In the middle of a longer text, "^" must not match at the beginning of the piece.
  const std::uint32_t options = piece.is_beginning ? 0 : PCRE2_NOTBOL;

  // Looks for one match after the other, and keeps the group of the latest. Each call of PCRE2
  // tries only some starting offsets, in units of a stride (kStrideBytes offsets), so that
  // goes_on() can end a search that takes too long.
  std::optional<std::string_view> group;
  std::size_t strides_per_call = kMaxStridesPerCall;
  std::size_t first_start = piece.min_match_start;
  while (first_start <= piece.max_match_start) {
    const std::size_t last_start =
        std::min(first_start + strides_per_call * kStrideBytes - 1, piece.max_match_start);
    pcre2_set_offset_limit(context.get(), last_start);

    // The limit is for the steps of each starting offset. It is lower for more offsets, so that a
    // call takes at most as long as one of a single stride.
    const auto max_steps = kMaxSteps / static_cast<std::uint32_t>(strides_per_call);
    pcre2_set_match_limit(context.get(), max_steps);

    const int status = pcre2_match(code, as_bytes(piece.text), piece.text.size(), first_start,
                                   options, data.get(), context.get());
    if (!goes_on()) return make_too_many_steps_error();

    // If the lower limit was too low, the same offsets are tried again, with the whole limit.
    if (status == PCRE2_ERROR_MATCHLIMIT && strides_per_call > 1) {
      strides_per_call = 1;
      continue;
    }

    if (status == PCRE2_ERROR_NOMATCH) {
      first_start = last_start + 1;
      continue;
    }
    // Any other error means that a limit of steps, depth or memory was reached.
    if (status < 0) return make_too_many_steps_error();

    // PCRE2 returns two offsets for the match, and two for the first group. The status is 1 if the
    // match has no group, and 0 if it has more groups than `data` has room for.
    const PCRE2_SIZE* const offsets = pcre2_get_ovector_pointer(data.get());
    const std::size_t match_begin = offsets[0];
    const std::size_t match_end = offsets[1];
    if (status != 1 && offsets[2] != PCRE2_UNSET)
      group = piece.text.substr(offsets[2], offsets[3] - offsets[2]);

    // The next match begins behind this one, and at least one character later: from the same
    // offset, an empty match would be found again.
    const bool is_empty = match_end <= match_begin;
    first_start = std::max(is_empty ? match_end + 1 : match_end, first_start + 1);
  }

  return group;
}

}  // namespace lauka
