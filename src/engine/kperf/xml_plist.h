#pragma once

#include "core/result.h"

#include <string_view>

namespace lauka::engine::kperf {

/// Whether it is the XML form of a property list rather than the binary one.
bool is_xml_plist(std::string_view bytes);

/// Refuses what libplist would crash on (elements nested thousands deep) or read without a word
/// though it is damaged: numbers that are none, an end that is missing, text after it. What it lets
/// pass libplist still has to read. The error is a predicate of the file.
Result<void> check_xml_plist(std::string_view text);

}  // namespace lauka::engine::kperf
