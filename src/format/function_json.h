#pragma once

#include "core/function_table.h"
#include "core/result.h"
#include "format/json_text.h"

#include <string_view>

namespace lauka {

/// Writes `table` as an object under `key`; writes nothing if `table` has no metrics.
void put_functions(JsonWriter& json, std::string_view key, const FunctionTable& table);

/// Reads the table that put_functions wrote under `key`; empty if there is no such object. The
/// error message lacks its subject, the file: "has functions whose values cannot be read".
Result<FunctionTable> read_functions(const ParsedJson& object, std::string_view key);

}  // namespace lauka
