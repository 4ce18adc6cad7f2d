#include "contract/program.h"
#include "contract/schema.h"

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// --keep-if and --keep-if-faster, and exit status 5. What is decided is what commands print.

namespace lauka::contract {
namespace {

/// Checks the exit status, and the line of the condition.
void check_keep(const std::vector<std::string>& options, int of_new, int status,
                const std::string& line) {
  const Said said = lauka(with_echoes(options, 50, of_new));
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == status);
  CHECK(said.out_has("\n" + line));
}

}  // namespace

TEST_CASE("--keep-if keeps a command that is better by more than the limit, with status 0") {
  check_keep({"-r20", "--keep-if", "v < -5"}, 45, 0, "keep if v < -5%: kept: ");
  check_keep({"-r20", "--keep-if", "v > 5"}, 60, 0, "keep if v > 5%: kept: ");
  check_keep({"-r20", "--keep-if", "value(v) < 48"}, 45, 0, "keep if v < 48: kept: ");
}

TEST_CASE("--keep-if keeps nothing else, with status 5, and says why") {
  check_keep({"-r20", "--keep-if", "v < -5"}, 49, 5, "keep if v < -5%: not kept, gain too small: ");
  check_keep({"-r20", "--keep-if", "v < -5"}, 60, 5, "keep if v < -5%: not kept, worse: ");
  check_keep({"-r20", "--keep-if", "v < 0"}, 50, 5, "keep if v < 0%: not kept, gain too small: ");
  check_keep({"-r1", "--keep-if", "v < -5"}, 40, 5, "keep if v < -5%: not kept, undecided: ");
}

TEST_CASE("a candidate that fails more often than the reference is not kept") {
  const Folder folder;
  const std::string fails_twice = "sh -c 'echo 40; echo x >>" + folder.file("n") + "; [ $(wc -l <" +
                                  folder.file("n") + ") -gt 2 ]'";
  for (const char* condition : {"v < -5", "value(v) < 48"}) {
    CAPTURE(condition);
    const Said said = lauka(
        {"-i", "-N", "-w0", "-r20", "--keep-if", condition, kScrape, "--", "echo 50", fails_twice});
    CAPTURE(said.out);
    CHECK(said.status == 5);
    CHECK(said.out_has("not kept, undecided: the commands failed at different rates"));
    std::filesystem::remove(folder.file("n"));
  }
}

TEST_CASE("without -r, the runs end as soon as it is decided") {
  check_keep({"-d", "1h", "--keep-if", "v < -5"}, 40, 0, "keep if v < -5%: kept: ");
  check_keep({"-d", "1h", "--keep-if", "v < -5"}, 60, 5, "keep if v < -5%: not kept, worse: ");
}

TEST_CASE("all conditions must hold, and a gate that fails comes first") {
  check_keep({"-r20", "--keep-if", "v < -5", "--keep-if", "v < -15"}, 45, 5,
             "keep if v < -15%: not kept, gain too small: ");
  check_keep({"-r20", "--keep-if", "v < -5", "--fail-if", "v > 10"}, 45, 0, "v > 10%: pass: ");
  check_keep({"-r20", "--keep-if", "v < -5", "--fail-if", "v > 10"}, 60, 3, "v > 10%: fail: ");
  check_keep({"-r1", "--keep-if", "v < -5", "--fail-if", "v > 10", "--fail-if-inconclusive"}, 45, 4,
             "v > 10%: inconclusive: ");
}

TEST_CASE("a command that fails is not kept: status 1") {
  CHECK(lauka({"-r3", "--keep-if-faster", "--", "true", "false"}).status == 1);
}

TEST_CASE("exactly two commands are decided about") {
  for (const std::vector<std::string>& commands :
       {std::vector<std::string>{"true"}, std::vector<std::string>{"true", "true", "true"}}) {
    std::vector<std::string> words{"--keep-if-faster=1", "--"};
    words.insert(words.end(), commands.begin(), commands.end());
    const Said said = lauka(words);
    CHECK(said.status == 2);
    CHECK(said.err_has("give exactly two commands, the reference first"));
  }
}

TEST_CASE("JSON has the decision, and --from repeats it with its status") {
  const Folder folder;
  const std::string file = folder.file("session.json");
  const Said said =
      lauka(with_echoes({"-r20", "--export-json", file, "--keep-if", "v < -5"}, 50, 60));
  CHECK(said.status == 5);

  const auto document = nlohmann::json::parse(text_of(file));
  check_schema(document);
  const auto& gate = document.at("lauka").at("gates").at(0);
  CHECK(gate.at("verdict") == "worse");
  CHECK(gate.at("keeps") == true);
  CHECK(gate.at("condition") == "keep if v < -5%");

  const Said again = lauka({"--from", file});
  CHECK(again.status == 5);
  CHECK(again.out_has("\nkeep if v < -5%: not kept, worse: "));
}

TEST_CASE("Markdown has a line for the condition, with its decision") {
  const Said markdown =
      lauka(with_echoes({"-q", "-r20", "--export-markdown", "-", "--keep-if", "v < -5"}, 50, 45));
  CHECK(markdown.status == 0);
  CHECK(markdown.out_has("\n- keep if v \\< -5%: kept: "));
}

}  // namespace lauka::contract
