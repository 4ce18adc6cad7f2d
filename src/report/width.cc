#include "report/width.h"

#include "report/width_ranges.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace lauka::report {

namespace {

constexpr std::string_view kEllipsis = "…";

/// What starts at the front of a text: a code point, or one byte that is none.
struct Glyph {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Strict: overlong forms, surrogates and anything beyond U+10FFFF are bytes, not characters.
Glyph first_glyph(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80) return {};
    code = (code << 6U) | (byte_at(text, i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {code, bytes, true};
}

template <typename Ranges>
bool is_in(const Ranges& ranges, char32_t code) {
  const auto* after =
      std::upper_bound(std::begin(ranges), std::end(ranges), code,
                       [](char32_t c, const CodePoints& range) { return c < range.first; });
  return after != std::begin(ranges) && code <= std::prev(after)->last;
}

std::size_t cells_of(const Glyph& glyph) {
  if (!glyph.valid) return 1;
  if (is_in(kZeroWidth, glyph.code)) return 0;
  return is_in(kDoubleWidth, glyph.code) ? 2 : 1;
}

/// As much of the front of `text` as fits into `width` cells.
std::string_view front_of(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  std::size_t cells = 0;
  while (bytes < text.size()) {
    const Glyph glyph = first_glyph(text.substr(bytes));
    if (cells + cells_of(glyph) > width) break;
    cells += cells_of(glyph);
    bytes += glyph.bytes;
  }
  return text.substr(0, bytes);
}

/// As much of the end of `text` as fits into `width` cells, never beginning with a combining mark.
std::string_view back_of(std::string_view text, std::size_t width) {
  std::size_t cells = display_width(text);
  std::size_t from = 0;
  while (from < text.size()) {
    const Glyph glyph = first_glyph(text.substr(from));
    if (cells <= width && cells_of(glyph) > 0) break;
    cells -= cells_of(glyph);
    from += glyph.bytes;
  }
  return text.substr(from);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t cells = 0;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    cells += cells_of(glyph);
    text.remove_prefix(glyph.bytes);
  }
  return cells;
}

std::string cut_end(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::string result(front_of(text, width - 1));
  result += kEllipsis;
  return result;
}

std::string cut_middle(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  const std::size_t end = (width - 1) / 2;
  std::string result(front_of(text, width - 1 - end));
  result += kEllipsis;
  result += back_of(text, end);
  return result;
}

std::string one_line(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    const bool steers =
        glyph.valid && (glyph.code < 0x20 || (glyph.code >= 0x7F && glyph.code < 0xA0));
    if (!steers) {
      result += text.substr(0, glyph.bytes);
    } else if (glyph.code == '\n') {
      result += "\\n";
    } else if (glyph.code == '\t') {
      result += "\\t";
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(glyph.code));
    }
    text.remove_prefix(glyph.bytes);
  }
  return result;
}

}  // namespace lauka::report
