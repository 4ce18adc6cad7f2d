#pragma once

#include "session/recording.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lauka::fakes {

/// Returns a session of an earlier day: commands of these names, whose runs took these seconds.
inline std::shared_ptr<Recording> recorded(const std::vector<std::string>& names,
                                           const std::vector<double>& seconds) {
  class Runs final : public RunTable {
   public:
    Runs(std::size_t commands, std::vector<double> seconds) : seconds_(std::move(seconds)) {
      for (std::uint32_t i = 0; i < commands * seconds_.size(); ++i) {
        if (i % seconds_.size() == 0) of_command_.emplace_back();
        of_command_.back().push_back(i);
      }
    }
    std::size_t size() const override { return of_command_.size() * seconds_.size(); }
    std::optional<double> value(std::size_t run, std::size_t /*metric*/) const override {
      return seconds_[run % seconds_.size()];
    }
    std::span<const std::uint32_t> of_command(std::size_t command) const override {
      return of_command_[command];
    }

   private:
    std::vector<double> seconds_;
    std::vector<std::vector<std::uint32_t>> of_command_;
  };
  auto session = std::make_shared<Recording>();
  session->metrics = {make_metrics({}, MetricSelection::Default, false).front()};
  for (const std::string& name : names) session->commands.push_back({name, name, {name}});
  session->runs = std::make_shared<Runs>(names.size(), seconds);
  return session;
}

}  // namespace lauka::fakes
