#pragma once

#include "report/example.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lauka::report {

inline constexpr std::uint64_t kMs = 1'000'000;

/// The sampled times of work() through three callers, in ms.
struct TimesOfWork {
  std::uint64_t through_first = 0;
  std::uint64_t through_second = 0;
  std::uint64_t through_third = 0;
};

/// Six sampled runs, of which every other one takes 1 ms more in each path.
inline FunctionTable table_of_paths(const std::string& program, const TimesOfWork& times) {
  FunctionTable table;
  for (std::uint64_t round = 0; round < 6; ++round) {
    const std::uint64_t more = round % 2;
    const std::uint64_t first = kMs * (times.through_first + more);
    const std::uint64_t second = kMs * (times.through_second + more);
    const std::uint64_t third = kMs * (times.through_third + more);
    table.add_round(std::vector<std::string>{"sampled_time"},
                    std::vector<FunctionCounts>{{"main", {0}},
                                                {"first", {0}},
                                                {"second", {0}},
                                                {"third", {0}},
                                                {"work", {first + second + third}}},
                    1e9);
    table.paths.add_round(std::vector<PathCounts>{{kNoCaller, program, 0},
                                                  {0, "main", 0},
                                                  {1, "first", 0},
                                                  {2, "work", first},
                                                  {1, "second", 0},
                                                  {4, "work", second},
                                                  {1, "third", 0},
                                                  {6, "work", third}},
                          1e9);
  }
  return table;
}

inline Results results_of_tables(std::vector<FunctionTable> tables) {
  std::vector<MadeCommand> made;
  for (std::size_t c = 0; c < tables.size(); ++c) {
    double mean = 0.0;
    for (const auto& function : tables[c].functions)
      for (const RoundValues& values : function.second)
        mean += mean_of(values, tables[c].metrics[0].rounds);
    const std::size_t rounds = tables[c].metrics[0].rounds;
    made.push_back(command(c == 0 ? "./old" : "./new", rounds,
                           {row(0, summary(rounds, mean, 0.0, mean, mean))}));
    if (c > 0) made.back().result.rows[0].delta = changed(0.1, 0.2);
  }
  Results results = results_of({metric("sampled_time", Unit::Seconds)}, std::move(made));
  results.session.metrics[0].role = Role::SampledTime;
  results.session.function_tables = std::move(tables);
  results.session.confidence = 0.95;
  compare_functions(results);
  return results;
}

/// Two builds under different names. The path through first() takes 12 ms more.
inline Results grown_through_first() {
  return results_of_tables(
      {table_of_paths("old", {50, 30, 20}), table_of_paths("new", {62, 30, 20})});
}

}  // namespace lauka::report
