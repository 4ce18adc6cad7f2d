#include "places.h"
#include "rooms/architecture.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::rooms {
namespace {

const std::filesystem::path kRepository = places::kRepository;

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE(in.is_open());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Room> rooms_of_lauka() {
  return read_rooms(contents_of(kRepository / "src/rooms.txt"));
}

std::vector<Source> sources_of_lauka() {
  const std::filesystem::path src = kRepository / "src";
  std::vector<Source> sources;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    const auto extension = entry.path().extension();
    if (entry.is_regular_file() && (extension == ".cc" || extension == ".h")) {
      sources.push_back(
          {entry.path().lexically_relative(src).generic_string(), contents_of(entry.path())});
    }
  }
  return sources;
}

/// Returns the faults of one file of a made-up program.
std::vector<std::string> found_in(const std::string& path, const std::string& text) {
  const auto rooms = read_rooms(
      "# a comment: not a room\n"
      "core:\n"
      "stats: core\n"
      "cli: core\n"
      "plan: core cli/options.h\n"
      "os: core\n"
      "engine: core os\n");
  return violations({path, text}, rooms);
}

}  // namespace

TEST_CASE("every file of src includes only what its room may include") {
  const auto rooms = rooms_of_lauka();
  const auto sources = sources_of_lauka();
  CHECK(sources.size() > rooms.size());
  for (const Source& source : sources) {
    for (const std::string& violation : violations(source, rooms)) {
      FAIL_CHECK(violation);
    }
  }
}

TEST_CASE("docs/architecture.md has each room, and what it may include as src/rooms.txt has it") {
  const auto rooms = rooms_of_lauka();
  const auto document = rooms_of_document(contents_of(kRepository / "docs/architecture.md"));
  CHECK(document.size() == rooms.size());
  for (const Room& room : rooms) {
    CAPTURE(room.name);
    const auto row = document.find(room.name);
    REQUIRE(row != document.end());
    REQUIRE(row->second.size() == 4);
    CHECK(row->second[1] == as_in_document(room));
    CHECK_FALSE(row->second[2].empty());
    CHECK_FALSE(row->second[3].empty());
  }
}

TEST_CASE("a list of rooms is read as it is written") {
  const auto rooms = read_rooms("# first\ncore:\n\nplan: core cli/options.h\n");
  REQUIRE(rooms.size() == 2);
  CHECK(rooms[0].name == "core");
  CHECK(rooms[0].may_include.empty());
  CHECK(rooms[1].name == "plan");
  CHECK(rooms[1].may_include == std::vector<std::string>{"core", "cli/options.h"});
  CHECK(as_in_document(rooms[0]) == "nothing");
  CHECK(as_in_document(rooms[1]) == "`core`, `cli/options.h`");
}

TEST_CASE("a room may include itself, the rooms of its list and the standard library") {
  CHECK(found_in("engine/perf/a.cc",
                 "#include \"engine/perf/a.h\"\n#include \"core/result.h\"\n"
                 "#include \"os/process.h\"\n\n#include <vector>\n\n#include <fmt/core.h>\n")
            .empty());
}

TEST_CASE("a room that is not in the list is found") {
  CHECK(
      found_in("stats/delta.cc", "#include <cmath>\n#include \"plan/plan.h\"\n") ==
      std::vector<std::string>{"stats/delta.cc: <plan/plan.h> is not in src/rooms.txt for stats"});
  CHECK(found_in("core/text.h", "#  include \"os/clock.h\"\n").size() == 1);
  CHECK(found_in("os/a.cc", "#ifdef NEVER\n#include \"engine/engine.h\"\n#endif\n").size() == 1);
}

TEST_CASE("of a room whose header is listed, only that header may be included") {
  CHECK(found_in("plan/plan.h", "#include \"cli/options.h\"\n").empty());
  CHECK(found_in("plan/plan.h", "#include \"cli/option_table.h\"\n").size() == 1);
}

TEST_CASE("a header is named by its path below src") {
  CHECK(found_in("stats/delta.cc", "#include \"delta.h\"\n").size() == 1);
  CHECK(found_in("stats/delta.cc", "#include \"../stats/delta.h\"\n").size() == 1);
}

TEST_CASE("a file outside every room is found, and main includes what it likes") {
  CHECK(found_in("notes/a.cc", "") ==
        std::vector<std::string>{"notes/a.cc: is in no room of src/rooms.txt"});
  CHECK(found_in("other.cc", "").size() == 1);
  CHECK(found_in("main.cc", "#include \"plan/plan.h\"\n#include <unistd.h>\n").empty());
}

TEST_CASE("a system header is for os alone") {
  for (const char* const header : {"unistd.h", "sys/wait.h", "linux/perf_event.h", "time.h"}) {
    const std::string text = std::string("#include <") + header + ">\n";
    CHECK(found_in("os/posix_files.cc", text).empty());
    CHECK(found_in("engine/perf/events.cc", text).size() == 1);
    CHECK(found_in("stats/delta.cc", text).size() == 1);
  }
}

TEST_CASE("a pure room reads no file, writes to no stream and starts no thread") {
  for (const char* const header : {"fstream", "iostream", "thread", "filesystem"}) {
    const std::string text = std::string("#include <") + header + ">\n";
    CHECK(found_in("stats/delta.cc", text).size() == 1);
    CHECK(found_in("engine/engine.cc", text).empty());
  }
  CHECK(found_in("stats/delta.cc", "#include <sstream>\n#include <chrono>\n").empty());
}

TEST_CASE("Program_options and Accumulators each stay in one file") {
  const std::string options = "#include <boost/program_options.hpp>\n";
  const std::string parser = "#include <boost/program_options/parsers.hpp>\n";
  const std::string accumulators = "#include <boost/accumulators/statistics.hpp>\n";
  CHECK(found_in("cli/parse.cc", options + parser).empty());
  CHECK(found_in("cli/help.cc", options + parser).size() == 2);
  CHECK(found_in("stats/summary.cc", accumulators).empty());
  CHECK(found_in("stats/summary.h", accumulators).size() == 1);
  CHECK(found_in("stats/student_t.cc", "#include <boost/math/distributions/students_t.hpp>\n")
            .empty());
}

TEST_CASE("PCRE2 stays in one file") {
  CHECK(found_in("core/pattern.cc", "#include <pcre2.h>\n").empty());
  CHECK(found_in("cli/own_metrics.cc", "#include <pcre2.h>\n").size() == 1);
}

TEST_CASE("toml++ stays in one file") {
  CHECK(found_in("cli/suite.cc", "#include <toml++/toml.h>\n").empty());
  CHECK(found_in("cli/parse.cc", "#include <toml++/toml.h>\n").size() == 1);
}

TEST_CASE("expat stays in one file") {
  CHECK(found_in("engine/kperf/kpep.cc", "#include <expat.h>\n").empty());
  CHECK(found_in("engine/kperf/read_kpep.cc", "#include <expat.h>\n").size() == 1);
}

TEST_CASE("no header includes fmt, nor all of nlohmann's JSON") {
  for (const char* const header : {"fmt/format.h", "nlohmann/json.hpp"}) {
    const std::string text = std::string("#include <") + header + ">\n";
    CHECK(found_in("cli/help.cc", text).empty());
    CHECK(found_in("cli/help.h", text).size() == 1);
  }
  CHECK(found_in("cli/help.h", "#include <nlohmann/json_fwd.hpp>\n").empty());
}

TEST_CASE("the rows of the document's table are found by their room") {
  const auto rows = rooms_of_document(
      "text\n"
      "| room | may include | holds | why |\n"
      "|---|---|---|---|\n"
      "| `src/core/` | nothing | types | they are all |\n"
      "| `src/main.cc` | everything | wiring | it wires |\n");
  REQUIRE(rows.size() == 1);
  CHECK(rows.at("core") ==
        std::vector<std::string>{"`src/core/`", "nothing", "types", "they are all"});
}

}  // namespace lauka::rooms
