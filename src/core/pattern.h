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

/// A regular expression (PCRE2), for bytes of any kind: it does not read UTF-8, ^ and $ are ends of
/// lines. Its stack and memory do not grow with the text.
class Pattern {
 public:
  /// Needed: the expression must have a group.
  enum class Groups : unsigned char { Needed, Idle };

  /// Compiles `text`. The error is a predicate, as in numbers.h.
  static Result<Pattern> compile(std::string_view text, Groups groups = Groups::Needed);

  /// The expression as typed.
  const std::string& text() const { return text_; }

  /// True if it matches somewhere in a whole text. Fails like last_group.
  Result<bool> matches(std::string_view text, const std::function<bool()>& goes_on) const;

  /// A piece of a text.
  struct Piece {
    std::string_view text;
    std::size_t from = 0;  ///< matches begin here or later; the text before is context
    std::size_t to =
        0;  ///< end of the part in which matches begin; text after it might change a match
    bool is_beginning =
        true;  ///< true if the piece begins the whole text; else no line begins at its start
  };

  /// Returns the first group of the last match; nullopt if no match has one. An error: it takes too
  /// many steps, or `goes_on`, called from time to time, returns false.
  Result<std::optional<std::string>> last_group(const Piece& piece,
                                                const std::function<bool()>& goes_on) const;

 private:
  Pattern(std::string_view text, std::shared_ptr<void> code)
      : text_(text), code_(std::move(code)) {}

  std::string text_;
  std::shared_ptr<void> code_;  // PCRE2's
};

}  // namespace lauka
