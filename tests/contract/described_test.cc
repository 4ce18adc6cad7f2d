#include "contract/program.h"
#include "places.h"
#include "skip.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// --check, and descriptions of the command line outside of the program.

namespace lauka::contract {
namespace {

/// Returns a file that lauka_docs has written next to the program.
std::string written(const std::string& name) {
  return std::filesystem::path(places::kProgram).parent_path().string() + "/docs/" + name;
}

bool runs(const std::string& line) {
  return std::system(line.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe): one thread
}

bool is_there(const std::string& program) {
  if (runs("command -v " + program + " >/dev/null 2>&1")) return true;
  skip(program + " is not installed (scripts/setup --ci brings it)");
  return false;
}

/// Returns bash's completions of these words, the last one unfinished, in a folder with the folders
/// dir-a and dir-b.
std::string bash_offers(const std::string& words) {
  const Folder folder;
  std::filesystem::create_directory(folder.file("dir-a"));
  std::filesystem::create_directory(folder.file("dir-b"));
  std::ofstream(folder.file("try"))
      << "cd '" << folder.path() << "'\nPATH='"
      << std::filesystem::path(places::kProgram).parent_path().string() << "':$PATH\nsource '"
      << written("lauka.bash") << "'\nCOMP_WORDS=(" << words
      << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_lauka\n"
         "echo \"${COMPREPLY[*]}\"\n";
  REQUIRE(runs("bash " + folder.file("try") + " > " + folder.file("out")));
  return text_of(folder.file("out"));
}

}  // namespace

TEST_CASE("--check looks at the machine, runs nothing and exits with 0") {
  const Said said = completed({"--check"});
  CHECK(said.err.empty());
  for (const char* topic : {"engine cachegrind", "core kinds", "clock", "CPU governor", "turbo",
                            "SMT", "load", "power", "virtual machine", "ASLR"})
    CHECK_MESSAGE(said.out_has(std::string("\n") + topic + " "), topic);
}

TEST_CASE("--check for programs is JSON on standard output, and the text goes to standard error") {
  const Said said = completed({"--export-json", "-", "--check"});
  const auto json = nlohmann::json::parse(said.out);
  CHECK(json.at("check").at("checks").size() >= 10);
  CHECK(said.err_has("core kinds"));
  CHECK(lauka({"-q", "--check", "--export-json", "-"}).err.empty());
}

TEST_CASE("--check refuses what it would not heed, and what it cannot write") {
  CHECK(has(refusal("--check", {"true"}), "'true'"));
  CHECK(lauka({"--check", "--export-csv", "x.csv"}).status == 2);
  const Said unwritable = lauka({"--check", "--export-json", "/nonexistent/x"});
  CHECK(unwritable.status == 2);
  CHECK(unwritable.out.empty());
  const Said full = lauka({"-q", "--check", "--export-json", "/dev/full"});
  CHECK(full.status == 1);
}

TEST_CASE("mandoc and man have nothing to say against the manual page") {
  const std::string page = written("lauka.1");
  if (is_there("mandoc")) CHECK(runs("mandoc -Tlint " + page));
  if (!is_there("man")) return;
  const Folder folder;
  CHECK(runs("MANWIDTH=80 man --warnings -l " + page + " >" + folder.file("out") + " 2>" +
             folder.file("err")));
  CHECK(text_of(folder.file("err")).empty());
  CHECK(has(text_of(folder.file("out")), "--fail-if-slower"));
}

TEST_CASE("bash completes options, choices and files") {
  if (!is_there("bash")) return;
  CHECK(runs("bash -n " + written("lauka.bash")));
  CHECK(bash_offers("lauka --fail-if-s") == "--fail-if-slower\n");
  CHECK(bash_offers("lauka --color ''") == "auto always never\n");
  CHECK(bash_offers("lauka --color = n") == "never\n");
  CHECK(bash_offers("lauka --export-json " + written("lauka.b")) == written("lauka.bash") + "\n");
  CHECK(bash_offers("lauka -r ''") == "\n");
  CHECK(bash_offers("lauka -- --col") == "\n");
}

TEST_CASE("bash completes events and metrics, also in lists, and folders") {
  if (!is_there("bash")) return;
  CHECK(bash_offers("lauka --metrics peak_r") == "peak_rss\n");
  CHECK(bash_offers("lauka --metrics wall_time,peak_r") == "wall_time,peak_rss\n");
  if (lauka({"--list-events"}).out_has("page-faults")) {
    CHECK(bash_offers("lauka -e instructions,page-f") == "instructions,page-faults\n");
    CHECK(bash_offers("lauka -e +page-f") == "+page-faults\n");
  }
  CHECK(bash_offers("lauka --cwd ''") == "dir-a dir-b\n");
  CHECK(bash_offers("lauka --tune = ''") == "list compare\n");
}

TEST_CASE("zsh and fish understand their completions") {
  if (is_there("zsh")) CHECK(runs("zsh -n " + written("_lauka")));
  if (!is_there("fish")) return;
  CHECK(runs("fish -n " + written("lauka.fish")));
  const Folder folder;
  const std::string home = "HOME=" + folder.path() + " ";
  CHECK(runs(home + "fish -c 'source " + written("lauka.fish") +
             "; complete -C \"lauka --color n\"' > " + folder.file("out")));
  CHECK(text_of(folder.file("out")).starts_with("never"));
  CHECK(runs(home + "fish -c 'source " + written("lauka.fish") +
             "; complete -C \"lauka --tune=\"' > " + folder.file("out")));
  CHECK(has(text_of(folder.file("out")), "--tune=list"));
  CHECK(lines_of(text_of(folder.file("out"))).size() == 2);  // and no commands
}

}  // namespace lauka::contract
