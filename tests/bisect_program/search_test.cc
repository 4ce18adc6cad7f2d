#include "contract/program.h"
#include "contract/schema.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// lauka-bisect on small repositories. The command prints the metric, so that nothing depends on
// the speed of the machine.

namespace lauka::contract {
namespace {

/// A repository whose commits set a value. The build copies it, and the command prints the copy. A
/// build of the value "broken" fails.
class ValueRepository {
 public:
  explicit ValueRepository(const std::vector<std::string>& values) {
    run("git init -q -b main . && git config user.name N && git config user.email e@example.org");
    for (std::size_t i = 0; i < values.size(); ++i)
      run("echo " + values[i] + " > source && git add source && git commit -qm 'change " +
          std::to_string(i) + "' --allow-empty");
  }

  std::string path() const { return folder_.file("work"); }
  std::string log() const { return folder_.file("builds"); }
  void allow_builds() const { std::ofstream(folder_.file("go")) << "go"; }

  void run(const std::string& line) const {
    const std::string whole =
        "mkdir -p '" + path() + "' && cd '" + path() + "' && ( " + line + " ) >/dev/null 2>&1";
    REQUIRE_MESSAGE(std::system(whole.c_str()) == 0, line);
  }

  std::string output_of(const std::string& line) const {
    run("( " + line + " ) > ../output");
    return text_of(folder_.file("output"));
  }

  /// Starts a search. The build waits at its `blocking_build`th call until allow_builds().
  Start search(int blocking_build = 1000) const {
    const std::string log_file = "'" + log() + "'";
    const std::string build = "cat source >> " + log_file + "; test $(wc -l < " + log_file +
                              ") -lt " + std::to_string(blocking_build) + " || test -e '" +
                              folder_.file("go") +
                              "' || sleep 600; grep -qv broken source && cp source built";
    Start start;
    start.program =
        (std::filesystem::path(places::kProgram).parent_path() / "lauka-bisect").string();
    start.folder = path();
    start.environment = {{"LC_ALL", "C.UTF-8"}};
    start.arguments = {"-r",    "30",        "-w", "0",       "--engine", "none",
                       kScrape, "--metrics", "v",  "--build", build};
    return start;
  }

  Said find(Start start, const std::string& good, const std::string& bad) const {
    for (const std::string& word : {good, bad, std::string("--"), std::string("cat built")})
      start.arguments.push_back(word);
    return lauka(start);
  }
  Said find(const std::string& good, const std::string& bad) const {
    return find(search(), good, bad);
  }

  /// True if neither worktrees nor the log are left.
  bool is_clean() const {
    return !exists(path() + "/.git/lauka-bisect/log") &&
           lines_of(output_of("git worktree list")).size() == 1;
  }

 private:
  Folder folder_;
};

/// Searches between two commits that print the same numbers, in another order.
Said search_equal_ends(Start start) {
  start.arguments.insert(
      start.arguments.end(),
      {"-S", "HEAD~1", "HEAD", "--",
       "echo x >> n; expr 1000 + $(wc -l < n) \\* '(' 5 + $(cat built) ')' % 13"});
  return lauka(start);
}

TEST_CASE("the commit that made the change is named, with date, subject and change") {
  const ValueRepository there({"100", "100", "100", "110", "110", "110", "110"});
  const Said said = there.find("HEAD~6", "HEAD");
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 3);
  CHECK(said.out_has("subject: change 3\n"));
  CHECK(said.out_has("commit:  " + there.output_of("git rev-parse HEAD~3")));
  CHECK(said.out_has("change:  v +10.0% exact from its parent"));
  CHECK(there.is_clean());
  CHECK_FALSE(exists(there.path() + "/.git/lauka-bisect"));
}

TEST_CASE("an improvement is found, too") {
  const ValueRepository there({"100", "100", "90", "90"});
  const Said said = there.find("HEAD~3", "HEAD");
  CAPTURE(said.err);
  CHECK(said.status == 3);
  CHECK(said.out_has("subject: change 2\n"));
  CAPTURE(said.out);
  CHECK(said.out_has("change:  v −10.00% exact"));
}

TEST_CASE("ends without a significant difference end the search with status 0") {
  const ValueRepository there({"100", "110", "100"});
  const Said said = there.find("HEAD~2", "HEAD");
  CAPTURE(said.err);
  CHECK(said.status == 0);
  CHECK(said.out_has("v does not differ significantly"));
  CHECK(there.is_clean());
}

TEST_CASE("ends that do not differ come with the difference that would have been found") {
  const ValueRepository there({"1", "2"});
  Start start = there.search();
  start.arguments.insert(start.arguments.end(),
                         {"--export-json", there.path() + "/../result.json"});
  const Said said = search_equal_ends(start);
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 0);
  CHECK(said.out_has("would have been found in four of five such sessions"));

  const auto written = nlohmann::json::parse(text_of(there.path() + "/../result.json"));
  const auto& ends = written.at("searches").at(0).at("ends");
  CHECK(ends.at("detectable").get<double>() > 0.0);
  CHECK(ends.at("detectable").get<double>() < 0.02);
}

TEST_CASE("the difference that would have been found is known without --runs, too") {
  const ValueRepository there({"1", "2"});
  Start start = there.search();
  start.arguments.erase(start.arguments.begin(), start.arguments.begin() + 2);  // -r 30
  start.arguments.emplace_back("--duration=0.2");
  const Said said = search_equal_ends(start);
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 0);
  CHECK(said.out_has("would have been found in four of five such sessions"));
}

TEST_CASE("a commit that stays undecided is measured again, and has a part of the change") {
  // Half of the change is there in the middle. The values scatter by much more than that.
  const ValueRepository there({"0", "50", "100"});
  const std::string json_file = there.path() + "/../result.json";
  Start start = there.search();
  start.arguments.insert(
      start.arguments.end(),
      {"--export-json", json_file, "-S", "HEAD~2", "HEAD", "--",
       "echo x >> n; expr 1000 + $(cat built) + $(wc -l < n) \\* '(' 50 + $(cat built) ')' % 211"});
  const Said said = lauka(start);
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 3);
  const std::string middle = there.output_of("git rev-parse HEAD~1").substr(0, 12);
  CHECK(said.out_has(", undecided\nmeasuring " + middle + " again, with another limit\n"));
  CHECK(said.out_has(", a part of the change is already here\n"));
  CHECK(said.out_has("Search again with --all, or search the commits from " + middle + " on.\n"));

  const auto written = nlohmann::json::parse(text_of(json_file));
  const auto& steps = written.at("searches").at(0).at("steps");
  REQUIRE(steps.size() == 2);
  CHECK(steps.at(0).at("commit") == steps.at(1).at("commit"));
  CHECK(steps.at(0).at("answer") == "undecided");
  CHECK(steps.at(1).at("answer") == "after");
  CHECK(steps.at(1).at("limit") < steps.at(0).at("limit"));
}

TEST_CASE("too few runs to tell are no answer that the ends are alike") {
  const ValueRepository there({"100", "100", "120"});
  Start few = there.search();
  few.arguments.emplace_back("--runs=2");
  const Said said = there.find(few, "HEAD~2", "HEAD");
  CAPTURE(said.out);
  CHECK(said.status == 1);
  CHECK(said.err_has("2 rounds cannot tell whether v differs between the two ends"));
}

TEST_CASE("a metric that is 0 at the good end has no change in percent") {
  const ValueRepository there({"0", "0", "5"});
  const Said said = there.find("HEAD~2", "HEAD");
  CHECK(said.status == 1);
  CHECK(said.err_has("a change in percent is not defined"));
}

TEST_CASE("a file of the user that is called log stays as it is") {
  const ValueRepository there({"100", "100", "120"});
  const std::string work = there.path() + "/.git/mine";
  std::filesystem::create_directories(work + "/test");
  std::ofstream(work + "/log") << "mine\n";
  Start elsewhere = there.search();
  elsewhere.arguments.push_back("--work=" + work);
  const Said said = there.find(elsewhere, "HEAD~2", "HEAD");
  CHECK(said.status == 2);
  CHECK(text_of(work + "/log") == "mine\n");
  CHECK(exists(work + "/test"));
}

TEST_CASE("a commit that does not build is passed over") {
  const ValueRepository there({"100", "100", "broken", "110", "110"});
  const Said said = there.find("HEAD~4", "HEAD");
  CAPTURE(said.err);
  CHECK(said.status == 4);
  const std::string range = said.out.substr(said.out.find("the change is in one of 2 commits:"));
  CHECK(lines_of(range).size() == 4);
  CHECK(has(range, "change 2 (does not build: the build exited with status 1)\n"));
  CHECK(has(range, "change 3\n"));
  CHECK(there.is_clean());
  CHECK(exists(there.path() + "/.git/lauka-bisect/failed-" +
               there.output_of("git rev-parse HEAD~2").substr(0, 12) + ".txt"));
}

/// Searches five commits, of which the last has the change, with `command`. `build` is the build,
/// with MIDDLE for the commit in the middle, which is passed over because of `reason`.
void check_passes_over(const std::string& build, const std::string& command,
                       const std::string& reason) {
  const ValueRepository there({"100", "100", "100", "100", "110"});
  const std::string middle = there.output_of("git rev-parse HEAD~2").substr(0, 40);
  Start start = there.search();
  start.arguments.back() = "test $(git rev-parse HEAD) = " + middle + " && last=no; " + build;
  for (const std::string& word :
       {std::string("HEAD~4"), std::string("HEAD"), std::string("--"), command})
    start.arguments.push_back(word);
  const Said said = lauka(start);
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 3);
  CHECK(said.out_has("subject: change 4\n"));
  CHECK(said.out_has(reason));
  CHECK(said.out_has(", so lauka-bisect tries a neighbour"));
}

TEST_CASE("a commit whose command fails is passed over") {
  check_passes_over("cp source built; test \"$last\" != no || rm built", "cat built",
                    " fails: the command exited with status 1");
}

TEST_CASE("a commit whose build does not make the program is passed over") {
  check_passes_over(
      "cp source built; printf '#!/bin/sh\\ncat built\\n' >show; chmod +x show; "
      "test \"$last\" != no || rm show",
      "./show", " does not make the program that is to be run");
}

TEST_CASE("a commit that git can check out only in part is passed over") {
  for (const auto& [file, content, reason] : std::vector<std::array<std::string, 3>>{
           {".gitmodules", "", "has submodules, which lauka-bisect cannot check out"},
           {".gitattributes", "*.bin filter=lfs",
            "has files in LFS, for which git has no filter"}}) {
    const ValueRepository there({"100", "100"});
    there.run("echo '" + content + "' > " + file + " && git add . && git commit -qm partly");
    there.run("git rm -q " + file + " && git commit -qm removed");
    there.run("echo 110 > source && git commit -qam guilty");
    Start start = there.search();
    start.environment.emplace_back("GIT_CONFIG_GLOBAL", "/dev/null");
    start.environment.emplace_back("GIT_CONFIG_NOSYSTEM", "1");
    const Said said = there.find(start, "HEAD~4", "HEAD");
    CAPTURE(said.out);
    CAPTURE(said.err);
    CHECK(said.status == 3);
    CHECK(said.out_has(reason));
    CHECK(said.out_has("subject: guilty\n"));
  }
}

TEST_CASE("a fault of the machine ends the search, is no commit's fault, and is gone later") {
  const ValueRepository there({"100", "100", "100", "110", "110"});
  const std::string shell = there.path() + "/../shell";
  std::filesystem::create_symlink("/bin/sh", shell);
  const std::string middle = there.output_of("git rev-parse HEAD~2").substr(0, 40);
  Start start = there.search();
  start.arguments.back() =
      "cp source built; test -e ../../../../go || test $(git rev-parse HEAD) != " + middle +
      " || rm -f '" + shell + "'";
  start.arguments.push_back("--shell=" + shell);
  const Said ended = there.find(start, "HEAD~4", "HEAD");
  CAPTURE(ended.out);
  CAPTURE(ended.err);
  CHECK(ended.status == 1);
  CHECK_FALSE(exists(shell));
  CHECK_FALSE(ended.out_has("tries a neighbour"));
  CHECK(ended.err_has("with the same command line to continue from here"));

  std::filesystem::create_symlink("/bin/sh", shell);
  there.allow_builds();
  const Said resumed = there.find(start, "HEAD~4", "HEAD");
  CAPTURE(resumed.out);
  CAPTURE(resumed.err);
  CHECK(resumed.status == 3);
  CHECK_FALSE(resumed.out_has("comparing the two ends"));
  CHECK(resumed.out_has("subject: change 3\n"));
  CHECK(there.is_clean());
}

TEST_CASE("a file that git does not know is named if the command misses it") {
  const ValueRepository there({"100", "110"});
  there.run("echo 1 > downloaded");
  Start start = there.search();
  start.arguments.insert(start.arguments.end(), {"HEAD~1", "HEAD", "--", "cat downloaded built"});
  const Said said = lauka(start);
  CAPTURE(said.err);
  CHECK(said.status == 1);
  CHECK(said.err_has("'downloaded' is not in the commit's worktree, so give its absolute path"));
  CHECK(there.is_clean());
}

TEST_CASE("an end that does not build ends the search with status 1") {
  const ValueRepository there({"100", "100", "broken"});
  const Said said = there.find("HEAD~2", "HEAD");
  CHECK(said.status == 1);
  CHECK(said.err_has("does not build"));
}

TEST_CASE("a command that does not give the metric ends the search with status 1") {
  const ValueRepository there({"none", "nothing"});
  const Said said = there.find("HEAD~1", "HEAD");
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 1);
  CHECK(there.is_clean());
}

TEST_CASE("what cannot be searched is refused before anything is built") {
  const ValueRepository there({"100", "110"});
  const auto refused = [&](const Said& said, const std::string& why) {
    CAPTURE(said.err);
    CHECK(said.status == 2);
    CHECK(said.err_has(why));
    CHECK_FALSE(exists(there.log()));
  };
  refused(there.find("HEAD", "HEAD~1"), "is not an ancestor of");
  refused(there.find("nosuch", "HEAD"), "is not a commit of this repository");

  Start outside = there.search();
  outside.folder = there.path() + "/..";
  refused(there.find(outside, "HEAD~1", "HEAD"), "there is no git repository");

  for (const char* option : {"--fail-if-slower", "--export-csv=x.csv", "--command-name=x"}) {
    Start with_option = there.search();
    with_option.arguments.emplace_back(option);
    refused(there.find(with_option, "HEAD~1", "HEAD"), "cannot be used here");
  }

  Start no_command = there.search();
  no_command.arguments.insert(no_command.arguments.end(), {"HEAD~1", "HEAD"});
  refused(lauka(no_command), "there is no command after --");
}

TEST_CASE("the same command line goes on after an interrupt, and builds no finished commit again") {
  const ValueRepository there({"100", "100", "100", "110", "110", "110", "120", "120"});
  Start start = there.search(4);
  start.interrupt_when = [&] { return has_lines(there.log(), 4); };
  const Said interrupted = there.find(start, "HEAD~7", "HEAD");
  CAPTURE(interrupted.err);
  CHECK(interrupted.status == 130);
  CHECK(interrupted.err_has("with the same command line to continue from here"));
  const std::size_t builds_before = lines_of(text_of(there.log())).size();
  CHECK(builds_before == 4);

  there.allow_builds();
  const Said resumed = there.find(there.search(4), "HEAD~7", "HEAD");
  CAPTURE(resumed.out);
  CAPTURE(resumed.err);
  CHECK(resumed.status == 3);
  CHECK(resumed.out_has("continuing after 1 step from an earlier call"));
  CHECK_FALSE(resumed.out_has("comparing the two ends"));
  CHECK(resumed.out_has("subject: change 3\n"));
  CHECK(resumed.out_has("The two ends differ by +20.0%"));
  CHECK(there.is_clean());
}

TEST_CASE("a killed search gives the same answer with the same command line") {
  const ValueRepository there({"100", "100", "100", "110", "110"});
  const std::string ask = "git status --porcelain; git stash list; git reflog";
  const std::string before = there.output_of(ask);
  for (int build = 1; build <= 3; ++build) {
    Start start = there.search(1000);
    start.interrupt_signal = 9;
    start.interrupt_when = [&, build] {
      return has_lines(there.log(), static_cast<std::size_t>(build));
    };
    CHECK(there.find(start, "HEAD~4", "HEAD").status == 128 + 9);
  }
  const Said said = there.find("HEAD~4", "HEAD");
  CAPTURE(said.err);
  CHECK(said.status == 3);
  CHECK(said.out_has("subject: change 3\n"));
  CHECK(there.output_of(ask) == before);
  CHECK(there.is_clean());
}

TEST_CASE("the exports have the steps of all calls, and the answer") {
  const ValueRepository there({"100", "100", "broken", "100", "110", "110", "110", "110", "110"});
  const std::string json_file = there.path() + "/../result.json";
  const std::string markdown_file = there.path() + "/../result.md";
  const auto exporting = [&](int blocking_build) {
    Start start = there.search(blocking_build);
    start.arguments.insert(start.arguments.end(),
                           {"--export-json", json_file, "--export-markdown=" + markdown_file});
    return start;
  };
  Start start = exporting(4);
  start.interrupt_when = [&] { return has_lines(there.log(), 4); };
  CHECK(there.find(start, "HEAD~8", "HEAD").status == 130);
  CHECK(nlohmann::json::parse(text_of(json_file)).at("complete") == false);

  there.allow_builds();
  const Said said = there.find(exporting(4), "HEAD~8", "HEAD");
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 3);

  const auto written = nlohmann::json::parse(text_of(json_file));
  const auto schema =
      nlohmann::json::parse(text_of(std::string(places::kRepository) + "/docs/bisect.schema.json"));
  for (const std::string& fault : faults(written, schema)) FAIL_CHECK(fault);
  CHECK(written.at("complete") == true);
  const auto& search = written.at("searches").at(0);
  CHECK(search.at("answer") == "commit");
  CHECK(search.at("suspects").at(0).at("subject") == "change 4");
  CHECK(search.at("parent").at("subject") == "change 3");
  CHECK(search.at("from_parent").at("change").get<double>() == doctest::Approx(0.1));
  CHECK(search.at("share_explained").get<double>() == doctest::Approx(1.0));
  CHECK(search.at("steps").size() == 3);
  CHECK(search.at("steps").at(0).at("answer") == "after");
  CHECK(search.at("steps").at(0).at("from_good").at("rounds") > 0);

  const std::string markdown = text_of(markdown_file);
  CHECK(has(markdown, "the commit that made the change:\n\n- commit:"));
  CHECK(has(markdown, "| change 2 |  |  | does not build"));
}

TEST_CASE("a search without an answer replaces the files of an earlier one") {
  const ValueRepository there({"100", "broken"});
  const std::string json_file = there.path() + "/../result.json";
  const std::string markdown_file = there.path() + "/../result.md";
  std::ofstream(json_file) << "{\"complete\": true}";
  Start start = there.search();
  start.arguments.insert(start.arguments.end(),
                         {"--export-json", json_file, "--export-markdown=" + markdown_file});
  const Said said = there.find(start, "HEAD~1", "HEAD");
  CAPTURE(said.err);
  CHECK(said.status == 1);

  const auto written = nlohmann::json::parse(text_of(json_file));
  CHECK(written.at("complete") == false);
  CHECK(written.at("searches").empty());
  CHECK(text_of(markdown_file) == "The search ended before it found an answer.\n");
}

TEST_CASE("an export that cannot be written is refused before anything is built") {
  const ValueRepository there({"100", "110"});
  Start start = there.search();
  start.arguments.emplace_back("--export-json=/nowhere/x.json");
  const Said said = there.find(start, "HEAD~1", "HEAD");
  CHECK(said.status == 2);
  CHECK(said.err_has("/nowhere/x.json"));
  CHECK_FALSE(exists(there.log()));
}

TEST_CASE("a commit that lacks the metric is passed over, as one that does not build") {
  const ValueRepository there({"100", "100", "100", "100", "110"});
  Start start = there.search();
  const std::string middle = there.output_of("git rev-parse HEAD~2").substr(0, 40);
  start.arguments.back() =
      "cp source built; test $(git rev-parse HEAD) != " + middle + " || echo nothing > built";
  const Said said = there.find(start, "HEAD~4", "HEAD");
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 3);
  CHECK(said.out_has("lacks the metric"));
  CHECK(said.out_has("subject: change 4\n"));
}

TEST_CASE("an unknown metric is refused before anything is built") {
  const ValueRepository there({"100", "110"});
  Start start = there.search();
  *std::ranges::find(start.arguments, "v") = "wall_tim";
  const Said said = there.find(start, "HEAD~1", "HEAD");
  CAPTURE(said.err);
  CHECK(said.status == 2);
  CHECK(said.err_has("lauka-bisect: there is no metric 'wall_tim'"));
  CHECK_FALSE(exists(there.log()));
}

TEST_CASE("a commit of a merged branch is found with --no-first-parent, and its merge without it") {
  const ValueRepository there({"100", "100"});
  there.run("git checkout -q -b side HEAD~1 && echo 110 > other && git add other");
  there.run("git commit -qm guilty && echo 1 > third && git add third && git commit -qm harmless");
  there.run("git checkout -q main && git merge -q --no-ff -m merge side");
  there.run("echo 2 > third && git commit -qam later");
  Start start = there.search();
  start.arguments.back() = "cp source built; test ! -e other || cp other built";

  const Said merge = there.find(start, "HEAD~3", "HEAD");
  CAPTURE(merge.out);
  CHECK(merge.status == 3);
  CHECK(merge.out_has("subject: merge\n"));

  start.arguments.emplace_back("--no-first-parent");
  const Said commit = there.find(start, "HEAD~3", "HEAD");
  CAPTURE(commit.out);
  CAPTURE(commit.err);
  CHECK(commit.status == 3);
  CHECK(commit.out_has("subject: guilty\n"));
  CHECK(there.is_clean());
}

TEST_CASE("a commit whose parent cannot be measured is not named with certainty") {
  // The merged branch began before the good end.
  const ValueRepository there({"dead", "100", "100"});
  there.run("git checkout -q -b side HEAD~2 && echo 110 > other && git add other");
  there.run("git commit -qm guilty && git checkout -q main && git merge -q -m merge side");
  Start start = there.search();
  start.arguments.back() = "cp source built; test ! -e other || cp other built";
  start.arguments.insert(start.arguments.end(),
                         {"--no-first-parent", "HEAD~2", "HEAD", "--", "grep -v dead built"});
  const Said said = lauka(start);
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 4);
  CHECK(said.out_has("it was not compared with its parent, because " +
                     there.output_of("git rev-parse side~1").substr(0, 12) + " fails"));
  CHECK(said.out_has("subject: guilty\n"));
  CHECK(there.is_clean());
}

TEST_CASE("with --all, commits are found until the rest is not significant") {
  const ValueRepository there({"100", "100", "105", "105", "115", "115", "115", "120", "120"});
  Start start = there.search();
  start.arguments.emplace_back("--all");
  const Said said = there.find(start, "HEAD~8", "HEAD");
  CAPTURE(said.out);
  CAPTURE(said.err);
  CHECK(said.status == 3);
  for (const char* subject : {"subject: change 2\n", "subject: change 4\n", "subject: change 7\n"})
    CHECK(said.out_has(subject));
  CHECK(there.is_clean());
}

TEST_CASE("the search ends if nobody reads its output any more, and goes on later") {
  const ValueRepository there({"100", "100", "100", "110"});
  Start start = there.search();
  start.deaf_output = true;
  const Said deaf = there.find(start, "HEAD~3", "HEAD");
  CHECK(deaf.status == 1);
  CHECK(deaf.err_has("lauka-bisect: cannot write to standard output"));
  CHECK_FALSE(exists(there.log()));
  CHECK(there.find("HEAD~3", "HEAD").status == 3);
  CHECK(there.is_clean());
}

TEST_CASE("no process of a build outlives a killed search") {
  if (!is_linux()) return;
  const ValueRepository there({"100", "110"});
  Start start = there.search();
  start.arguments.back() =
      "(echo $$ > ../pid; sh -c 'echo $$ >> " + there.log() + "; sleep 600; true'; true) ; true";
  start.interrupt_signal = 9;
  start.interrupt_when = [&] { return has_lines(there.log(), 1); };
  CHECK(there.find(start, "HEAD~1", "HEAD").status == 128 + 9);
  CHECK(has_ended(lines_of(text_of(there.log())).at(0)));
}

TEST_CASE("help and version are answered") {
  const ValueRepository there({"100"});
  Start start = there.search();
  start.arguments = {"--help"};
  CHECK(completed(start).out_has("usage: lauka-bisect [options] GOOD BAD -- 'COMMAND'"));
  start.arguments = {"--version"};
  CHECK(completed(start).out_has("lauka-bisect "));
}

}  // namespace
}  // namespace lauka::contract
