#include "contract/program.h"

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// --layouts, --build, --build-jobs.

namespace lauka::contract {
namespace {

using Words = std::vector<std::string>;

/// A side of the fixture `placed`: placement moves it by `percent`, runs scatter by 0.1 %.
std::string placed(const Folder& folder, int side, int percent) {
  return fixture("placed") + " 9 " + std::to_string(side) + " {layout} " + std::to_string(percent) +
         " 0.1 " + folder.file("runs-" + std::to_string(side));
}

Words measured(const Folder& folder, Words more, int percent = 3) {
  more.insert(more.end(),
              {"--scrape=v=v1=([0-9.]+)", "--metrics=v", "--layouts=8", "--seed=1", "-w0", "-n",
               "old", "-n", "new", "--", placed(folder, 1, percent), placed(folder, 2, percent)});
  return more;
}

}  // namespace

TEST_CASE("the scatter of placement is shown, and each run's layout exported") {
  const Folder folder;
  const Said said = completed(measured(folder, {"-r32", "--export-runs=" + folder.file("runs.csv"),
                                                "--export-html=" + folder.file("page.html"),
                                                "--export-json=" + folder.file("out.json")}));
  CHECK(said.out_has("placement of the code alone changes v by "));
  const auto rows = lines_of(text_of(folder.file("runs.csv")));
  CHECK(rows.front().find(",outcome,layout,") != std::string::npos);
  CHECK(rows.size() == 1 + 64);
  const std::string page = text_of(folder.file("page.html"));
  CHECK(page.find("layout 8") != std::string::npos);
  CHECK(page.find("placement of the code alone") != std::string::npos);
  const std::string json = text_of(folder.file("out.json"));
  CHECK(json.find("\"basis\": \"layouts\"") != std::string::npos);
  CHECK(json.find("\"scatter_is_clear\": true") != std::string::npos);
  CHECK(completed({"--from", folder.file("out.json"), "--metrics=v"})
            .out_has("placement of the code alone"));
}

TEST_CASE("what layout 1 alone would have said is a line of its own where it is another answer") {
  const Folder folder;
  const Said said = completed(measured(folder, {"-r32"}));
  CHECK(said.out_has("the change over 8 layouts is "));
  CHECK(said.out_has("layout 1 alone is "));
}

TEST_CASE("saved sessions with 8 and 6 layouts are compared over all of them") {
  const Folder folder;
  const auto save = [&](int side, const std::string& layouts) {
    const std::string file = folder.file("side" + std::to_string(side) + ".json");
    completed({"--scrape=v=v1=([0-9.]+)", "--metrics=v", "--layouts=" + layouts, "-r24", "-w0",
               "--export-json=" + file, "-n", "side " + std::to_string(side), "--",
               placed(folder, side, 3)});
    return file;
  };
  const std::string joined = folder.file("joined.json");
  const Said said = completed({"--from", save(1, "8"), save(2, "6"), "--export-json=" + joined});
  CHECK(said.out_has("placement of the code alone changes v by "));
  CHECK_FALSE(said.out_has("leaves out layout"));
  CHECK(completed({"--from", joined}).out == said.out);

  const auto document = nlohmann::json::parse(text_of(joined));
  CHECK(document.at("lauka").at("sessions")[1].at("layouts") == 6);
  const auto& metrics = document.at("results")[1].at("lauka").at("metrics");
  const auto& over = metrics.at("v").at("layouts").at("log_ratio");
  REQUIRE(over.at("each").size() == 6);
  double sum = 0.0;
  for (const auto& layout : over.at("each")) sum += layout.at("value").get<double>() / 6.0;
  CHECK(sum == doctest::Approx(over.at("value").get<double>()));
}

TEST_CASE("the number of runs that a warning advises is accepted") {
  const Words words = {"--layouts=4", "--", "sh -c 'true {layout}'", "sh -c ': {layout}'"};
  const auto with = [&](Words more) {
    more.insert(more.end(), words.begin(), words.end());
    return more;
  };
  CHECK(completed(with({"-r4"})).err_has("use --runs 12 or more"));
  CHECK_FALSE(completed(with({"-r12"})).err_has("--runs"));
  CHECK(refusal(with({"-m9", "-M10"})).find("raise --max-runs to 12") != std::string::npos);
  CHECK(completed(with({"-m9", "-M12", "-d1ms"})).out_has("12 runs"));
}

TEST_CASE("a gate on equal programs does not fail because of placement") {
  const Folder folder;
  CHECK(lauka(measured(folder, {"-r32", "--fail-if", "v > 1"})).status == 0);
}

TEST_CASE("saved sessions of which one has layouts are shown together, and not compared") {
  const Folder folder;
  const std::string with = folder.file("with.json");
  const std::string without = folder.file("without.json");
  const std::string joined = folder.file("joined.json");
  const std::string page = folder.file("page.html");
  completed(measured(folder, {"-r32", "--export-json=" + with}));
  completed({kScrape, "-r12", "--export-json=" + without, "-n", "one", "--", "echo 5"});

  for (const auto& files : {std::pair(with, without), std::pair(without, with)}) {
    CAPTURE(files.first);
    const Said said =
        lauka({"--from", files.first, files.second, "--metrics=v", "--fail-if=v > 1",
               "--fail-if-inconclusive", "--export-json=" + joined, "--export-html=" + page});
    CHECK(said.out_has("inconclusive: the two sides were measured with different settings"));
    CHECK(said.err_has("--layouts"));
    CHECK_FALSE(said.out_has("no change over layouts"));
    CHECK(lauka({"--from", joined, "--metrics=v", "--fail-if-inconclusive"}).out == said.out);
    CHECK(has(text_of(page), "or the median if there is only one build"));

    // What one file has is as it is alone.
    const auto results = nlohmann::json::parse(text_of(joined)).at("results");
    REQUIRE(results.size() == 3);
    for (const auto& result : results) {
      const bool is_one = result.at("command") == "one";
      CHECK(result.at("lauka").at("runs")[0].contains("layout") == !is_one);
      CHECK(result.at("lauka").at("metrics").at("v").contains("layouts") == !is_one);
    }
  }
}

TEST_CASE("where more runs would not do, the layouts are named that would") {
  const Folder folder;
  const std::string file = folder.file("out.json");
  const Said said = lauka(measured(folder, {"-m64", "-M64", "--duration=1ms", "--precision=v:0.5",
                                            "--fail-if=v > 1", "--export-json=" + file}));
  CHECK(said.out_has(", not the ±"));
  const std::string json = text_of(file);
  CHECK(json.find("\"layouts_to_reach\"") != std::string::npos);
  CHECK(json.find("\"layouts_to_decide\"") != std::string::npos);
}

TEST_CASE("a baseline may have other layouts; with none on one side, nothing is compared") {
  const Folder folder;
  const std::string with = folder.file("with.json");
  const std::string without = folder.file("without.json");
  completed(measured(folder, {"-r32", "--export-json=" + with}));
  completed({kScrape, "-r8", "--export-json=" + without, "-n", "old", "-n", "new", "--", "echo 5",
             "echo 6"});
  CHECK(completed(measured(folder, {"-r32", "--baseline=" + with}))
            .out_has("placement of the code alone"));

  const std::string six = folder.file("six.json");
  const std::string both = folder.file("both.json");
  completed({"--scrape=v=v1=([0-9.]+)", "--layouts=6", "-r24", "-w0", "--export-json=" + six, "-n",
             "old", "--", placed(folder, 1, 3)});
  const Words against_six = {
      "--scrape=v=v1=([0-9.]+)", "--metrics=v",           "--layouts=8", "-r32", "-w0",
      "--baseline=" + six,       "--export-json=" + both, "-n",          "old",  "--",
      placed(folder, 2, 3)};
  const Said now = completed(against_six);
  CHECK_FALSE(now.out_has("leaves out layout"));
  CHECK(nlohmann::json::parse(text_of(both)).at("lauka").at("baseline").at("layouts") == 6);
  CHECK(completed({"--from", both, "--metrics=v"}).out == now.out);

  for (const Said& said :
       {completed(measured(folder, {"-m32", "--duration=1ms", "--fail-if=v > 1",
                                    "--export-json=" + both, "--baseline=" + without})),
        completed({kScrape, "-m8", "--duration=1ms", "--fail-if=v > 1", "--export-json=" + both,
                   "--baseline=" + with, "-n", "old", "--", "echo 5"})}) {
    CHECK(said.out_has("--layouts: "));
    CHECK(said.out_has("cannot be compared"));
    CHECK_FALSE(said.out_has("change over layouts is unknown"));
    const auto result = nlohmann::json::parse(text_of(both)).at("results").at(0).at("lauka");
    CHECK(result.at("metrics").at("v").at("delta").is_null());
  }
  CHECK(refusal(
            {kScrape, "-m8", "--precision=v:5", "--baseline=" + with, "-n", "old", "--", "echo 5"})
            .find("layouts") != std::string::npos);
}

TEST_CASE(
    "a layout in which a command fails is left out on both sides; below four nothing is said") {
  const Said one = completed({"-i", kScrape, "--metrics=v", "--layouts=8", "-r16", "--",
                              "sh -c 'echo 5; exit $(( {layout} == 3 ))'", "echo 5{layout}"});
  CHECK(one.out_has("leaves out layout 3 of 8, "));
  const Said most = completed({"-i", kScrape, "--metrics=v", "--layouts=6", "-r12", "--",
                               "sh -c 'echo 5; exit $(( {layout} > 3 ))'", "echo 5{layout}"});
  CHECK(most.out_has("fewer than 4 of 6 "));
}

TEST_CASE("layouts that were not run before an interrupt are not said to have failed") {
  const Folder folder;
  const std::string log = folder.file("log");
  const std::string command =
      "sh -c 'echo >>" + log + "; [ $(wc -l <" + log + ") -lt 5 ] || sleep 100 # {layout}'";
  const Said said = lauka({.arguments = {"--layouts=4", "-w0", "--", command, command + " x"},
                           .interrupt_when = [&] { return has_lines(log, 5); }});
  CHECK(said.status == 130);
  CHECK(said.out_has(
      "the change over layouts is unknown, because fewer than 4 of 4 layouts ran on both sides "
      "without a failure\n"));
}

TEST_CASE("builds run before the first run, and one that fails ends lauka with its last words") {
  const Folder folder;
  const std::string program = folder.file("p-{layout}");
  completed(
      {"--layouts=4", "-r4", "--build-jobs=3",
       "--build=printf '#!/bin/sh\\nexit 0 #{layout}\\n' >" + program + "; chmod +x " + program,
       program});
  const std::string failed =
      failure({"--layouts=4", "-r4", "--build=echo said {layout}; exit $(( {layout} == 2 ))",
               fixture("tiny") + " {layout}"});
  CHECK(failed.find("layout 2 of 4") != std::string::npos);
  CHECK(failed.find("said 2") != std::string::npos);
}

TEST_CASE("a build that is stopped ends lauka, and one without its folder says so") {
  const std::string command = fixture("tiny") + " {layout}";
  const std::string stopped =
      failure({"--layouts=4", "-r4", "--build=echo asking {layout}; kill -STOP $$", command});
  CHECK(stopped.find("was stopped by SIGSTOP") != std::string::npos);
  CHECK(stopped.find("asking 1") != std::string::npos);
  const Said missing = lauka(
      {"--layouts=4", "-r4", "--cwd=/no-such-folder-{layout}", "--build=true {layout}", command});
  CHECK(missing.status != 0);
  CHECK(missing.err_has("its folder (--cwd) cannot be entered"));
  CHECK_FALSE(missing.err_has("127"));
}

TEST_CASE("layouts made of the same files are refused") {
  const Folder folder;
  const std::string program = folder.file("p-{layout}");
  const std::string refused =
      refusal({"--layouts=4", "-r4", "--build=cp " + fixture("tiny") + " " + program, program});
  CHECK(refused.find("are identical files; make sure that {layout} reaches the linker") !=
        std::string::npos);
}

TEST_CASE("Ctrl-C ends the builds and all they have started") {
  const Folder folder;
  const std::string begun = folder.file("begun");
  Start start;
  start.arguments = {"--layouts=4", "-r4",
                     "--build=trap 'touch " + folder.file("ended") + "; exit 1' TERM; touch " +
                         begun + "; while :; do sleep 0.01; done",
                     fixture("tiny") + " {layout}"};
  start.interrupt_when = [&] { return std::filesystem::exists(begun); };
  CHECK(lauka(start).status == 130);
  CHECK(std::filesystem::exists(folder.file("ended")));
}

TEST_CASE("the cleanup of each layout runs, even if one fails") {
  const Folder folder;
  const std::string log = folder.file("log");
  const Said said = lauka({"--layouts=4", "-r4", "-w0", "--cleanup",
                           "echo {layout} >>" + log + "; exit 1", "--", "sh -c 'true {layout}'"});
  CHECK(said.status == 1);
  CHECK(lines_of(text_of(log)) == Words{"1", "2", "3", "4"});
}

}  // namespace lauka::contract
