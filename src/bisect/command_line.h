#pragma once

#include "cli/options.h"
#include "core/result.h"

#include <optional>
#include <span>
#include <string>

namespace lauka::bisect {

enum class Question : unsigned char { Help, Version };

/// The command line of lauka-bisect: lauka-bisect [options] GOOD BAD -- 'COMMAND'.
struct Request {
  std::optional<Question> question{};  ///< with a question, nothing else is set
  std::string good{};
  std::string bad{};
  std::string build{};  ///< command line for sh -c that builds a commit; empty without --build
  std::string work_folder{};  ///< empty without --work
  Options options{};          ///< options for lauka, with the only command

  /// Returns the name of the metric that is searched for.
  std::string metric() const;
};

/// Parses the words of the command line, without the program's name. Refuses options of lauka that
/// make no sense here.
Result<Request> parse(std::span<const std::string> words);

/// Returns the text of --help.
std::string help();

}  // namespace lauka::bisect
