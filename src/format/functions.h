#pragma once

#include "core/functions.h"
#include "core/result.h"
#include "format/text.h"

#include <string_view>

namespace lauka {

/// Writes a command's functions under `key`; nothing if `table` has no metrics.
void put_functions(JsonWriter& json, std::string_view key, const FunctionTable& table);

/// Reads the table that put_functions wrote under `key`; an empty table if there is no such object.
/// The text of an error lacks its subject, which callers add.
Result<FunctionTable> read_functions(const JsonIn& object, std::string_view key);

}  // namespace lauka
