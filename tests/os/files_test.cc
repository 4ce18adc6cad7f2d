#include "os/files.h"

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

namespace lauka::os {

TEST_CASE("a terminal that a command made non-blocking gets all of the text") {
  std::array ends = {-1, -1};
  REQUIRE(pipe(ends.data()) == 0);
  REQUIRE(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
  const int saved = dup(STDERR_FILENO);
  const std::string text(300'000, 'x');
  std::size_t received = 0;
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::vector<char> bytes(65536);
    for (ssize_t got = 0; (got = read(ends[0], bytes.data(), bytes.size())) > 0;)
      received += static_cast<std::size_t>(got);
  });
  dup2(ends[1], STDERR_FILENO);
  const auto said = write_to(StandardStream::Error, text);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[1]);
  reader.join();
  close(ends[0]);
  CHECK(said.has_value());
  CHECK(received == text.size());
}

TEST_CASE("of a device, which may have no end, a file's reader takes little") {
  constexpr std::size_t most = std::size_t{1} << 30U;
  CHECK(read_file("/dev/null", most).value().empty());
  CHECK(read_file("/dev/zero", most).error().what == "is too large to be read");
  CHECK(read_file("/etc/passwd", 1).error() == read_file("/dev/zero", most).error());
}

TEST_CASE("a file is read piece by piece, and says why its rest cannot be read") {
  const std::string whole = read_file("/etc/passwd", 1U << 20U).value();
  auto file = InputFile::open("/etc/passwd", 1U << 20U);
  REQUIRE(file);
  CHECK(file->rest().value() == whole);
  CHECK(file->next().empty());
  CHECK_FALSE(file->error().has_value());

  auto endless = InputFile::open("/dev/zero", 1U << 30U);
  REQUIRE(endless);
  std::size_t bytes = 0;
  for (std::string_view piece = endless->next(); !piece.empty(); piece = endless->next())
    bytes += piece.size();
  CHECK(bytes <= 1U << 20U);
  REQUIRE(endless->error().has_value());
  CHECK(endless->error()->what == "is too large to be read");
}

TEST_CASE("a folder and a device are no regular files") {
  CHECK(is_regular_file("/etc/passwd"));
  CHECK_FALSE(is_regular_file("/etc"));
  CHECK_FALSE(is_regular_file("/dev/null"));
  CHECK_FALSE(is_regular_file("/nowhere"));
}

}  // namespace lauka::os
