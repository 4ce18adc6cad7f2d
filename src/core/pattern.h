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
/// end of each line. Its memory does not grow with the text.
class Pattern {
 public:
  /// Needed: refuse an expression without a group.
  enum class Groups : unsigned char { Needed, Idle };

  /// Compiles `text`. The error is a predicate: "has no group".
  static Result<Pattern> compile(std::string_view text, Groups groups = Groups::Needed);

  const std::string& text() const { return text_; }

  /// True if the expression matches somewhere in `text`. Returns an error if matching takes too
  /// many steps or too much memory. Asks `goes_on` from time to time, and returns an error if it is
  /// false.
  Result<bool> matches(std::string_view text, const std::function<bool()>& goes_on) const;

  struct Piece {
    std::string_view text;
    std::size_t from = 0;      ///< offset where matches may begin; earlier text is only context
    std::size_t to = 0;        ///< last offset where matches may begin
    bool is_beginning = true;  ///< true if the longer text begins here, so that ^ matches here
  };

  /// Returns the first group of the last match that has the group; nullopt if missing. Returns an
  /// error if matching takes too many steps or too much memory. Asks `goes_on` from time to time,
  /// and returns an error if it is false.
  Result<std::optional<std::string>> last_group(const Piece& piece,
                                                const std::function<bool()>& goes_on) const;

 private:
  Pattern(std::string_view text, std::shared_ptr<void> code)
      : text_(text), code_(std::move(code)) {}

  std::string text_;
  std::shared_ptr<void> code_;
};

}  // namespace lauka
