#pragma once

#include "core/result.h"
#include "history/record.h"
#include "history/store.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lauka::history {

/// What a history keeps of the session in `file`. The error is a predicate of it.
Result<SessionRecord> record_in(const std::string& file);

/// Of the files that were to be added.
struct Added {
  std::size_t sessions = 0;
  std::size_t there = 0;  ///< already
  std::size_t bad = 0;
};

/// Adds files a batch at a time.
class Adder {
 public:
  /// `tell_bad` is given a line about a file that is not what it should be; the others are added.
  Adder(Database& database, std::function<void(const Error&)> tell_bad)
      : store_(database), tell_bad_(std::move(tell_bad)) {}

  /// The error is a predicate of the database; what was added before it stays.
  Result<Added> add(std::span<const std::string> files);

 private:
  Result<void> take(const std::string& file, Result<SessionRecord> record);
  Result<void> flush();

  Store store_;
  std::function<void(const Error&)> tell_bad_;
  std::vector<SessionRecord> batch_{};
  std::size_t points_ = 0;  // in the batch
  std::size_t files_ = 0;
  Added added_{};
};

}  // namespace lauka::history
