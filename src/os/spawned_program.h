#pragma once

#include "os/process.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

// What a run is made of, and who looks at it, where lauka itself starts it. Internal to os/.

namespace lauka::os {

/// A program with its words as posix_spawn wants them.
class Program {
 public:
  Program(ProgramSpec spec, std::string path) : spec_(std::move(spec)), path_(std::move(path)) {}

  const ProgramSpec& spec() const { return spec_; }
  const char* path() const { return path_.c_str(); }
  std::vector<char*> argv() {
    std::vector<char*> words;
    for (std::string& word : spec_.words) words.push_back(word.data());
    words.push_back(nullptr);
    return words;
  }

  /// What it finds in its environment, kept in `variables`; empty: lauka's own as it is.
  /// `region`: the NAME=VALUE of one that has a region.
  std::vector<char*> environment(const std::string& value, const char* region,
                                 std::vector<std::string>& variables) const {
    std::vector<char*> all;
    if (is_own_environment(spec_)) return all;
    variables = environment_of(spec_, value);
    const std::string no_region = std::string(kRegionVariable) + "=";
    for (std::string& variable : variables) {
      if (spec_.has_region && variable == no_region) variable = region;
      all.push_back(variable.data());
    }
    all.push_back(nullptr);
    return all;
  }

 private:
  ProgramSpec spec_;
  std::string path_;
};

/// What is to be called again and again while a run goes on, and when next.
struct Due {
  std::chrono::nanoseconds at{};
  std::chrono::nanoseconds interval{};

  bool is_due(std::chrono::nanoseconds now) {
    if (now < at) return false;
    at = now + interval;
    return true;
  }
};

/// Those who look at a run while it goes on, each at its own interval.
class Polls {
 public:
  Polls(std::span<RunWatch* const> watches, std::chrono::nanoseconds began) : watches_(watches) {
    for (const RunWatch* watch : watches)
      dues_.push_back({began + watch->interval(), watch->interval()});
  }

  std::chrono::nanoseconds next() const {
    std::chrono::nanoseconds first = std::chrono::nanoseconds::max();
    for (const Due& due : dues_) first = std::min(first, due.at);
    return first;
  }

  void look(std::chrono::nanoseconds at, pid_t pid) {
    for (std::size_t i = 0; i < dues_.size(); ++i) {
      if (dues_[i].is_due(at)) watches_[i]->running(pid);
    }
  }

 private:
  std::span<RunWatch* const> watches_;
  std::vector<Due> dues_;
};

}  // namespace lauka::os
