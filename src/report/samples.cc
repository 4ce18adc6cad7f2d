#include "report/samples.h"

namespace lauka::report {

std::vector<Sample> samples_of(const Results& results, std::size_t command, std::size_t metric) {
  std::vector<Sample> samples;
  for (std::size_t run = 0; run < results.runs.size(); ++run) {
    const RunRow& row = results.runs[run];
    if (row.command == command && row.values[metric]) samples.push_back({run, *row.values[metric]});
  }
  return samples;
}

}  // namespace lauka::report
