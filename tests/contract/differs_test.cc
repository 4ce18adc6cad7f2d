#include "contract/program.h"
#include "contract/schema.h"
#include "places.h"
#include "skip.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// What differs between two sides besides their code: libraries, flags, priority, affinity, limits
// and variables. Programs are built here, by the compiler that has built lauka.

namespace lauka::contract {
namespace {

using nlohmann::json;

const std::string kDiffersKind = "other_circumstances";

/// Builds a program or library in `folder` from one line of C++.
void build_program(const Folder& folder, const std::string& target, const std::string& code,
                   const std::string& flags) {
  const std::string source = folder.file(target + ".cc");
  std::ofstream(source) << code << "\n";
  const std::string line = std::string(places::kCompiler) + " -o " + folder.file(target) + " " +
                           source + " " + flags + " 2>" + folder.file("log");
  REQUIRE_MESSAGE(std::system(line.c_str()) == 0, text_of(folder.file("log")));  // NOLINT
}

/// Builds a library of one name in two folders, with these build-ids.
void build_libraries(const Folder& folder) {
  for (const auto& [side, build_id] :
       {std::pair("a", "0xaaaaaaaa00000001"), std::pair("b", "0xbbbbbbbb00000002")}) {
    REQUIRE(std::system(("mkdir " + folder.file(side)).c_str()) == 0);  // NOLINT
    build_program(folder, std::string(side) + "/libown.so", "extern \"C\" int own() { return 0; }",
                  std::string("-shared -fPIC -Wl,--build-id=") + build_id);
  }
}

/// The texts of the notes about what differs, as the JSON in `file` has them.
std::vector<std::string> notes_in(const std::string& file) {
  const json document = json::parse(text_of(file));
  check_schema(document);
  std::vector<std::string> texts;
  for (const json& warning : document.at("lauka").at("warnings"))
    if (warning.at("kind") == kDiffersKind) texts.push_back(warning.at("text"));
  return texts;
}

/// The settings of a command in the JSON in `file`.
json settings_in(const std::string& file, std::size_t command) {
  return json::parse(text_of(file)).at("results").at(command).at("lauka").at("settings");
}

struct Compared {
  Said said{};
  std::vector<std::string> notes{};
};

/// Compares two commands, which must succeed.
Compared compare_commands(const Folder& folder, const std::vector<std::string>& commands,
                          const std::vector<std::string>& options = {}) {
  const std::string file = folder.file("out.json");
  std::vector<std::string> arguments = {"-r3", "--export-json", file};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), commands.begin(), commands.end());
  const Said said = completed(arguments);
  return {said, notes_in(file)};
}

}  // namespace

TEST_CASE("another build of a shared library is noted by its build-id, and the same is not") {
  if (!is_linux()) return;
  const Folder folder;
  build_libraries(folder);
  const std::string code = "extern \"C\" int own(); int main() { return own(); }";
  for (const char* const side : {"a", "b"})
    build_program(folder, std::string("with_") + side, code,
                  "-L" + folder.file(side) + " -lown -Wl,-rpath," + folder.file(side));
  const std::string with_a = folder.file("with_a");

  const Compared other = compare_commands(folder, {with_a, folder.file("with_b")});
  CHECK(other.said.err_has("libraries (libown.so build bbbbbbbb instead of build aaaaaaaa)"));
  REQUIRE(other.notes.size() == 1);
  CHECK(has(other.notes.front(),
            "circumstances that may explain a delta differ from those of '" + with_a));

  const std::string libraries = settings_in(folder.file("out.json"), 1).at("libraries");
  CHECK(has(libraries, "libown.so=bbbbbbbb00000002"));
  CHECK(has(libraries, "libc"));

  CHECK(compare_commands(folder, {with_a, with_a + " again"}).notes.empty());
}

TEST_CASE("recorded flags and the size of the text section are noted with -v and in JSON") {
  if (!is_linux()) return;
  const Folder folder;
  const std::string code =
      "#include <cstdlib>\nint main(int n, char** words) { int sum = 0; for (int i = 0; i < n * 9; "
      "++i) sum += std::atoi(words[0]) / (i + 1); return sum == 1; }";
  build_program(folder, "old", code, "-O0 -frecord-gcc-switches");
  build_program(folder, "new", code, "-O3 -frecord-gcc-switches");

  const Compared plain = compare_commands(folder, {folder.file("old"), folder.file("new")});
  CHECK_FALSE(plain.said.err_has("may explain a delta"));
  REQUIRE(plain.notes.size() == 1);
  CHECK(has(plain.notes.front(), "compiler flags (without -O0, with -O3)"));
  CHECK(has(plain.notes.front(), "size of the text section '"));

  const Compared verbose =
      compare_commands(folder, {folder.file("old"), folder.file("new")}, {"-v"});
  CHECK(verbose.said.err_has("-O3"));
  CHECK(verbose.said.err_has("size of the text section"));

#ifdef __x86_64__
  build_program(folder, "newer", code, "-O3 -march=x86-64-v2 -frecord-gcc-switches");
  const Compared march = compare_commands(folder, {folder.file("new"), folder.file("newer")});
  REQUIRE(march.notes.size() == 1);
  CHECK(has(march.notes.front(), "-march"));
  CHECK(has(march.notes.front(), "x86-64-v2"));
#endif
}

TEST_CASE("a command that is itself nice has another priority") {
  if (!is_linux()) return;
  const Folder folder;
  const Compared nice = compare_commands(folder, {"true", "nice -n3 true"});
  CHECK(
      nice.said.err_has("'nice -n3 true': circumstances that may explain a delta differ from those "
                        "of 'true': nice value '"));
  REQUIRE(nice.notes.size() == 1);
  CHECK(compare_commands(folder, {"nice -n3 true", "nice -n 3 true"}).notes.empty());
}

TEST_CASE("a command under chrt or taskset has another scheduling policy or affinity") {
  if (!is_linux()) return;
  const Folder folder;
  const Compared batch = compare_commands(folder, {"true", "chrt -b 0 true"});
  CHECK(batch.said.err_has("scheduling policy 'batch' instead of 'other'"));

  const std::string allowed = settings_in(folder.file("out.json"), 0).at("affinity");
  const std::string cpu = allowed.substr(0, allowed.find_first_of(",-"));
  if (cpu == allowed) return skip("it takes two CPUs");
  const Compared bound = compare_commands(folder, {"true", "taskset -c " + cpu + " true"});
  CHECK(bound.said.err_has("CPU affinity '" + cpu + "' instead of '"));
  CHECK(bound.notes.size() == 1);
}

TEST_CASE("another limit is noted, although only the command's shell sets it") {
  if (!is_linux()) return;
  const Folder folder;
  const Compared limited =
      compare_commands(folder, {"sh -c 'exec true'", "sh -c 'ulimit -S -s 2048; exec true'"});
  CHECK(limited.said.err_has("limits (stack '2097152' instead of "));
  CHECK(limited.notes.size() == 1);
}

TEST_CASE("a changed LD_PRELOAD is noted with its value, whoever sets it") {
  if (!is_linux()) return;
  const Folder folder;
  build_libraries(folder);
  const std::string library = folder.file("a/libown.so");
  const std::string with = "with LD_PRELOAD '" + library + "'";
  const Compared by_env = compare_commands(folder, {"true", "env LD_PRELOAD=" + library + " true"});
  CHECK(by_env.said.err_has("libraries (with libown.so build aaaaaaaa), variables (" + with + ")"));
  const Compared by_option = compare_commands(
      folder, {"true", "true 2"}, {"--env", "OWN=1", "--env", "OWN=1 LD_PRELOAD=" + library});
  CHECK(by_option.said.err_has("variables (" + with + ")"));
  CHECK(by_option.notes.size() == 1);
}

TEST_CASE("of other variables only the names are compared and stored") {
  if (!is_linux()) return;
  const Folder folder;
  const Compared named =
      compare_commands(folder, {"true", "env OWN_TOKEN=hush true"}, {"-n", "a", "-n", "b"});
  CHECK_FALSE(named.said.err_has("may explain a delta"));
  REQUIRE(named.notes.size() == 1);
  CHECK(has(named.notes.front(), "names of variables (with OWN_TOKEN)"));
  const std::string settings = settings_in(folder.file("out.json"), 1).dump();
  CHECK(has(settings, "OWN_TOKEN"));
  CHECK_FALSE(has(settings, "hush"));
  CHECK(compare_commands(folder, {"env OWN_TOKEN=a true", "env OWN_TOKEN=b true"}).notes.empty());
}

TEST_CASE("a baseline and a joined session are compared in the same way") {
  if (!is_linux()) return;
  const Folder folder;
  const std::string old = folder.file("old.json");
  const std::string now = folder.file("new.json");
  completed({"-q", "-r3", "-n", "it", "--export-json", old, "--", "nice -n3 true"});
  completed({"-q", "-r3", "-n", "it", "--export-json", now, "--", "true"});
  const Said with_baseline = completed({"-r3", "-n", "it", "--baseline", old, "--", "true"});
  CHECK(with_baseline.err_has("the baseline was measured under other conditions: nice value '"));
  const Said joined = completed({"--from", old, now});
  CHECK(joined.err_has("was measured under other conditions than the reference: nice value '"));
}

TEST_CASE("sessions that were measured alike have no note about conditions") {
  if (!is_linux()) return;
  const Folder folder;
  const std::string old = folder.file("old.json");
  completed({"-q", "-r3", "-n", "it", "--export-json", old, "--", "true"});
  const Said said = completed({"-v", "-r3", "-n", "it", "--baseline", old, "--", "true"});
  CHECK(said.err_has("deltas against a baseline"));
  CHECK_FALSE(said.err_has("other conditions"));
}

TEST_CASE("the page has all that differs") {
  if (!is_linux()) return;
  const Folder folder;
  const std::string page = folder.file("page.html");
  compare_commands(folder, {"true", "env OWN_TOKEN=hush true"}, {"--export-html", page});
  CHECK(has(text_of(page), "names of variables (with OWN_TOKEN)"));
}

TEST_CASE("two equal commands have no note") {
  if (!is_linux()) return;
  const Folder folder;
  const Compared equal = compare_commands(folder, {"true", "true 2"}, {"-v"});
  CHECK(equal.notes.empty());
  CHECK_FALSE(equal.said.err_has("may explain a delta"));
}

}  // namespace lauka::contract
