#include "contract/program.h"
#include "contract/schema.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// --from: one saved session, and several together.

namespace lauka::contract {
namespace {

using nlohmann::json;

/// Ten times around `middle` that drift alike in every session.
std::vector<double> times_of(double middle) {
  std::vector<double> times;
  for (int i = 0; i < 10; ++i) times.push_back(middle * (1 + 0.05 * i + 0.001 * ((i * 7) % 5)));
  return times;
}

std::set<std::string> kinds_of_warnings(const json& document) {
  std::set<std::string> kinds;
  for (const json& warning : document.at("lauka").at("warnings")) kinds.insert(warning.at("kind"));
  return kinds;
}

void write_session(const std::string& file, const json& session) {
  std::ofstream(file) << session;
}

/// A session of two commands with three runs each, whose instructions are known by function.
json session_with_functions(const Folder& folder) {
  completed("-q -w0 -r3 --metrics cpu_time --export-json " + folder.file("runs.json"),
            {"true", "true"});
  json session = json::parse(text_of(folder.file("runs.json")));
  session.at("lauka").at("metrics").push_back({{"name", "instructions"}});
  for (std::size_t c = 0; c < 2; ++c) {
    const int count = c == 0 ? 100 : 160;
    const int whole = count + 50;
    json& ours = session.at("results").at(c).at("lauka");
    ours.at("metrics")["instructions"] = {{"unit", ""}, {"samples", {whole, whole, whole}}};
    ours["functions"] = {{"metrics", {{"instructions", 3}}},
                         {"rows",
                          {{{"name", "parse"}, {"instructions", count}},
                           {{"name", "print"}, {"instructions", 50}}}}};
  }
  return session;
}

}  // namespace

TEST_CASE("--from: a saved session shows and exports what it did itself") {
  const Folder folder;
  const std::vector<std::string> kinds = {"csv", "runs", "json", "markdown", "html"};
  std::vector<std::string> measure = {"-r6", kScrape, "--metrics", "all", "--fail-if", "v > 20"};
  std::vector<std::string> again = {"--from", folder.file("a.json"), "--metrics", "all"};
  for (const std::string& kind : kinds) {
    measure.insert(measure.end(), {"--export-" + kind, folder.file("a." + kind)});
    again.insert(again.end(), {"--export-" + kind, folder.file("b." + kind)});
  }
  measure.insert(measure.end(), {"-L", "n", "20,60", "--", "echo 20", "echo {n}"});
  const Said once = lauka(measure);
  REQUIRE(once.status == 3);
  const Said twice = lauka(again);
  CHECK(twice.status == 3);
  CHECK(twice.out == once.out);
  CHECK(twice.err == once.err);
  for (const std::string& kind : kinds) {
    CAPTURE(kind);
    CHECK(text_of(folder.file("b." + kind)) == text_of(folder.file("a." + kind)));
  }
}

TEST_CASE("the JSON names the functions that differ for certain, and by how much") {
  const Folder folder;
  const std::string file = folder.file("again.json");
  write_session(folder.file("a.json"), session_with_functions(folder));
  completed({"-q", "--from", folder.file("a.json"), "--export-json", file});
  const json after = json::parse(text_of(file));
  CHECK_FALSE(after.at("results").at(0).at("lauka").contains("function_changes"));
  CHECK(after.at("results").at(1).at("lauka").at("function_changes") ==
        json::array({{{"metric", "instructions"},
                      {"name", "parse"},
                      {"reference", 100},
                      {"candidate", 160},
                      {"difference", 60},
                      {"low", nullptr},
                      {"high", nullptr},
                      {"exact", true}}}));
}

TEST_CASE("functions are not compared if a run failed, and the output says so") {
  const Folder folder;
  json session = session_with_functions(folder);
  json& failed = session.at("results").at(1).at("lauka").at("runs").back();
  failed.at("exit_code") = 1;
  failed["outcome"] = "failed";
  write_session(folder.file("a.json"), session);
  const std::string file = folder.file("again.json");
  const Said said =
      completed({"--from", folder.file("a.json"), "--functions", "--export-json", file});
  CHECK(said.out_has("functions of failed runs are not compared"));
  CHECK_FALSE(said.out_has("instructions by function"));
  const json after = json::parse(text_of(file));
  CHECK_FALSE(after.at("results").at(1).at("lauka").contains("function_changes"));
}

TEST_CASE("--from: deltas are paired within a session, and across sessions they are not") {
  const Folder folder;
  save(folder.file("a.json"), {{"old", times_of(1.0)}, {"new", times_of(1.1)}});
  save(folder.file("b.json"), {{"newer", times_of(1.2)}});
  const Said said =
      completed({"--from", folder.file("a.json"), folder.file("b.json"), "--export-json",
                 folder.file("all.json"), "--export-runs", folder.file("all.csv")});
  const json document = json::parse(text_of(folder.file("all.json")));
  check_schema(document);
  CHECK(kinds_of_warnings(document).contains("baseline"));
  CHECK_FALSE(kinds_of_warnings(document).contains("foreign_baseline"));
  const auto delta = [&](std::size_t command) {
    return document.at("results").at(command).at("lauka").at("metrics").at("wall_time").at("delta");
  };
  // Within the session the drift cancels out; the ratios of its rounds are all the same.
  CHECK(delta(1).at("high_percent").get<double>() - delta(1).at("low_percent").get<double>() < 0.1);
  CHECK(delta(2).at("high_percent").get<double>() - delta(2).at("low_percent").get<double>() > 10);
  CHECK(document.at("lauka").at("paired") == false);
  CHECK(document.at("lauka").at("sessions").at(0).at("commands") == 2);
  CHECK(document.at("lauka").at("sessions").at(1).at("file") == folder.file("b.json"));
  CHECK(lines_of(text_of(folder.file("all.csv"))).size() == 31);
  // A joined session stays joined.
  const Said again = lauka({"--from", folder.file("all.json")});
  CHECK(again.out == said.out);
  CHECK(again.err == said.err);
}

TEST_CASE("--from: namesakes are distinguished by their files, other machines are named") {
  const Folder folder;
  save(folder.file("a.json"), {{"it", times_of(1.0)}}, "here");
  save(folder.file("b.json"), {{"it", times_of(2.0)}}, "there");
  const Said said = lauka({"--from", folder.file("a.json"), "--from", folder.file("b.json")});
  CHECK(said.out_has("Benchmark 2 (10 runs): it (" + folder.file("b.json") + ")"));
  CHECK(said.err_has("machine 'there' instead of 'here'"));
  const Said named = lauka({"--from", folder.file("a.json"), folder.file("b.json"), "-n", "one",
                            "-n", "two", "--reference", "two", "-q", "--export-csv", "-"});
  CHECK(named.out_has("one,wall_time,s,10,"));
  CHECK(named.out_has(",-50,"));
}

TEST_CASE("--from: a session that was cut short says so, and a region is no whole run") {
  const Folder folder;
  save(folder.file("a.json"), {{"old", times_of(1.0)}}, "here", R"({"complete": false})");
  save(folder.file("b.json"), {{"new", times_of(1.1)}});
  CHECK(lauka({"--from", folder.file("a.json")})
            .err_has("'" + folder.file("a.json") + "' was cut short"));
  CHECK_FALSE(completed({"--from", folder.file("b.json")}).err_has("cut short"));
  // The same event, of the region in one and of the whole run in the other.
  const auto add_faults = [&](const std::string& name, const std::string& note) {
    json document = json::parse(text_of(folder.file("b.json")));
    document["lauka"]["metrics"] = {{{"name", "wall_time"}, {"unit", "s"}},
                                    {{"name", "faults"}, {"unit", ""}, {"note", note}}};
    for (json& run : document["results"][0]["lauka"]["runs"]) run["faults"] = 7;
    std::ofstream(folder.file(name)) << document;
  };
  add_faults("region.json", "(region)");
  add_faults("whole.json", "");
  const Said beside = lauka({"--from", folder.file("region.json"), folder.file("whole.json"),
                             "--fail-if", "faults > 5", "--fail-if-inconclusive"});
  CHECK(beside.status == 4);
  CHECK(beside.out_has("faults > 5%: inconclusive: the two sides were measured with different"));
  CHECK(beside.err_has("region"));
}

TEST_CASE("--from: gates typed now are judged at one look, and saved ones are reported again") {
  const Folder folder;
  save(folder.file("a.json"), {{"old", times_of(1.0)}, {"new", times_of(1.1)}});
  CHECK(lauka({"--from", folder.file("a.json"), "--fail-if-slower=5"}).status == 3);
  completed({"--from", folder.file("a.json"), "--fail-if-slower=12"});
  completed({"--from", folder.file("a.json"), "--fail-if", "wall_time > 3s"});
  save(folder.file("short.json"), {{"old", {1.0, 1.1}}, {"new", {1.1, 1.0}}});
  const Said open = lauka(
      {"--from", folder.file("short.json"), "--fail-if-slower=5", "--fail-if-inconclusive=125"});
  CHECK(open.out_has("inconclusive"));
  CHECK(open.status == 125);
  // Against another session's runs.
  save(folder.file("b.json"), {{"old", times_of(1.5)}, {"new", times_of(22.0)}});
  const Said baseline = lauka(
      {"--from", folder.file("b.json"), "--baseline", folder.file("a.json"), "--fail-if-slower=5"});
  CHECK(baseline.status == 3);
  CHECK(baseline.out_has(folder.file("a.json")));
  CHECK(baseline.out_has("new: wall_time > 5%: fail"));
}

TEST_CASE("--from: where the saved gates cannot be judged, a note says so and why") {
  const Folder folder;
  const std::string a = folder.file("a.json");
  const std::string b = folder.file("b.json");
  completed("-q -r3 " + kScrape + " --fail-if 'v > 100' --export-json " + a, {"echo 5", "echo 5"});
  completed("-q -r3 " + kScrape + " --export-json " + b, {"echo 5", "echo 5"});
  const char* const said = "saved gates are not judged";
  CHECK_FALSE(completed({"--from", a}).err_has(said));
  CHECK_FALSE(completed({"--from", b, b}).err_has(said));
  CHECK_FALSE(completed({"--from", a, b, "--fail-if", "v > 100"}).err_has(said));
  CHECK(lauka({"--from", b, a}).err_has(said));
  CHECK(lauka({"--from", a, "--baseline", b}).err_has("--baseline"));
  CHECK(lauka({"--from", a, "--confidence", "90"}).err_has("--confidence"));
  const std::string again = folder.file("again.json");
  completed({"-q", "--from", a, b, "--export-json", again});
  CHECK(has(text_of(again), "\"not_judged\""));
}

TEST_CASE("--from: gates on a session that its own gates ended are said to err more often") {
  const Folder folder;
  completed("-q -d10ms " + kScrape + " --fail-if 'v > 100' --export-json " + folder.file("a.json"),
            {"echo 5", "echo 5"});
  CHECK(lauka({"--from", folder.file("a.json"), "--fail-if", "v > 90"})
            .err_has("new gates cause more false alarms"));
  CHECK_FALSE(
      completed({"--from", folder.file("a.json")}).err_has("new gates cause more false alarms"));
}

TEST_CASE("a session has an identity, and labels from git and from the command line") {
  const Folder folder;
  const auto session_of = [&](std::vector<std::string> words) {
    Start start;
    start.folder = folder.path();
    start.environment = {{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_CEILING_DIRECTORIES", "/"}};
    start.arguments = {"-q", "-r1", "--export-json", "-"};
    start.arguments.insert(start.arguments.end(), words.begin(), words.end());
    start.arguments.insert(start.arguments.end(), {"--", "true"});
    const Said said = completed(start);
    return json::parse(said.out).at("lauka");
  };
  const json bare = session_of({});
  CHECK(bare.at("labels") == json::object());
  CHECK(bare.at("session_id").get<std::string>().size() == 36);
  CHECK(bare.at("session_id") != session_of({}).at("session_id"));
  CHECK(bare.at("machine").at("class").get<std::string>().size() == 16);
  Start git;
  git.before = {"sh", "-c",
                "cd \"$0\" && git init -q -b trunk && echo 1 >file && git add file && "
                "git -c user.name=a -c user.email=b commit -qm it && git rev-parse HEAD >.git/it",
                folder.path()};
  completed(git);
  std::string commit = text_of(folder.file(".git/it"));
  commit.pop_back();
  CHECK(session_of({}).at("labels") ==
        json{{"commit", commit}, {"branch", "trunk"}, {"dirty", "no"}});
  std::ofstream(folder.file("file")) << "2\n";
  CHECK(session_of({"--label", "branch=mine", "--label", "a=b c"}).at("labels") ==
        json{{"branch", "mine"}, {"a", "b c"}, {"commit", commit}, {"dirty", "yes"}});
  CHECK(session_of({"--no-git", "--label", "x="}).at("labels") == json{{"x", ""}});
}

// One run has no interval, so that chance cannot make a difference significant, next to which
// nothing is said.
TEST_CASE("A/A: the same file with the same arguments is reported without an export, too") {
  const Folder folder;
  const std::string burn = fixture("burn");
  const std::string copy = folder.file("burn");
  std::filesystem::copy_file(burn, copy);
  const auto is_reported = [](const std::vector<std::string>& words) {
    std::vector<std::string> all{"-v", "-r1"};
    all.insert(all.end(), words.begin(), words.end());
    return lauka(all).err_has("the program and its arguments are identical");
  };
  CHECK(is_reported({burn + " 1ms", burn + " 1ms"}));
  CHECK(is_reported({burn + " 1ms", copy + " 1ms"}));
  const auto shell = lauka({"-v", "-r1", "-S", burn + " 1ms", burn + " 1ms"});
  CHECK(shell.err_has("the file that is run and its arguments are the same as those of "));
  CHECK_FALSE(is_reported({burn + " 1ms", burn + " 2ms"}));
  std::ofstream(copy, std::ios::app) << '\n';
  CHECK_FALSE(is_reported({burn + " 1ms", copy + " 1ms"}));
  CHECK_FALSE(
      is_reported({"-L", "of", "a,b", "--setup", "echo {of} >" + folder.file("x"), burn + " 1ms"}));
}

TEST_CASE("A/A: the same program under two names is noticed, and of a wrapper less is said") {
  const Folder folder;
  const std::string burn = fixture("burn");
  std::filesystem::copy_file(burn, folder.file("old"));
  std::filesystem::copy_file(burn, folder.file("new"));
  const auto said_of = [](const std::vector<std::string>& commands) {
    return lauka("-v -r1 --metrics peak_rss", commands);
  };
  CHECK(said_of({folder.file("old") + " 1ms", folder.file("new") + " 1ms"})
            .err_has("the program (apart from its name) and its arguments are identical"));
  const Said wrapped = said_of({"env " + burn + " 1ms", "env " + burn + " 1ms"});
  CHECK(wrapped.err_has("the file that is run and its arguments are the same as those of "));
  CHECK_FALSE(wrapped.err_has("identical"));
  std::ofstream(folder.file("new"), std::ios::app) << '\n';
  CHECK_FALSE(said_of({folder.file("old") + " 1ms", folder.file("new") + " 1ms"})
                  .err_has("its arguments are identical to those of"));
}

TEST_CASE("A/A: a script whose text has changed since the baseline is another program") {
  const Folder folder;
  const std::string script = folder.file("it.sh");
  std::ofstream(script) << "echo 1\n";
  const std::string file = folder.file("b.json");
  completed("-q -r1 --metrics peak_rss --export-json " + file, {"sh " + script});
  const auto is_same = [&] {
    return completed("-v -r1 --metrics peak_rss --baseline " + file, {"sh " + script})
        .err_has("the file that is run and its arguments are the same as those of ");
  };
  std::ofstream(script) << "echo 2\n";
  CHECK_FALSE(is_same());
  std::ofstream(script) << "echo 1\n";
  // A significant difference by chance would hide it.
  CHECK((is_same() || is_same() || is_same()));
}

TEST_CASE("--baseline: other jobs make a gate inconclusive, and other circumstances are named") {
  const Folder folder;
  const std::string file = folder.file("b.json");
  completed("-q -r12 " + kScrape + " --export-json " + file, {"echo 50"});
  const std::string now = folder.file("now.json");
  const Said said = lauka("-r12 " + kScrape + " --baseline " + file + " --export-json " + now +
                              " --fail-if 'v > 1' --env A=secret --input /dev/null --jobs 2",
                          {"echo 50"});
  CHECK(said.status == 0);
  CHECK(said.out_has("inconclusive"));
  CHECK(said.out_has("--jobs: 1 for "));
  CHECK(said.err_has("--env 'none' instead of 'A=#"));
  CHECK_FALSE(said.err_has("secret"));
  const json document = json::parse(text_of(now));
  check_schema(document);
  const json& gate = document.at("lauka").at("gates").at(0);
  CHECK(gate.at("obstacle") == "other_settings");
  CHECK(gate.at("differences").at(0) ==
        json{{"setting", "jobs"}, {"reference", "1"}, {"candidate", "2"}});

  // The same when it is shown again, and when two files are compared.
  CHECK(completed({"--from", now}).out_has("--jobs: 1 for "));
  const Said joined = lauka({"--from", file, now, "--fail-if", "v > 1"});
  CHECK(joined.out_has("inconclusive"));
  CHECK(joined.out_has("--jobs: 1 for "));
  CHECK(joined.err_has("--env"));
}

TEST_CASE("--from: two files of one session are noticed") {
  const Folder folder;
  const std::string file = folder.file("a.json");
  completed("-q -r3 --export-json " + file, {"true"});
  std::filesystem::copy_file(file, folder.file("copy.json"));
  CHECK(completed({"--from", file, folder.file("copy.json")})
            .err_has("'" + file + "' and '" + folder.file("copy.json") + "' are the same session"));
}

TEST_CASE("--from: a gate between two files of one session is inconclusive") {
  const Folder folder;
  const std::string file = folder.file("a.json");
  const std::string copy = folder.file("copy.json");
  const std::string result = folder.file("result.json");
  completed("-q -r12 --scrape v=([0-9]+) --export-json " + file, {"echo v=50"});
  std::filesystem::copy_file(file, copy);
  const Said twice = lauka({"--from", file, copy, "--fail-if", "v > 5", "--export-json", result,
                            "--fail-if-inconclusive"});
  CHECK(twice.status == 4);
  CHECK(twice.out_has("v > 5%: inconclusive: both sides are the same runs of one session"));
  CHECK(has(text_of(result), "same_runs"));
}

TEST_CASE("A/A: a candidate that is the reference's program is reported, in any folder") {
  const std::string alike = "its arguments are identical to those of";
  const Folder folder;
  const std::string program = text_of(fixture("burn"));
  for (const char* name : {"a", "b", "c"}) {
    std::filesystem::create_directory(folder.file(name));
    std::ofstream(folder.file(name) + "/it") << program << (*name == 'c' ? "\n" : "");
    std::filesystem::permissions(folder.file(name) + "/it", std::filesystem::perms::all);
  }
  const auto it = [&](const char* name, const char* time) {
    return folder.file(name) + "/it " + time;
  };
  const std::string file = folder.file("it.json");
  completed("-r1 --export-json " + file + " --export-html " + folder.file("it.html"),
            {it("a", "1ms"), it("b", "1ms"), it("b", "2ms"), it("c", "1ms")});
  const json document = json::parse(text_of(file));
  check_schema(document);
  std::vector<std::size_t> same;
  for (const json& warning : document.at("lauka").at("warnings"))
    if (warning.at("kind") == "same_programs") same.push_back(warning.at("command"));
  CHECK(same == std::vector<std::size_t>{1});
  CHECK(has(text_of(folder.file("it.html")), alike));
  const auto hash_of = [&](std::size_t command, const char* what) {
    return document.at("results").at(command).at("lauka").at(what);
  };
  CHECK(hash_of(1, "executable_sha256") == hash_of(2, "executable_sha256"));
  CHECK(hash_of(1, "call_sha256") != hash_of(2, "call_sha256"));
  CHECK(hash_of(1, "executable_sha256") != hash_of(3, "executable_sha256"));
  Start sum;
  sum.before = {"sh", "-c", R"(sha256sum "$0" >"$0.sum")", folder.file("a") + "/it"};
  completed(sum);
  CHECK(text_of(folder.file("a") + "/it.sum").substr(0, 64) ==
        hash_of(0, "executable_sha256").get<std::string>());
  // Read again, and as a baseline's.
  CHECK(lauka({"--from", file}).err_has(alike));
  const std::string against = folder.file("against.json");
  REQUIRE(lauka({"-v", "-r1", "--baseline", file, "--export-json", against, "-n", it("a", "1ms"),
                 "--", it("b", "1ms")})
              .err_has(alike));
  CHECK(lauka({"-v", "--from", against}).err_has(alike));
  // A shell's file is not the program; a setup's product is hashed after it.
  const Said built =
      lauka({"-r1", "-q", "--setup", "cp " + folder.file("{of}") + "/it " + folder.file("made"),
             "-L", "of", "a,c", "--export-json", "-", "--", folder.file("made") + " 1ms"});
  const json made = json::parse(built.out);
  CHECK(made.at("results").at(0).at("lauka").at("executable_sha256") ==
        hash_of(0, "executable_sha256"));
  CHECK(made.at("results").at(1).at("lauka").at("executable_sha256") ==
        hash_of(3, "executable_sha256"));
  const json shell = json::parse(lauka("-r1 -q -S --export-json -", {"true"}).out);
  CHECK_FALSE(shell.at("results").at(0).at("lauka").contains("executable_sha256"));
}

TEST_CASE("--from: hyperfine's files and standard input are read") {
  for (const char* file : {"hyperfine-1.json", "hyperfine-2.json"}) {
    CAPTURE(file);
    const Said said = completed({"--from", data(file)});
    CHECK(said.out_has("wall_time"));
  }
  const Folder folder;
  save(folder.file("a.json"), {{"old", times_of(1.0)}});
  const Said piped = completed({.before = {"sh", "-c", R"(cat "$0" | "$@")", folder.file("a.json")},
                                .arguments = {"--from", "-"}});
  CHECK(piped.out_has("Benchmark 1 (10 runs): old"));
}

TEST_CASE("--from: what has no effect or does not fit is one line and status 2") {
  const Folder folder;
  save(folder.file("a.json"), {{"old", times_of(1.0)}});
  save(folder.file("b.json"), {{"new", times_of(1.0)}}, "here",
       R"({"metrics": [{"name": "rate", "unit": "1"}]})");
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"--from", folder.file("a.json")});
    const std::string said = refusal(words);
    return said;
  };
  CHECK(refused({"-r3"}) == "lauka: --from runs nothing, so --runs has no effect; leave it out\n");
  for (const auto& [words, culprit] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--label", "a=b"}, "--label"},
           {{"--engine", "none"}, "--engine"},
           {{folder.file("no.json")}, folder.file("no.json")},
           {{"--reference", "x"}, "--reference 'x'"},
           {{"-n", "a", "-n", "b"}, "(-n)"},
           {{"--metrics", "cycles"}, "'cycles'"},
           {{"--fail-if-slower=5"}, "--fail-if-slower"},
           {{"--reference", "old", "--baseline", folder.file("a.json")}, "--baseline"}}) {
    const std::string said = refused(words);
    CAPTURE(said);
    CHECK(has(said, culprit));
    CHECK(lines_of(said).size() == 1);
  }
}

// --baseline, with files of lauka and of both versions of hyperfine.

using nlohmann::json;

TEST_CASE("a candidate is compared with the runs of an earlier file, and gated against them") {
  const Folder folder;
  const std::string old = folder.file("old.json");
  completed("-q -r10 -n it " + kScrape + " --export-json " + old, {"echo 50"});
  const Said worse = lauka("-r10 -n it " + kScrape + " --baseline " + old +
                               " --fail-if 'v > 20' --export-json " + folder.file("new.json"),
                           {"echo 100"});
  CHECK(worse.status == 3);
  CHECK(worse.out_has("Deltas are relative to " + old + ", which was measured earlier.\n"));
  CHECK(worse.out_has("v > 20%: fail: "));
  const json document = json::parse(text_of(folder.file("new.json")));
  check_schema(document);
  const auto warnings = kinds_of_warnings(document);
  CHECK(warnings.contains("baseline"));
  CHECK_FALSE(warnings.contains("foreign_baseline"));
  CHECK(document.at("lauka").at("paired") == false);
  CHECK(document.at("lauka").at("baseline").at("commands") == json({"it"}));
  CHECK(document.at("lauka").at("gates").at(0).at("command") == 0);
  const Said better = completed({"-q", "-r10", "-n", "it", kScrape, "--baseline", old, "--fail-if",
                                 "v > 20", "--", "echo 30"});
  CHECK(better.out_has("v > 20%: pass: "));
}

TEST_CASE("what is another machine, kernel, processor or lauka than the baseline's is named") {
  const Folder folder;
  completed("-q -r2 --export-json " + folder.file("a.json"), {"true"});
  json document = json::parse(text_of(folder.file("a.json")));
  document["lauka"]["machine"]["name"] = "elsewhere";
  document["lauka"]["machine"]["kernel"] = "0.01";
  document["lauka"]["machine"]["cpu_model"] = "8086";
  document["lauka"]["version"] = "0.0.1";
  std::ofstream(folder.file("b.json")) << document;
  const Said said = lauka("-r5 --baseline " + folder.file("b.json"), {"true"});
  for (const char* there :
       {"machine 'elsewhere'", "kernel '0.01'", "processor '8086'", "lauka '0.0.1'"})
    CHECK_MESSAGE(said.err_has(there), there);
}

TEST_CASE("hyperfine's files are baselines of wall time, of either version") {
  for (const char* file : {"hyperfine-1.json", "hyperfine-2.json"}) {
    CAPTURE(file);
    const Folder folder;
    const std::string now = folder.file("now.json");
    const Said said = lauka({"-r5", "-n", "old", "-n", "new", "--baseline", data(file),
                             "--fail-if-slower=1000", "--export-json", now, "--", "true", "true"});
    // Which answer depends on how long a start of a program takes here.
    CHECK(said.out_has("old: wall_time > 1000%: "));
    CHECK(said.out_has("new: wall_time > 1000%: "));
    CHECK(kinds_of_warnings(json::parse(text_of(now))).contains("foreign_baseline"));
  }
}

TEST_CASE("a file that is not a baseline, or lacks something, is refused before anything runs") {
  const Folder folder;
  const std::string mark = folder.file("ran");
  std::ofstream(folder.file("foreign")) << "{\"benchmarks\": []}";
  const std::string touch = "touch " + mark;
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--baseline", "/nosuch", "--", touch}, "'/nosuch'"},
      {{"--baseline", folder.file("foreign"), "--", touch}, folder.file("foreign")},
      {{"--baseline", data("hyperfine-1.json"), "--", touch, touch, "third"},
       "has no command named 'third'"},
      {{"--baseline", data("hyperfine-1.json"), "--fail-if", "cpu_time > 1", "--", touch},
       "cpu_time of 'old'"},
      {{"--baseline", data("hyperfine-1.json"), "--reference", "true", "--", touch}, "--reference"},
  };
  for (const auto& [arguments, reason] : cases) {
    const std::string said = refusal(arguments);
    CAPTURE(said);
    CHECK(lines_of(said).size() == 1);
    CHECK(has(said, reason));
  }
  CHECK_FALSE(std::ifstream(mark).good());
}

}  // namespace lauka::contract
