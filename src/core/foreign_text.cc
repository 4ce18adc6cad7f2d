#include "core/foreign_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace lauka {

namespace {

constexpr std::size_t kMostCited = 400;      // bytes: a name in a message
constexpr std::size_t kMostOfLine = 16'384;  // bytes: a message of many names

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Code points from `first` to `last`, both included.
struct Range {
  char32_t first;
  char32_t last;
};

/// Invisible characters that end a line, turn the direction of the text or hide in it.
constexpr auto kSteering = std::to_array<Range>({
    {0x00, 0x1F},        // C0
    {0x7F, 0x9F},        // DEL, C1
    {0x61C, 0x61C},      // Arabic letter mark
    {0x200E, 0x200F},    // left-to-right and right-to-left mark
    {0x2028, 0x202E},    // line and paragraph separator, embeddings and overrides
    {0x2066, 0x206F},    // isolates, and what is deprecated
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFF9, 0xFFFB},    // interlinear annotations
    {0xE0000, 0xE007F},  // tags
});

bool steers(char32_t code) {
  return std::ranges::any_of(
      kSteering, [code](const Range& range) { return code >= range.first && code <= range.last; });
}

std::string escaped(char32_t code) {
  const auto number = static_cast<unsigned>(code);
  if (code == U'\n') return "\\n";
  if (code == U'\t') return "\\t";
  if (number < 0x100) return fmt::format("\\x{:02x}", number);
  return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (byte_at(text, at) & 0xC0U) == 0x80;
}

}  // namespace

Character first_character(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {lead, 1, false};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text, i)) return {lead, 1, false};
    code = (code << 6U) | (byte_at(text, i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {lead, 1, false};
  return {code, bytes, true};
}

std::string one_line(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.valid && !steers(character.code))
      result += text.substr(0, character.bytes);
    else
      result += escaped(character.code);
    text.remove_prefix(character.bytes);
  }
  return result;
}

std::string without_middle(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t front = most / 2;
  std::size_t back = text.size() - most / 2;
  while (front > 0 && continues(text, front)) --front;
  while (continues(text, back)) ++back;
  return std::string(text.substr(0, front)) + "…" + std::string(text.substr(back));
}

std::string cited(std::string_view text) {
  return "'" + one_line(without_middle(text, kMostCited)) + "'";
}

std::string message_line(std::string_view text) {
  return "lauka: " + one_line(without_middle(text, kMostOfLine)) + "\n";
}

}  // namespace lauka
