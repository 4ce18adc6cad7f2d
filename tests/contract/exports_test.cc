#include "contract/program.h"
#include "skip.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

// Exports with difficult targets or sizes, and those for other tools.

namespace lauka::contract {
namespace {

/// lauka, started by a line of the shell that ends with "$@".
Said started_by(const std::string& line, std::vector<std::string> arguments) {
  return lauka({.before = {"/bin/sh", "-c", line, "sh"}, .arguments = std::move(arguments)});
}

}  // namespace

TEST_CASE("a file that grows too large is reported, loses nothing, and takes no other with it") {
  const Folder folder;
  std::ofstream(folder.file("runs.json")) << "last week's";
  const Said said = started_by(
      R"(ulimit -f 8; exec "$@")",
      {"-N", "-w0", "-r", "200", "--engine", "none", "--export-json", folder.file("runs.json"),
       "--export-csv", folder.file("rows.csv"), "--", fixture("tiny")});
  CHECK(said.status == 1);
  CHECK(said.err_has("'" + folder.file("runs.json") + "': File too large"));
  CHECK(said.out_has("wall_time"));
  CHECK(text_of(folder.file("runs.json")) == "last week's");
  CHECK(lines_of(text_of(folder.file("rows.csv"))).size() > 5);
}

TEST_CASE("a file that something is mounted on is written in place, as is reported before") {
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
  CHECK(said.err_has("lauka: note: '" + folder.file("inside.json") + "'"));
  const auto document = nlohmann::json::parse(text_of(folder.file("outside.json")));
  CHECK(document.at("results").at(0).at("times").size() == 3);
  CHECK(text_of(folder.file("inside.json")).empty());
}

TEST_CASE("one call writes what AsciiDoc, Org, benchstat, Bencher and others read") {
  const Folder folder;
  completed("-N -w0 -r3 --engine none --export-asciidoc " + folder.file("adoc") +
                " --export-orgmode " + folder.file("org") + " --export-benchfmt " +
                folder.file("go") + " --export-bmf " + folder.file("bmf") + " --export-jsonl " +
                folder.file("jsonl") + " --export-github-benchmark " + folder.file("github") +
                " -n one -n two",
            {fixture("tiny"), fixture("tiny")});
  CHECK(has(text_of(folder.file("adoc")), "\n| `one` +\n3 runs\n| wall_time\n"));
  CHECK(has(text_of(folder.file("org")), "\n| =one=, 3 runs | =wall_time= | "));
  CHECK(has(text_of(folder.file("go")), "\nBenchmark/command=two 1 "));
  const auto bmf = nlohmann::json::parse(text_of(folder.file("bmf")));
  CHECK(bmf.at("two").at("wall_time").at("lower_value") < bmf["two"]["wall_time"]["value"]);
  const auto lines = lines_of(text_of(folder.file("jsonl")));
  REQUIRE(lines.size() == 6);
  for (const std::string& line : lines)
    CHECK(nlohmann::json::parse(line).at("metrics").at("wall_time") > 0.0);
  const auto github = nlohmann::json::parse(text_of(folder.file("github")));
  CHECK(github.at(0).at("name") == "one wall_time");
  CHECK(github.at(0).at("value") > 0.0);
}

TEST_CASE("each exported run has the parameters of its command") {
  const Folder folder;
  completed({"-w0", "-r2", "-L", "n", "1,2", "--export-runs", folder.file("csv"), "--export-jsonl",
             folder.file("jsonl"), "--", "echo {n}", "true"});
  const auto rows = lines_of(text_of(folder.file("csv")));
  REQUIRE(rows.size() == 7);
  CHECK(rows.front().find(",parameter_n") != std::string::npos);
  const auto lines = lines_of(text_of(folder.file("jsonl")));
  REQUIRE(lines.size() == 6);
  std::string seen;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto run = nlohmann::json::parse(lines[i]);
    const std::string n = run.contains("parameters") ? run.at("parameters").at("n") : "";
    seen += n.empty() ? "-" : n;
    CHECK(rows[i + 1].substr(rows[i + 1].rfind(',') + 1).starts_with(n));
  }
  CHECK(std::ranges::count(seen, '1') == 2);
  CHECK(std::ranges::count(seen, '2') == 2);
}

TEST_CASE("a suite's Go benchmarks have the geometric mean that lauka shows") {
  const Folder folder;
  std::ofstream(folder.file("s.toml"))
      << "[[benchmark]]\nname = 'half'\ncommands = ['echo 4', 'echo 2']\n"
         "[[benchmark]]\nname = 'more'\ncommands = ['echo 1', 'echo 1.5']\n";
  completed({"--suite", folder.file("s.toml"), "-w0", "-r6", "--engine", "none", "--scrape",
             "v=([0-9.]+)", "--metrics", "v", "--export-json", folder.file("json"),
             "--export-benchfmt", folder.file("go")});
  // Constants: the medians are 4, 2, 1 and 1.5, so that benchstat has sqrt(2 * 1.5 / (4 * 1)) - 1.
  const std::string go = text_of(folder.file("go"));
  for (const char* const name :
       {"half/role=reference", "half/role=candidate", "more/role=reference", "more/role=candidate"})
    CHECK_MESSAGE(has(go, "\nBenchmark" + std::string(name) + " 1 "), name);
  CHECK(has(go, " 1.5 v"));
  const auto document = nlohmann::json::parse(text_of(folder.file("json")));
  CHECK(document.at("lauka").at("geomeans").at(0).at("percent").get<double>() ==
        doctest::Approx(-13.3975).epsilon(1e-5));
}

TEST_CASE("an export to an open file, by any of its names, goes after what the file has") {
  const auto exported = [](const std::string& target, const std::string& opened) {
    const Folder folder;
    const std::string file = folder.path() + "/file";
    const Said said =
        lauka({.arguments = {"-c", "echo kept >> '" + file + "'; '" + places::kProgram +
                                       "' -q -r1 -w0 true --export-json '" + target + "' " +
                                       opened + " '" + file + "'"},
               .program = "/bin/sh"});
    CHECK_MESSAGE(said.status == 0, said.err);
    CHECK_FALSE(exists(folder.path() + "/file.rounds"));
    const std::string text = text_of(file);
    CHECK(text.starts_with("kept\n{"));
    CHECK(text.ends_with("}\n"));
  };
  for (const char* const target : {"-", "/dev/stdout", "/dev/fd/1", "/dev/../dev/fd/1"})
    exported(target, ">>");
  for (const char* const target : {"/dev/stderr", "/dev/fd/2"}) exported(target, "2>>");
  exported("/dev/fd/7", "7>>");
  if (exists("/proc/self/fd")) exported("/proc/self/fd/1", ">>");
  if (exists("/proc/thread-self/fd")) exported("/proc/thread-self/fd/1", ">>");
}

TEST_CASE("commands that write to standard output exclude an export there, as two exports do") {
  for (const char* const target : {"-", "/dev/stdout", "/dev/fd/1"}) {
    CAPTURE(target);
    const std::string to = target;
    CHECK(has(refusal("-r1 --show-output --export-csv " + to, {"true"}), "'" + to + "'"));
    CHECK(has(refusal("-r1 --export-json - --export-csv " + to, {"true"}), "'" + to + "'"));
  }
  CHECK(has(refusal("-r1 --export-csv /dev/fd/63", {"true"}), "/dev/fd/63"));
}

}  // namespace lauka::contract
