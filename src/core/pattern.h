#pragma once

#include "core/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lauka {

/// A regular expression (PCRE2), for bytes of any kind: it does not read UTF-8, ^ and
/// $ are ends of lines. Neither its stack nor its memory grows with what it looks at.
class Pattern {
 public:
  /// Whether there is to be a group.
  enum class Groups : unsigned char { Needed, Idle };

  /// The error is a predicate, as in numbers.h: no expression, or one without a group.
  static Result<Pattern> compile(std::string_view text, Groups groups = Groups::Needed);

  /// Whether it matches somewhere in a whole text. An error: as of last_group.
  Result<bool> matches(std::string_view text, const std::function<bool()>& goes_on) const;

  /// A piece of a text.
  struct Piece {
    std::string_view text;
    std::size_t from = 0;  ///< matches begin here or later; what stands before is looked at only
    std::size_t to =
        0;  ///< and here at the latest; what is cut off behind might make another match
    bool is_beginning = true;  ///< of the whole text; else a line does not begin with it
  };

  /// The first group of the last match; none: no match has one. An error: it takes too many steps,
  /// or `goes_on`, asked from time to time, says that it takes too long.
  Result<std::optional<std::string>> last_group(const Piece& piece,
                                                const std::function<bool()>& goes_on) const;

 private:
  explicit Pattern(std::shared_ptr<void> code) : code_(std::move(code)) {}

  std::shared_ptr<void> code_;  // PCRE2's
};

}  // namespace lauka
