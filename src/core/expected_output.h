#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace lauka {

/// What the output of a command is to be.
struct ExpectedOutput {
  enum class Kind : unsigned char {
    Same,  ///< as the reference's
    File,
    Hash,
  };
  Kind kind = Kind::Same;
  std::string text{};  ///< the file's path, or SHA-256 in 64 small hexadecimal digits
};

/// As it is typed.
inline std::string text_of(const ExpectedOutput& expected) {
  if (expected.kind == ExpectedOutput::Kind::Same) return "same";
  return (expected.kind == ExpectedOutput::Kind::Hash ? "sha256:" : "") + expected.text;
}

/// What was typed as `text`; none where that is empty.
inline std::optional<ExpectedOutput> expected_output_of(const std::string& text) {
  constexpr std::size_t prefix = 7;  // "sha256:"
  if (text.empty()) return std::nullopt;
  if (text == "same") return ExpectedOutput{};
  if (text.starts_with("sha256:"))
    return ExpectedOutput{ExpectedOutput::Kind::Hash, text.substr(prefix)};
  return ExpectedOutput{ExpectedOutput::Kind::File, text};
}

}  // namespace lauka
