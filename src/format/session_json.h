#pragma once

#include "core/machine.h"
#include "core/numbers.h"
#include "core/recording.h"
#include "format/json_text.h"
#include "format/tables.h"
#include "gate/verdict.h"
#include "results/results.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lauka {

/// Reads "2000-02-29T00:00:00Z", also with a fraction of a second, or with an offset in place of
/// the Z. Returns the start of 1970 for other text.
UtcTime parse_utc_time(const std::string& text);

/// Reads the plan of a session, or of a suite's benchmark, with its events and passes.
StoredPlan read_plan(const ParsedJson& json);

/// Reads the sessions from which a session with `commands` commands was joined. Returns an empty
/// list if these sessions do not have `commands` commands in total.
std::vector<OriginSession> read_origins(const ParsedJson& json, std::size_t commands);

/// Reads gate verdicts, intervals and precision. Needs the commands and metrics of `session`.
gate::Findings read_findings(const ParsedJson& json, const Recording& session);

/// Writes members of "lauka" that a suite has only once, such as version, session id and machine.
void put_session_members(JsonWriter& json, const Results& results, bool complete);

/// Writes members of "lauka" that each benchmark of a suite has, such as order, metrics and gates.
void put_lauka_benchmark(JsonWriter& json, const Results& results);

/// Sets `to` to an object with the fields of a machine.
void encode_machine(const Machine& machine, Json& to);

}  // namespace lauka
