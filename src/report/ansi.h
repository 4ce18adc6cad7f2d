#pragma once

#include <string>
#include <string_view>

namespace lauka::report {

/// All the looks a text can have.
enum class Ink : unsigned char { Plain, Bold, Dim, Green, Red };

/// `text` in `ink`; as it is where `color` is false, where it is empty, and in Ink::Plain.
std::string inked(std::string_view text, Ink ink, bool color);

/// Goes to the start of the line and clears it.
inline constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace lauka::report
