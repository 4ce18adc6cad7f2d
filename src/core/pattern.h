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

/// A regular expression (PCRE2) that is matched against bytes (not UTF-8 characters); ^ and $ match
/// at ends of lines. Its stack and memory use do not grow with the text.
class Pattern {
 public:
  /// Needed: refuse an expression without a group.
  enum class Groups : unsigned char { Needed, Idle };

  /// Compiles `text`. The error is a predicate; the caller adds the subject.
  static Result<Pattern> compile(std::string_view text, Groups groups = Groups::Needed);

  /// Returns the expression as typed.
  const std::string& text() const { return text_; }

  /// True if the expression matches somewhere in `text`. Returns an error if matching takes too
  /// many steps or too much memory, or if `goes_on`, which is called from time to time, returns
  /// false.
  Result<bool> matches(std::string_view text, const std::function<bool()>& goes_on) const;

  /// A piece of a longer text.
  struct Piece {
    std::string_view text;
    std::size_t from = 0;  ///< offset where matches may begin; the text before it is context only
    std::size_t to =
        0;  ///< last offset where matches may begin; the text after it may only extend a match
    bool is_beginning =
        true;  ///< true if the longer text begins here, so that ^ matches at the start of the piece
  };

  /// Returns the first group of the last match that has it; nullopt if missing. Returns an
  /// error if matching takes too many steps or too much memory, or if `goes_on`, which is called
  /// from time to time, returns false.
  Result<std::optional<std::string>> last_group(const Piece& piece,
                                                const std::function<bool()>& goes_on) const;

 private:
  Pattern(std::string_view text, std::shared_ptr<void> code)
      : text_(text), code_(std::move(code)) {}

  std::string text_;
  std::shared_ptr<void> code_;  // compiled by PCRE2
};

}  // namespace lauka
