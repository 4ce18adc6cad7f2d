#include "run/output.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

using os::Kept;

AwaitedLine awaited(const std::string& text) {
  auto pattern = Pattern::compile(text, Pattern::Groups::Idle);
  REQUIRE(pattern);
  return AwaitedLine(*std::move(pattern));
}

StoredOutput stored(const std::string& text, std::size_t piece) {
  auto file = os::TextFile::make();
  REQUIRE(file);
  OutputStore store(*std::move(file));
  for (std::size_t at = 0; at < text.size(); at += piece)
    store.receive(Kept::Output, std::string_view(text).substr(at, piece));
  store.receive(Kept::Error, "no part of it");
  auto taken = store.take();
  REQUIRE(taken);
  return *std::move(taken);
}

/// Returns the first difference when the second is read in pieces; "same" if they are equal.
std::string difference(const std::string& expected, const std::string& got,
                       std::size_t piece = 1'000'000) {
  return difference(stored(expected, piece), stored(got, piece)).value_or("same");
}

}  // namespace

TEST_CASE("a line counts when its line break is there, on each stream by itself") {
  AwaitedLine line = awaited("^ready$");
  CHECK(line.receive(Kept::Output, "not ready\nrea"));
  CHECK(line.receive(Kept::Error, "dy\n"));
  CHECK(line.receive(Kept::Output, "dy"));
  CHECK_FALSE(line.receive(Kept::Output, "\nmore"));
  CHECK_FALSE(line.error());
  line.begin();
  CHECK(line.receive(Kept::Output, "ady\n"));
  CHECK_FALSE(line.receive(Kept::Error, "ready\r\n"));
}

TEST_CASE("of a very long line the first 16 KB are looked at, whatever is in it") {
  AwaitedLine line = awaited("end$");
  const std::string many(1'000'000, '\0');
  for (int i = 0; i < 20; ++i) CHECK(line.receive(Kept::Output, many));
  CHECK(line.receive(Kept::Output, "end\n"));
  CHECK_FALSE(line.receive(Kept::Output, "end\n"));
  CHECK(line.receive(Kept::Output, many + "end\n"));
  CHECK(line.output_end().size() <= 4096);
}

TEST_CASE("an expression that takes too many steps ends the run, and is reported") {
  AwaitedLine line = awaited("(a+)+$");
  CHECK_FALSE(line.receive(Kept::Output, std::string(60, 'a') + "b\n"));
  REQUIRE(line.error());
  CHECK(line.error()->what == "takes too many steps");
}

TEST_CASE("the first difference is reported with its line, in whatever pieces the output comes") {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
    CAPTURE(piece);
    CHECK(difference("a\nb\nc\n", "a\nb\nc\n", piece) == "same");
    CHECK(difference("", "", piece) == "same");
    CHECK(difference("a\nbcd\n", "a\nbxd\ny\n", piece) ==
          "line 2: expected 'bcd', got 'bxd' (6 bytes expected, 8 written)");
    CHECK(difference("a\n", "a", piece) ==
          "line 1: expected 'a\\n', got 'a' (2 bytes expected, 1 written)");
    CHECK(difference("a", "a\n", piece) ==
          "line 1: expected 'a', got 'a\\n' (1 byte expected, 2 written)");
    CHECK(difference("a\n", "", piece) ==
          "line 1: expected 'a', got the end (2 bytes expected, 0 written)");
    CHECK(difference("", "\x1b[2J\n", piece) ==
          "line 1: expected the end, got '\\x1b[2J' (0 bytes expected, 5 written)");
    CHECK(difference("a\nb\n", "a\n", piece) ==
          "line 2: expected 'b', got the end (4 bytes expected, 2 written)");
  }
}

TEST_CASE("of a long line what is around the difference is shown") {
  const std::string before(1000, 'x');
  const std::string after(1000, 'y');
  CHECK(difference(before + "1" + after, before + "2" + after, 100) ==
        "line 1: expected …'" + std::string(40, 'x') + "1" + std::string(59, 'y') + "', got …'" +
            std::string(40, 'x') + "2" + std::string(59, 'y') +
            "' (2001 bytes expected, 2001 written)");
}

TEST_CASE("beyond 64 MB outputs are compared by their hash") {
  const std::string large(std::size_t{64} << 20U, 'x');
  CHECK(difference(large + "a", large + "a") == "same");
  CHECK(difference(large + "a", large + "b") ==
        "beyond the first 64 MB (67108865 bytes expected, 67108865 written)");
  CHECK(difference(large + "a", large) ==
        "beyond the first 64 MB (67108865 bytes expected, 67108864 written)");
  CHECK(difference(large, large + "b") ==
        "beyond the first 64 MB (67108864 bytes expected, 67108865 written)");
}

TEST_CASE("a hash is of standard output alone") {
  auto text = os::TextFile::make();
  REQUIRE(text);
  OutputStore hash(*std::move(text));
  hash.receive(Kept::Output, "ab");
  hash.receive(Kept::Error, "x");
  hash.receive(Kept::Output, "c");
  const auto stored = hash.take();
  REQUIRE(stored);
  CHECK(stored->hash == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(stored->bytes == 3);
}

}  // namespace lauka
