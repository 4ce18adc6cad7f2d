#pragma once

#include "app/call.h"
#include "core/result.h"
#include "results/results.h"
#include "session/candidate_series.h"

namespace lauka {

/// With --series, reserves the candidate's number and level in the file, and sets
/// Plan::error_of_keeping. Refuses a file that is no series, is damaged, has other terms or cannot
/// be written.
Result<void> reserve_in_series(Call& call);

/// With --series, adds the decision to the file and to the report. `status_of_results`:
/// the exit status without the series. Returns the exit status, which says that lauka failed if the
/// file cannot be written.
int record_in_series(Call& call, Report& report, int status_of_results);

/// Reads the series of --series for an answer. Refuses a file without a series.
Result<CandidateSeries> read_series_of(const Call& call);

}  // namespace lauka
