#pragma once

#include "core/functions.h"
#include "core/result.h"
#include "format/text.h"

#include <string_view>

namespace lauka {

/// Writes the functions of a command, if they are known, an object on a line for each.
void put_functions(JsonWriter& json, std::string_view key, const FunctionTable& table);

/// Reads what put_functions wrote as `key` of `object`; an empty table if it is missing. The error
/// is a predicate of the file.
Result<FunctionTable> read_functions(const JsonIn& object, std::string_view key);

}  // namespace lauka
