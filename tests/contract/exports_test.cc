#include "contract/program.h"
#include "skip.h"

#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

// Exports whose targets or sizes make trouble.

namespace lauka::contract {
namespace {

/// lauka, started by a line of the shell that ends with "$@".
Said started_by(const std::string& line, std::vector<std::string> arguments) {
  Start start;
  start.before = {"/bin/sh", "-c", line, "sh"};
  start.arguments = std::move(arguments);
  return lauka(start);
}

}  // namespace

TEST_CASE("a file that grows too large is told, takes no other export with it, and loses nothing") {
  const Folder folder;
  std::ofstream(folder.file("runs.json")) << "last week's";
  const Said said = started_by(
      R"(ulimit -f 8; exec "$@")",
      {"-N", "-w0", "-r", "200", "--engine", "none", "--export-json", folder.file("runs.json"),
       "--export-csv", folder.file("rows.csv"), "--", fixture("tiny")});
  CHECK(said.status == 1);
  CHECK(said.err_has("cannot write '" + folder.file("runs.json") + "': File too large"));
  CHECK(said.out_has("wall_time"));
  CHECK(text_of(folder.file("runs.json")) == "last week's");
  CHECK(lines_of(text_of(folder.file("rows.csv"))).size() > 5);
}

TEST_CASE("a file that something is mounted on is written where it is, and that is told before") {
  const Folder folder;
  std::ofstream(folder.file("outside.json")) << "old";
  std::ofstream(folder.file("inside.json"));
  const std::string mount =
      "mount --bind " + folder.file("outside.json") + " " + folder.file("inside.json");
  if (started_by("unshare -m sh -c '" + mount + "' || exit 77; exec \"$@\"", {"--version"})
          .status != 0) {
    skip("nothing can be mounted here");
    return;
  }
  const Said said = started_by(
      "exec unshare -m sh -c '" + mount + R"( && exec "$@"' sh "$@")",
      {"-N", "-w0", "-r3", "--export-json", folder.file("inside.json"), "--", fixture("tiny")});
  CHECK(said.status == 0);
  CHECK(said.err_has("lauka: note: '" + folder.file("inside.json") +
                     "' cannot be replaced, as it is a mount point"));
  const auto document = nlohmann::json::parse(text_of(folder.file("outside.json")));
  CHECK(document.at("results").at(0).at("times").size() == 3);
  CHECK(text_of(folder.file("inside.json")).empty());
}

}  // namespace lauka::contract
