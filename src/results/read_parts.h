#pragma once

#include "core/result.h"
#include "gate/verdict.h"
#include "plan/recording.h"
#include "results/json_in.h"
#include "results/read_session.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lauka {

// Parts of lauka's JSON. What an older lauka did not write, or is not of the right type, is left at
// its default.

Machine machine_of(const JsonIn& there);

/// All but when it began, which stands elsewhere.
Circumstances circumstances_of(const JsonIn& there);

/// "2000-02-29T00:00:00Z", also with an offset or a fraction of a second; the epoch where it is no
/// such text.
TimeOfDay time_of(const std::string& text);

/// read_session, of a document that is parsed already.
Result<ReadSession> read_session_of(const JsonIn& document);

/// The setting of the session `there`.
Setting setting_of(const JsonIn& there);

/// The sessions that the session `there` of so many commands was joined of; none where it does not
/// say so of all its commands.
std::vector<Origin> origins_of(const JsonIn& there, std::size_t commands);

/// What was decided while it went on; `session` has its commands and metrics already.
gate::Findings findings_of(const JsonIn& there, const Recording& session);

/// Refuses a metric of `command` that the file has in another unit; an empty one is none.
Result<void> check_unit(const Metric& metric, const std::string& there, const std::string& command);

/// The list of wall times in either of hyperfine's shapes; none where there is none.
std::optional<JsonIn> wall_times(const JsonIn& result);

}  // namespace lauka
