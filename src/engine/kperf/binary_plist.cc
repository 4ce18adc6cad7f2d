#include "engine/kperf/binary_plist.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

// The format: a header of 8 bytes, objects, a table of their offsets, a trailer of 32 bytes. An
// array or dictionary has the numbers of the objects in it. Source: CoreFoundation,
// CFBinaryPList.c.

namespace lauka::engine::kperf {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::uint64_t kMostValues = 1'000'000;
constexpr std::size_t kHeader = 8;
constexpr std::size_t kTrailer = 32;

Error damaged() {
  return {"is a damaged property list: it refers to what is not there", ""};
}

class Objects {
 public:
  /// Reads the trailer.
  explicit Objects(std::string_view bytes) : bytes_(bytes) {
    if (bytes.size() < kHeader + kTrailer) return;
    const std::size_t trailer = bytes.size() - kTrailer;
    offset_size_ = number(trailer + 6, 1).value_or(0);
    number_size_ = number(trailer + 7, 1).value_or(0);
    count_ = number(trailer + 8, 8).value_or(0);
    root_ = number(trailer + 16, 8).value_or(0);
    table_ = number(trailer + 24, 8).value_or(0);
  }

  std::uint64_t root() const { return root_; }

  /// Calls `visit` with the number of each object in object `index`.
  template <typename Visit>
  Result<void> for_each_in(std::uint64_t index, const Visit& visit) const {
    const auto offset = offset_of(index);
    const auto marker = offset ? number(*offset, 1) : std::nullopt;
    if (!marker) return damaged();
    const std::uint64_t kind = *marker >> 4U;
    if (kind != kArray && kind != kSet && kind != kDict) return {};
    std::size_t at = *offset + 1;
    const auto length = length_at(at, *marker & 0xfU);
    if (!length || *length > bytes_.size()) return damaged();
    for (std::uint64_t i = 0; i < *length * (kind == kDict ? 2 : 1); ++i, at += number_size_) {
      const auto inner = number(at, number_size_);
      if (!inner) return damaged();
      visit(*inner);
    }
    return {};
  }

 private:
  static constexpr std::uint64_t kInteger = 0x1;
  static constexpr std::uint64_t kArray = 0xa;
  static constexpr std::uint64_t kSet = 0xc;
  static constexpr std::uint64_t kDict = 0xd;

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

  /// Of an array or dictionary; 15: an integer follows that says it. Moves `at` behind it.
  std::optional<std::uint64_t> length_at(std::size_t& at, std::uint64_t length) const {
    if (length != 0xf) return length;
    const auto marker = number(at, 1);
    if (!marker || *marker >> 4U != kInteger || (*marker & 0xfU) > 3) return std::nullopt;
    const std::size_t size = std::size_t{1} << (*marker & 0xfU);
    const auto value = number(at + 1, size);
    at += 1 + size;
    return value;
  }

  std::string_view bytes_;
  std::uint64_t offset_size_ = 0;
  std::uint64_t number_size_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t root_ = 0;
  std::uint64_t table_ = 0;
};

}  // namespace

Result<void> check_binary_plist(std::string_view bytes) {
  const Objects objects(bytes);
  // Level by level: each object of the level, and in how many places it stands there. So an object
  // that is shared is looked at once a level, and a circle is too deep.
  std::map<std::uint64_t, std::uint64_t> level = {{objects.root(), 1}};
  std::uint64_t values = 0;
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    if (depth > kDeepest)
      return Error{fmt::format("is damaged: it nests more than {} elements", kDeepest), ""};
    std::map<std::uint64_t, std::uint64_t> next;
    for (const auto& [index, places] : level) {
      auto walked = objects.for_each_in(index, [&, times = places](std::uint64_t inner) {
        next[inner] += times;
        values += times;
      });
      if (!walked) return walked;
      if (values > kMostValues)
        return Error{fmt::format("is damaged: it has more than {} values", kMostValues), ""};
    }
    level = std::move(next);
  }
  return {};
}

}  // namespace lauka::engine::kperf
