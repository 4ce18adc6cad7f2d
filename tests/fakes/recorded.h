#pragma once

#include "core/recording.h"
#include "plan/rows.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace lauka::fakes {

/// Returns a session of an earlier day: commands of these names, whose runs took these seconds.
inline std::shared_ptr<Recording> recorded(const std::vector<std::string>& names,
                                           const std::vector<double>& seconds) {
  auto session = std::make_shared<Recording>();
  session->metrics = {make_metrics({}, MetricSelection::Default, false).front()};
  for (std::size_t c = 0; c < names.size(); ++c) {
    session->commands.push_back({names[c], names[c], {names[c]}});
    for (const double value : seconds)
      session->runs.set_value(session->runs.add({.command = c}), 0, value);
  }
  return session;
}

}  // namespace lauka::fakes
