#pragma once

#include "format/json.h"

#include <string>

namespace lauka::history {

/// A session's file, and what it says.
struct ReadFile {
  std::string name{};
  FileSessions sessions{};
};

/// Returns the text of `lauka-history diff`: in what `b` differs from `a`, as far as both files say
/// it, with the commands that each difference is of. Commands are compared with those of the same
/// name, or with the only one. Nothing is called a cause.
std::string diff_text(const ReadFile& a, const ReadFile& b);

}  // namespace lauka::history
