#include "engine/kperf/plist.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

// The format: a header of 8 bytes, objects, a table of their offsets, a trailer of 32 bytes. An
// array or dictionary has the numbers of the objects in it. Source: CoreFoundation,
// CFBinaryPList.c.

namespace lauka::engine::kperf {
namespace {

constexpr std::size_t kMostValues = 1'000'000;
constexpr std::size_t kTrailer = 32;

Error damaged() {
  return {"is a damaged property list: it refers to an object that does not exist", ""};
}

Error no_text() {
  return {"is damaged: it has a string that is not text", ""};
}

class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : bytes_(bytes) {}

  Result<PlistValue> read() {
    if (bytes_.size() < kBinaryPlist.size() + kTrailer) return damaged();
    const std::size_t trailer = bytes_.size() - kTrailer;
    offset_size_ = number(trailer + 6, 1).value_or(0);
    number_size_ = number(trailer + 7, 1).value_or(0);
    count_ = number(trailer + 8, 8).value_or(0);
    table_ = number(trailer + 24, 8).value_or(0);
    return value_of(number(trailer + 16, 8).value_or(0), 0);
  }

 private:
  enum Kind : unsigned char {
    Single = 0x0,  ///< null, false and true, by its low bits
    Integer = 0x1,
    Ascii = 0x5,
    Utf16 = 0x6,
    Array = 0xa,
    Dict = 0xd,
  };

  /// Big-endian, of 1 to 8 bytes.
  std::optional<std::uint64_t> number(std::size_t at, std::uint64_t size) const {
    if (size == 0 || size > 8 || at > bytes_.size() || size > bytes_.size() - at)
      return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8U | static_cast<unsigned char>(bytes_[at + i]);
    return value;
  }

  std::optional<std::size_t> offset_of(std::uint64_t index) const {
    if (index >= count_ || index > bytes_.size() || table_ > bytes_.size()) return std::nullopt;
    return number(table_ + index * offset_size_, offset_size_);
  }

  /// Moves `at` behind the length; 15: an integer follows that says it.
  std::optional<std::size_t> length_at(std::size_t& at, std::uint64_t length) const {
    if (length != 0xf) return length;
    const auto marker = number(at, 1);
    if (!marker || *marker >> 4U != Integer || (*marker & 0xfU) > 3) return std::nullopt;
    const std::size_t size = std::size_t{1} << (*marker & 0xfU);
    const auto value = number(at + 1, size);
    at += 1 + size;
    return value;
  }

  // at most kDeepestPlist deep
  Result<PlistValue> value_of(std::uint64_t index, std::size_t depth) {
    if (depth > kDeepestPlist) return nests_too_deep();
    if (++values_ > kMostValues)
      return Error{fmt::format("is damaged: it has more than {} values", kMostValues), ""};
    const auto offset = offset_of(index);
    const auto marker = offset ? number(*offset, 1) : std::nullopt;
    if (!marker) return damaged();
    const std::uint64_t kind = *marker >> 4U;
    const std::uint64_t low = *marker & 0xfU;
    std::size_t at = *offset + 1;
    if (kind == Single) return low == 8 || low == 9 ? PlistValue{low == 9} : PlistValue{};
    if (kind == Integer) return integer_at(at, low);
    if (kind != Ascii && kind != Utf16 && kind != Array && kind != Dict) return PlistValue{};
    const auto length = length_at(at, low);
    if (!length || *length > bytes_.size()) return damaged();
    if (kind == Ascii || kind == Utf16) return text_at(at, *length, kind == Utf16 ? 2 : 1);
    return kind == Array ? array_at(at, *length, depth) : dict_at(at, *length, depth);
  }

  /// Of 1, 2 or 4 bytes it is not negative, of 8 it has a sign, of 16 it needs none of the first 8.
  Result<PlistValue> integer_at(std::size_t at, std::uint64_t log) const {
    if (log > 4) return damaged();
    if (log == 4 && number(at, 8) != 0) return PlistValue{};
    const auto value = number(log == 4 ? at + 8 : at, log == 4 ? 8 : std::uint64_t{1} << log);
    if (!value) return damaged();
    return log == 3 && *value >> 63U != 0 ? PlistValue{} : PlistValue{*value};
  }

  /// ASCII, or UTF-16 with the higher byte first. A NUL would hide what is behind it.
  Result<PlistValue> text_at(std::size_t at, std::size_t length, std::size_t unit) const {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) {
      auto code = number(at + i * unit, unit);
      if (!code) return damaged();
      if (unit == 1 && *code > 0x7f) return no_text();
      if (*code >> 10U == 0x36) {  // the first of a pair
        const auto second = ++i < length ? number(at + i * unit, unit) : std::nullopt;
        if (!second || *second >> 10U != 0x37) return no_text();
        code = 0x10000 + ((*code & 0x3ffU) << 10U) + (*second & 0x3ffU);
      } else if (*code == 0 || *code >> 10U == 0x37) {
        return no_text();
      }
      add_utf8(*code, text);
    }
    return PlistValue{std::move(text)};
  }

  static void add_utf8(std::uint64_t code, std::string& text) {
    const auto add = [&text](std::uint64_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
      add(0xc0U | code >> 6U);
    } else {
      if (code < 0x10000) {
        add(0xe0U | code >> 12U);
      } else {
        add(0xf0U | code >> 18U);
        add(0x80U | (code >> 12U & 0x3fU));
      }
      add(0x80U | (code >> 6U & 0x3fU));
    }
    add(0x80U | (code & 0x3fU));
  }

  /// The value that the `i`-th number from `at` on stands for.
  // at most kDeepestPlist deep
  Result<PlistValue> inner(std::size_t at, std::size_t i, std::size_t depth) {
    const auto index = number(at + i * number_size_, number_size_);
    if (!index) return damaged();
    return value_of(*index, depth + 1);
  }

  // at most kDeepestPlist deep
  Result<PlistValue> array_at(std::size_t at, std::size_t length, std::size_t depth) {
    PlistArray array;
    for (std::size_t i = 0; i < length; ++i) {
      auto value = inner(at, i, depth);
      if (!value) return value;
      array.push_back(*std::move(value));
    }
    return PlistValue{std::move(array)};
  }

  /// First all keys, then all values.
  // at most kDeepestPlist deep
  Result<PlistValue> dict_at(std::size_t at, std::size_t length, std::size_t depth) {
    PlistDict dict;
    for (std::size_t i = 0; i < length; ++i) {
      auto key = inner(at, i, depth);
      if (!key) return key;
      auto value = inner(at, length + i, depth);
      if (!value) return value;
      const auto* name = key->get<std::string>();
      if (name == nullptr) return Error{"is damaged: a key in it is not text", ""};
      dict.emplace(*name, *std::move(value));
    }
    return PlistValue{std::move(dict)};
  }

  std::string_view bytes_;
  std::uint64_t offset_size_ = 0;
  std::uint64_t number_size_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t table_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

Result<PlistValue> read_binary_plist(std::string_view bytes) {
  return BinaryReader(bytes).read();
}

}  // namespace lauka::engine::kperf
