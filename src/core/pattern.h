#pragma once

#include "core/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace lauka {

/// A regular expression (PCRE2) that is matched against bytes; ^ and $ match at the beginning and
/// end of each line.
class Pattern {
 public:
  /// Needed: compile() refuses an expression without a group.
  enum class Groups : unsigned char { Needed, NotNeeded };

  /// Compiles `text`. The error is a predicate: "has no group".
  static Result<Pattern> compile(std::string_view text, Groups groups = Groups::Needed);

  const std::string& text() const { return text_; }

  /// True if the expression matches somewhere in `text`. Returns an error if matching takes too
  /// many steps or too much memory, or if `goes_on`, which is called from time to time, returns
  /// false.
  Result<bool> matches(std::string_view text, const std::function<bool()>& goes_on) const;

  /// A piece of a longer text.
  struct Piece {
    std::string_view text;
    std::size_t min_match_start = 0;  ///< first offset at which matches may begin
    std::size_t max_match_start = 0;  ///< last offset at which matches may begin
    bool is_beginning = true;         ///< true if the piece begins where the longer text begins
  };

  /// Returns the part of the piece that is the expression's first group in the last match in which
  /// this group takes part; nullopt if there is no such match. Returns an error if matching takes
  /// too many steps or too much memory, or if `goes_on`, which is called from time to time, returns
  /// false.
  Result<std::optional<std::string_view>> group_in_last_match(
      const Piece& piece, const std::function<bool()>& goes_on) const;

 private:
  Pattern(std::string_view text, std::shared_ptr<void> code)
      : text_(text), code_(std::move(code)) {}

  std::string text_;
  std::shared_ptr<void> code_;
};

}  // namespace lauka
