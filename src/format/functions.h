#pragma once

#include "core/functions.h"
#include "core/result.h"
#include "format/text.h"

#include <string_view>

namespace lauka {

/// Writes a command's functions under `key`, an object per line; nothing if they are unknown.
void put_functions(JsonWriter& json, std::string_view key, const FunctionTable& table);

/// Reads what put_functions wrote under `key` of `object`; an empty table if it is missing. The
/// error is a predicate; the caller adds the subject.
Result<FunctionTable> read_functions(const JsonIn& object, std::string_view key);

}  // namespace lauka
