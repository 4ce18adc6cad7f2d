#include "places.h"

#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

namespace {

std::string bytes_of(const char* path) {
  std::stringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

}  // namespace

TEST_CASE("nothing of the model of macOS is in the program that is shipped") {
  const std::string shipped = bytes_of(lauka::places::kProgram);
  const std::string on_model = bytes_of(lauka::places::kProgramOnModel);
  REQUIRE(!shipped.empty());
  // The way to the model, a text of it, its namespace in symbols' names.
  for (const char* mark : {"LAUKA_MODEL", "the model's scenario", "5lauka6darwin"}) {
    CAPTURE(mark);
    CHECK(on_model.find(mark) != std::string::npos);
    CHECK(shipped.find(mark) == std::string::npos);
  }
}
