#pragma once

#include "core/result.h"
#include "format/read_session.h"
#include "format/text.h"
#include "gate/verdict.h"
#include "results/results.h"
#include "session/recording.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// The sections of lauka's JSON, written and read. Parts that an older lauka did not write, or of
// the wrong type, keep their defaults. Internal to format/ and history/.

namespace lauka {

Machine machine_of(const JsonIn& there);

/// Reads all but the beginning, which is in another section.
Circumstances circumstances_of(const JsonIn& there);

/// Reads "2000-02-29T00:00:00Z", also with an offset or a fraction of a second; returns the epoch
/// for other text.
TimeOfDay time_of(const std::string& text);

/// Reads a session, or a benchmark of a suite made one, from a parsed document.
Result<ReadSession> read_session_of(const JsonIn& document);

/// The setting of the session `there`.
Setting setting_of(const JsonIn& there);

/// Returns the sessions from which `there`, a session of `commands` commands, was joined; empty if
/// a command lacks its origin.
std::vector<Origin> origins_of(const JsonIn& there, std::size_t commands);

/// Reads the findings made while it ran; `session` has its commands and metrics already.
gate::Findings findings_of(const JsonIn& there, const Recording& session);

/// Returns the list of wall times in either of hyperfine's shapes; nullopt if missing.
std::optional<JsonIn> wall_times(const JsonIn& result);

/// A delta in percent.
Json json_of(const stats::Delta& delta);

/// Writes hyperfine's part of `command`: the keys of 1.x and of schema 2.
void put_hyperfine_result(JsonWriter& json, const Results& results, std::size_t command);

/// "metadata" of hyperfine's schema 2.
Json hyperfine_metadata(const Circumstances& circumstances);

/// Writes lauka's own part of `command`.
void put_lauka_result(JsonWriter& json, const Results& results, std::size_t command);

/// Writes lauka's own part of the session: which it was, and its measurements. In a suite the first
/// is there once, the second for each benchmark.
void put_lauka_session(JsonWriter& json, const Results& results);
void put_lauka_identity(JsonWriter& json, const Results& results, bool complete);
void put_lauka_measured(JsonWriter& json, const Results& results);

/// Writes the baseline with the values that deltas were taken from, so that they can be taken
/// again.
void put_baseline(JsonWriter& json, const Results& results);

}  // namespace lauka
