#pragma once

#include "core/result.h"
#include "format/json.h"
#include "format/json_text.h"
#include "format/run_lists.h"
#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>

namespace lauka {

/// Reads lauka's or hyperfine's document of a single session; a benchmark of a suite must be made
/// into such a document first. `lists`: of the file; those of the session are then empty. The error
/// message lacks its subject, the file: "has no commands".
Result<SessionFromFile> read_session_document(ParsedJson document, RunLists& lists);

std::string status_json(const std::optional<int>& status);

/// Writes the members of "lauka" in the result of `command`.
void put_lauka_result(JsonWriter& json, const Results& results, std::size_t command);

}  // namespace lauka
