#pragma once

#include "history/record.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lauka::history {

/// Anchors that were measured side by side, so that ratios to one can be told as ratios to another.
class Chain {
 public:
  /// The ratio of an anchor to another one, as a session has measured it.
  void add(const std::string& of, const std::string& to, const LogRatio& ratio);

  /// What is to be added to a ratio to each anchor that is linked with `newest`, be it over others;
  /// errors add up as variances do. `newest` itself is not among them.
  std::map<std::string, LogRatio> to(const std::string& newest) const;

 private:
  std::map<std::pair<std::string, std::string>, std::vector<LogRatio>> links_{};  // of, to
};

}  // namespace lauka::history
