#include "places.h"
#include "rooms/architecture.h"
#include "rooms/declarations.h"
#include "rooms/prose.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
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

std::vector<Source> sources_below(const char* folder) {
  const std::filesystem::path src = kRepository / folder;
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

std::vector<Source> sources_of_lauka() {
  return sources_below("src");
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
  for (const Source& source : sources)
    for (const std::string& violation : violations(source, rooms)) FAIL_CHECK(violation);
}

TEST_CASE("a room may include only what one of its files includes") {
  for (const std::string& entry : unused_entries(sources_of_lauka(), rooms_of_lauka()))
    FAIL_CHECK(entry);

  const auto rooms = read_rooms("core:\nos: core\nplan: core os/clock.h\nrun: plan os\n");
  CHECK(unused_entries({{"os/clock.h", "#include \"core/result.h\"\n"},
                        {"plan/plan.h", "#include \"core/text.h\"\n#include <os/clock.h>\n"},
                        {"run/steps.cc", "#include \"os/clock.h\"\n"}},
                       rooms) == std::vector<std::string>{"plan: os/clock.h", "run: plan"});
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

TEST_CASE("what a header declares is defined in the source of its name, or chosen by system") {
  const auto elsewhere = functions_defined_elsewhere(sources_of_lauka());
  CHECK(elsewhere.size() <= 80);
  CHECK_FALSE(elsewhere.empty());  // own_priority() of os/this_machine.h, for example
  for (const ElsewhereDefined& one : elsewhere) {
    CAPTURE(one.header);
    CAPTURE(one.function);
    CHECK(std::ranges::any_of(one.sources, is_chosen_by_system));
  }
}

TEST_CASE("a function that is defined elsewhere is found, and no other one is") {
  const auto found = functions_defined_elsewhere({
      {"core/text.h",
       "#define COUNT(x) \\\n  count(x);\n"
       "namespace lauka {\n"
       "struct Style { int width() const; };\n"
       "struct Style;\n"
       "using Make = int (*)(int);\n"
       "constexpr int kWidth = int(80);\n"
       "int here(int x, std::map<int, int> y = {});  // int in_a_comment();\n"
       "int here(int x);\n"
       "inline int in_header() { return other(1); }\n"
       "template <typename T>\nT in_header(const T& value);\n"
       "std::string elsewhere(std::string_view text = \"{;\");\n"
       "bool operator==(const Style& a, const Style& b);\n"
       "template <typename T>\nT in_header(const T& value) { return value; }\n"
       "}  // namespace lauka\n"},
      {"core/text.cc",
       "namespace lauka {\nnamespace {\n"
       "std::string elsewhere(std::string_view text) { return \"}\"; }\n"
       "}  // namespace\n"
       "int here(int x, std::map<int, int> y) { if (x > 0) { return x; } return 1'000; }\n"
       "int Style::width() const { return 1; }\n"
       "bool operator==(const Style& a, const Style& b) { return true; }\n"
       "}  // namespace lauka\n"},
      {"core/other.cc",
       "namespace lauka {\nstd::string elsewhere(std::string_view text) {\n  return {};\n}\n}\n"},
  });
  REQUIRE(found.size() == 2);
  CHECK(found[0].header == "core/text.h");
  CHECK(found[0].function == "here/1");
  CHECK(found[0].sources.empty());
  CHECK(found[1].function == "elsewhere/1");
  CHECK(found[1].sources == std::vector<std::string>{"core/other.cc"});
}

TEST_CASE("only what the build compiles for some systems counts as chosen by system") {
  for (const char* const path : {"os/linux_platform.cc", "os/darwin_platform.cc",
                                 "os/symbols_absent.cc", "os/posix_launcher.cc"})
    CHECK(is_chosen_by_system(path));
  for (const char* const path : {"os/files.cc", "linux_tools/files.cc", "os/on_linux_.cc"})
    CHECK_FALSE(is_chosen_by_system(path));
}

TEST_CASE("no two files of src have the same name") {
  for (const std::string& names : names_of_several_files(sources_of_lauka())) FAIL_CHECK(names);
  CHECK(names_of_several_files({{"core/text.h", ""},
                                {"core/text.cc", ""},
                                {"format/text.cc", ""},
                                {"main.cc", ""},
                                {"core/domain.cc", ""}}) ==
        std::vector<std::string>{"text: core/text, format/text"});
}

TEST_CASE("no header announces a type of a room that it may not include") {
  const auto rooms = rooms_of_lauka();
  for (const std::string& type : types_of_lower_rooms(sources_of_lauka(), rooms)) FAIL_CHECK(type);

  const auto found = [](const char* header) {
    return types_of_lower_rooms({{header, "namespace lauka {\nstruct Plan;\n}\n"},
                                 {"plan/plan.h", "struct Plan {\n  int runs = 0;\n};\n"}},
                                read_rooms("core:\nplan: core\nrun: plan/plan.h\n"));
  };
  CHECK(found("core/runs.h") == std::vector<std::string>{"core/runs.h: Plan is of plan"});
  CHECK(found("plan/rounds.h").empty());
  CHECK(found("run/runner.h").empty());
}

TEST_CASE("no decision in src searches our own prose") {
  const auto sources = sources_of_lauka();
  const auto constants = text_constants(sources);
  CHECK(constants.size() > 50);
  for (const Source& source : sources)
    for (const std::string& search : prose_searches(source, constants)) FAIL_CHECK(search);
}

TEST_CASE("a search of prose is found, and one of foreign text, of a key or a sign is not") {
  const auto constants =
      text_constants({{"core/metric.h", "constexpr std::string_view kRegionNote = \"(region)\";"}});
  const auto count = [&](const char* path, const char* code) {
    return prose_searches({path, code}, constants).size();
  };
  // As src once had them.
  CHECK(count("results/analyse.cc", R"(metric.note.find("user") != npos)") == 2);
  CHECK(count("plan/plan.cc", R"(event.meaning.find(words) != npos)") == 1);
  CHECK(count("engine/engine.cc", R"(why.what.starts_with("'instructions'"))") == 2);
  CHECK(count("session/baseline.cc", "text.starts_with(kRegionNote)") == 1);
  CHECK(count("results/analyse.cc", "text == kRegionNote") == 1);
  CHECK(count("report/table.cc", R"(word == "pass" ? "better" : "worse")") == 1);
  CHECK(count("report/lines.cc", "wall\n    .starts_with( \"no significant\")") == 1);
  CHECK(count("app/deliver.cc", R"(note == "no hardware counters here")") == 1);
  CHECK(count("app/deliver.cc", R"(std::ranges::find(notes, "no counters here"))") == 1);
  CHECK(count("app/deliver.cc", R"(line.contains("not counted"))") == 1);
  CHECK(count("plan/plan.cc", R"(error.what == fmt::format("there is no {}", name))") == 1);
  CHECK(count("os/files.cc", "error.remedy.substr(3)") == 1);
  // A sign, a name, a kernel's word, a comment, and text that is only written.
  CHECK(count("report/style.cc", R"(text.find(" (") + text.find('x'))") == 0);
  CHECK(count("app/prepare.cc", R"(option->name == "resume")") == 0);
  CHECK(count("os/sysfs.cc", R"(name.ends_with(".scale"))") == 0);
  CHECK(count("run/steps.cc", "// note.find(\"user\")") == 0);
  CHECK(count("run/steps.cc", R"(note_once("the processor was == \"throttled\""))") == 0);
}

TEST_CASE("every file includes the headers of the system's functions that it calls") {
  for (const char* const folder : {"src", "tests"})
    for (const Source& source : sources_below(folder))
      for (const std::string& call : undeclared_calls(source)) FAIL_CHECK(call);
  const auto count = [](const char* code) { return undeclared_calls({"a.cc", code}).size(); };
  CHECK(undeclared_calls({"a.cc", R"(return ::kill(1, 2);)"}) ==
        std::vector<std::string>{"a.cc: kill needs <csignal>"});
  CHECK(count(R"(#include <unistd.h>
                 ioctl(1, 2); mkfifo("", getpid());)") == 2);
  for (const char* const header : {"csignal", "signal.h"})
    CHECK(count((std::string("#include <") + header + R"(>
                 kill(1, 2);)")
                    .c_str()) == 0);
  CHECK(count(R"(skill(1); calls.kill(1); calls->kill(1);  // kill(1))") == 0);
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

TEST_CASE("each rule finds what breaks it, and nothing else") {
  struct Row {
    const char* path;
    const char* included;  ///< each on a line of its own
    std::size_t found;
  };
  for (const Row& row : std::vector<Row>{
           // Itself, the rooms of its list and the standard library.
           {"engine/perf/a.cc",
            R"("engine/perf/a.h" "core/result.h" "os/process.h" <vector> <fmt/core.h>)", 0},
           {"stats/delta.cc", R"(<cmath> "plan/plan.h")", 1},
           {"core/text.h", R"("os/clock.h")", 1},
           // Of a room whose header is listed, only that header.
           {"plan/plan.h", R"("cli/options.h")", 0},
           {"plan/plan.h", R"("cli/option_table.h")", 1},
           // By its path below src.
           {"stats/delta.cc", R"("delta.h" "../stats/delta.h")", 2},
           // Outside every room; main includes what it likes.
           {"notes/a.cc", "", 1},
           {"other.cc", "", 1},
           {"main.cc", R"("plan/plan.h" <unistd.h>)", 0},
           // System headers are for os alone.
           {"os/files.cc", "<unistd.h> <sys/wait.h> <linux/perf_event.h> <time.h>", 0},
           {"engine/perf/events.cc", "<unistd.h> <sys/wait.h> <linux/perf_event.h> <time.h>", 4},
           // A pure room reads no file, writes to no stream and starts no thread.
           {"stats/delta.cc", "<fstream> <iostream> <thread> <filesystem>", 4},
           {"engine/engine.cc", "<fstream> <iostream> <thread> <filesystem>", 0},
           {"stats/delta.cc", "<sstream> <chrono>", 0},
           // A package of one file.
           {"cli/parse.cc", "<boost/program_options.hpp> <boost/program_options/parsers.hpp>", 0},
           {"cli/help.cc", "<boost/program_options.hpp> <boost/program_options/parsers.hpp>", 2},
           {"stats/summary.cc", "<boost/accumulators/statistics.hpp>", 0},
           {"stats/summary.h", "<boost/accumulators/statistics.hpp>", 1},
           {"stats/student_t.cc", "<boost/math/distributions/students_t.hpp>", 0},
           {"core/pattern.cc", "<pcre2.h>", 0},
           {"cli/own_metrics.cc", "<pcre2.h>", 1},
           {"core/sha256.cc", "<cpuid.h> <immintrin.h>", 0},
           {"stats/summary.cc", "<cpuid.h> <immintrin.h>", 2},
           {"cli/toml_parser.h", "<toml++/toml.h>", 0},
           {"cli/suite.cc", "<toml++/toml.h>", 1},
           {"engine/kperf/kpep.cc", "<expat.h>", 0},
           {"engine/kperf/read_kpep.cc", "<expat.h>", 1},
           // No header has fmt, nor all of nlohmann's JSON.
           {"cli/help.cc", "<fmt/format.h> <nlohmann/json.hpp>", 0},
           {"cli/help.h", "<fmt/format.h> <nlohmann/json.hpp>", 2},
           {"cli/help.h", "<nlohmann/json_fwd.hpp>", 0}}) {
    CAPTURE(row.path);
    CAPTURE(row.included);
    std::string text;
    std::istringstream headers(row.included);
    for (std::string header; headers >> header;) text += "#include " + header + "\n";
    CHECK(found_in(row.path, text).size() == row.found);
  }
}

TEST_CASE("what is found is named with its reason, wherever the #include is") {
  CHECK(
      found_in("stats/delta.cc", "#ifdef NEVER\n#  include \"plan/plan.h\"\n#endif\n") ==
      std::vector<std::string>{"stats/delta.cc: <plan/plan.h> is not in src/rooms.txt for stats"});
  CHECK(found_in("notes/a.cc", "") ==
        std::vector<std::string>{"notes/a.cc: is in no room of src/rooms.txt"});
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
