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
  const auto said = say(Stream::Error, text);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[1]);
  reader.join();
  close(ends[0]);
  CHECK(said.has_value());
  CHECK(received == text.size());
}

}  // namespace lauka::os
