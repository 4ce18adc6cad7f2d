#include "core/elf.h"

#include "places.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

namespace lauka {
namespace {

FileReader reader_of(const std::string& bytes) {
  return [&bytes](std::uint64_t from, std::span<char> into) -> std::size_t {
    if (from >= bytes.size()) return 0;
    const std::size_t count = std::min(into.size(), bytes.size() - from);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), count, into.begin());
    return count;
  };
}

std::string built_program() {
  std::ifstream file(places::kProgram, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

}  // namespace

TEST_CASE("a file that is no ELF file of this machine has no facts") {
  for (const std::string bytes : {"", "\177ELF", "#!/bin/sh\n"})
    CHECK_FALSE(read_elf(reader_of(bytes)));
  const std::string of_unknown_class = "\177ELF\3\1" + std::string(100, '\0');
  CHECK_FALSE(read_elf(reader_of(of_unknown_class)));
}

#ifdef __linux__
TEST_CASE("a program that is cut off anywhere is read without an error, as far as it goes") {
  const std::string whole = built_program();
  const auto facts = read_elf(reader_of(whole));
  REQUIRE(facts);
  CHECK(facts->text_bytes.value_or(0) > 100'000);
  REQUIRE_FALSE(facts->compilers.empty());

  for (std::size_t size :
       {64UL, 100UL, 500UL, 1000UL, 5000UL, whole.size() / 2, whole.size() - 1}) {
    CAPTURE(size);
    const auto cut = read_elf(reader_of(whole.substr(0, size)));
    REQUIRE(cut);
    CHECK((cut->build_id.empty() || cut->build_id == facts->build_id));
  }
}

TEST_CASE("a program of which every byte of a header is wrong is read without an error") {
  const std::string whole = built_program();
  constexpr std::size_t begin_of_tables = 32;
  for (std::size_t at = begin_of_tables; at < 300; ++at) {
    std::string damaged = whole.substr(0, 4096);
    damaged[at] = '\xff';
    CHECK(read_elf(reader_of(damaged)));
  }
}
#endif

}  // namespace lauka
