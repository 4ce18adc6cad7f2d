#pragma once

#include "core/result.h"
#include "core/seals.h"
#include "session/candidate_series.h"

#include <cstddef>
#include <string>
#include <string_view>

// The file of --series: JSON lines, each with a seal. The first line has the terms. A reservation
// gives a candidate its number and level before it runs. A decision follows later, or never.

namespace lauka {

/// A series as its file has it.
struct SeriesFile {
  CandidateSeries series{};
  std::size_t bytes_of_whole_lines = 0;
  bool has_unfinished_line = false;
  Seals seals{};  ///< seals after the last whole line
};

/// Reads the file of a series; an empty text is a series without terms. Refuses a file that is not
/// a series, and a damaged line, with its number. An unfinished last line is left out. The error
/// message lacks its subject, the file: "is damaged in line 3".
Result<SeriesFile> read_series(std::string_view text);

// Each of these returns a line of the file, without its seal and its end.
std::string to_line(const SeriesTerms& terms);
std::string to_line(const SeriesReservation& reservation);
std::string to_line(const SeriesDecision& decision);

/// Returns the state of a series with terms as JSON (docs/series.schema.json). `file`: the name of
/// its file.
std::string series_state_json(const CandidateSeries& series, const std::string& file);

}  // namespace lauka
