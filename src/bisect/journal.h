#pragma once

#include "core/result.h"
#include "core/seals.h"
#include "os/files.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace lauka::bisect {

/// The log of a search: what an interrupted call has done, so that the next call with the same
/// command line can go on. Each entry is a line with a seal.
class Journal {
 public:
  /// Opens or creates the log `path`. `head` describes the search; earlier entries of another
  /// search, and lines after a damaged one, are dropped. Refuses a log that another lauka-bisect is
  /// writing, and a file whose first line has no seal.
  static Result<Journal> open(const std::string& path, const std::string& head);

  /// Returns the entries of earlier calls, in order.
  const std::vector<std::string>& earlier_entries() const { return earlier_entries_; }

  /// True if an earlier call has logged another search here.
  bool has_dropped_search() const { return has_dropped_search_; }

  void add(const std::string& entry) { lines_->append(seals_.seal(entry)); }

  /// Removes the file.
  void remove() { lines_->remove(); }

 private:
  explicit Journal(std::unique_ptr<os::AppendLog> lines) : lines_(std::move(lines)) {}

  std::size_t take_earlier_entries(const std::string& head);

  std::unique_ptr<os::AppendLog> lines_;
  Seals seals_{};
  std::vector<std::string> earlier_entries_{};
  bool has_dropped_search_ = false;
};

}  // namespace lauka::bisect
