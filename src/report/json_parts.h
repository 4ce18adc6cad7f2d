#pragma once

#include "results/results.h"

#include <cstddef>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

// The parts of the document of json.h. Internal to report/.

namespace lauka::report {

/// Keys stay in the order in which they are set.
using Json = nlohmann::ordered_json;

/// A sample, as a whole number where it counts something.
Json json_value(double value, Unit unit);

/// null where there is none.
Json json_number(std::optional<double> value);

/// Enters what hyperfine writes of `command` into `result`: the keys of 1.x and those of schema 2.
void add_hyperfine_result(Json& result, const Results& results, std::size_t command);

/// "metadata" of hyperfine's schema 2.
Json hyperfine_metadata(const Circumstances& circumstances);

/// What lauka knows of `command` beyond that.
Json lauka_result(const Results& results, std::size_t command);

/// What lauka knows of the session.
Json lauka_session(const Results& results);

/// The text of `json`: an object or array of plain values stands on one line, any other has a line
/// for each member. What is not UTF-8 in a name is replaced by U+FFFD.
std::string text_of(const Json& json);

}  // namespace lauka::report
