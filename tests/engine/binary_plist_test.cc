#include "engine/kperf/binary_plist.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine::kperf {
namespace {

std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i)
    text += static_cast<char>(value >> (8U * static_cast<unsigned>(i)) & 0xffU);
  return text;
}

/// An array of the objects with these numbers, fewer than 15.
std::string array_of(const std::vector<std::uint64_t>& objects) {
  std::string text(1, static_cast<char>(0xa0U | objects.size()));
  for (const std::uint64_t object : objects) text += big_endian(object, 4);
  return text;
}

const std::string kFalse = "\x08";

/// A property list of these objects, the first of which is its root.
std::string list_of(const std::vector<std::string>& objects) {
  std::string text = "bplist00";
  std::string table;
  for (const std::string& object : objects) {
    table += big_endian(text.size(), 4);
    text += object;
  }
  const std::size_t at = text.size();
  return text + table + std::string(6, '\0') + "\x04\x04" + big_endian(objects.size(), 8) +
         big_endian(0, 8) + big_endian(at, 8);
}

/// Arrays in one another, `times` over.
std::string nested(std::uint64_t times, std::size_t each = 1) {
  std::vector<std::string> objects;
  for (std::uint64_t i = 1; i <= times; ++i)
    objects.push_back(array_of(std::vector<std::uint64_t>(each, i)));
  objects.push_back(kFalse);
  return list_of(objects);
}

std::string fault_of(const std::string& bytes) {
  const auto sound = check_binary_plist(bytes);
  return sound ? "" : sound.error().line();
}

}  // namespace

TEST_CASE("a binary property list nests 64 elements and no more, and not in a circle") {
  CHECK(fault_of(nested(64)).empty());
  CHECK(fault_of(nested(65)) == "is damaged: it nests more than 64 elements");
  CHECK(fault_of(nested(200'000)) == "is damaged: it nests more than 64 elements");
  CHECK(fault_of(list_of({array_of({0})})) == "is damaged: it nests more than 64 elements");
}

TEST_CASE("a binary property list whose few objects stand for countless values is refused") {
  CHECK(fault_of(nested(10, 2)).empty());
  CHECK(fault_of(nested(60, 2)) == "is damaged: it has more than 1000000 values");
  CHECK(fault_of(nested(60, 14)) == "is damaged: it has more than 1000000 values");
}

TEST_CASE("a binary property list that refers to what it has not is refused") {
  const std::string missing = "is a damaged property list: it refers to what is not there";
  CHECK(fault_of(list_of({array_of({1})})) == missing);
  CHECK(fault_of("bplist00") == missing);
  CHECK(fault_of("bplist00" + std::string(32, '\xff')) == missing);
  CHECK(fault_of(list_of({"\xaf\x13" + big_endian(1U << 30U, 8)})) == missing);
  CHECK(fault_of(list_of({"\xa3"})) != "");
}

TEST_CASE("an array that says its length apart is walked through") {
  CHECK(fault_of(list_of({"\xaf\x10\x02" + big_endian(1, 4) + big_endian(1, 4), kFalse})).empty());
  CHECK(fault_of(list_of({"\xaf\x10\x02" + big_endian(1, 4) + big_endian(0, 4), kFalse})) ==
        "is damaged: it nests more than 64 elements");
  CHECK(fault_of(list_of({"\xd1" + big_endian(1, 4) + big_endian(0, 4), kFalse})) ==
        "is damaged: it nests more than 64 elements");
}

}  // namespace lauka::engine::kperf
