#pragma once

#include "bisect/git.h"
#include "cli/options.h"
#include "core/result.h"

#include <optional>
#include <span>
#include <string>

namespace lauka::bisect {

/// The command line of lauka-bisect: lauka-bisect [options] GOOD BAD -- 'COMMAND'.
struct Request {
  /// The answer to a question such as --help, with which nothing else is set.
  std::optional<std::string> answer{};
  std::string good{};
  std::string bad{};
  std::string build{};  ///< command line for sh -c that builds a commit; empty without --build
  std::string work_folder{};  ///< empty without --work
  Parents parents = Parents::First;
  bool finds_all = false;  ///< true: also searches for the rest of a change (--all)
  Options options{};       ///< options for lauka, with the only command

  /// Returns the name of the metric that is searched for.
  std::string metric() const;
};

/// Parses the words of the command line, without the program's name. Refuses options of lauka that
/// make no sense here.
Result<Request> parse(std::span<const std::string> words);

}  // namespace lauka::bisect
