#pragma once

#include "cli/option_table.h"

#include <string>

// What options do that is more than to keep one value.

namespace lauka::cli {

Result<void> add_events(Draft& draft, const Given& given);
Result<void> set_ignore_failure(Draft& draft, const Given& given);
Result<void> set_fail_if_slower(Draft& draft, const Given& given);
Result<void> set_fail_if_inconclusive(Draft& draft, const Given& given);
Result<void> add_fail_if(Draft& draft, const Given& given);
Result<void> set_percentiles(Draft& draft, const Given& given);
Result<void> set_precision(Draft& draft, const Given& given);
Result<void> set_engine(Draft& draft, const Given& given);
Result<void> set_metrics(Draft& draft, const Given& given);
Result<void> add_parameter_list(Draft& draft, const Given& given);
Result<void> add_label(Draft& draft, const Given& given);
Result<void> set_interval(Draft& draft, const Given& given);
Result<void> set_threads(Draft& draft, const Given& given);

/// What the row of --engine takes from the table of engines.
struct EngineWords {
  std::string names;
  std::string help = "what counts events";
};

EngineWords engine_words();

}  // namespace lauka::cli
