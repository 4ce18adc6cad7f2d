#pragma once

#include "core/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// Members of JSON from anywhere: each is asked for whether it is there, and of the right type.

namespace lauka {

using JsonIn = nlohmann::json;

/// Whether a value is to be kept: by the key of the document that it is in, how deep it stands (1:
/// the document's own keys; arrays count as objects do), and its own key.
using WantedKey = std::function<bool(std::string_view top, int depth, std::string_view key)>;

/// The document that `text` is; what is too deep or too much in it is refused, and not kept while
/// it is read, nor is what is not wanted.
Result<JsonIn> parsed(std::string_view text, const WantedKey& wanted = {});

/// null where it is missing, or is null.
const JsonIn* member(const JsonIn& object, std::string_view key);
const JsonIn* list_in(const JsonIn& object, std::string_view key);
const JsonIn* object_in(const JsonIn& object, std::string_view key);

/// Empty where there is none.
std::string text_in(const JsonIn& object, std::string_view key);
std::vector<std::string> texts_in(const JsonIn& object, std::string_view key);

bool flag_in(const JsonIn& object, std::string_view key, bool otherwise = false);
std::optional<double> number_in(const JsonIn& object, std::string_view key);
std::optional<std::uint64_t> count_in(const JsonIn& object, std::string_view key);

/// The fraction that is written as a percentage: 100 times it is that again.
std::optional<double> fraction_in(const JsonIn& object, std::string_view key);

}  // namespace lauka
