#pragma once

#include "app/call.h"
#include "run/kept_rounds.h"
#include "run/runner.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lauka {

/// The log of a suite's finished rounds, kept next to its JSON export for --resume.
class RoundLog {
 public:
  std::string file{};
  std::unique_ptr<os::AppendLog> lines{};
  std::vector<RoundKeeper> keepers{};  ///< one for each benchmark
  std::uint64_t rounds = 0;            ///< of an earlier process
};

/// With --resume, takes the seed of the log, which decides the order of the rounds.
Result<void> take_seed(Call& call);

/// Opens the log of a suite, and has `runs` take their finished rounds from it and add others.
Result<void> keep_rounds(Call& call, std::vector<BenchmarkRun>& runs);

/// Removes the log once all is exported; else it stays.
void end_log(Call& call);

}  // namespace lauka
