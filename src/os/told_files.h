#pragma once

#include "core/command.h"
#include "core/result.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lauka::os {

/// Files that runs are told the names of and may append to, each its own. They are not there until
/// a run writes to them.
class ToldFiles : NonCopyable {
 public:
  /// What runs wrote to one of them.
  struct Told {
    std::size_t place = 0;  ///< of the run in its batch
    std::string text{};
    bool is_whole = true;  ///< false: it is no file, or larger than 1 MB
  };

  virtual ~ToldFiles() = default;

  /// That of the run at `place` of a batch; all are equally long, as the size of an environment
  /// shifts times.
  virtual std::string path(std::size_t place) const = 0;

  /// What the runs of the latest batch wrote; no file is there afterwards.
  virtual std::vector<Told> take() = 0;
};

/// In a folder of their own, which belongs to `user` where there is one.
Result<std::unique_ptr<ToldFiles>> open_told_files(const std::optional<User>& user);

}  // namespace lauka::os
