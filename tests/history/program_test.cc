#include "history/sessions.h"
#include "places.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/resource.h>
#include <unistd.h>

// The built lauka-history, as its user sees it.

namespace lauka::history {
namespace {

/// Writes sessions a.json, b.json ... of a benchmark "it" whose time changes at number `step`.
void write_sessions(const Scratch& scratch, int count, int step) {
  for (int i = 0; i < count; ++i) {
    const double wobble = 1.0 + 0.003 * ((i * 7) % 5);
    write(scratch.file(fmt::format("s{:03}.json", i)),
          json_of({i,
                   fmt::format("{:04x}0000{:032x}", i, i),
                   "CPU",
                   {{"it", times_of(i >= step ? 1.2 * wobble : wobble)}}}));
  }
}

}  // namespace

TEST_CASE("lauka-history: sessions are added, listed, shown, checked, exported and forgotten") {
  const Scratch scratch;
  write_sessions(scratch, 30, 20);
  for (const std::string& where : databases(scratch)) {
    CAPTURE(where);
    const std::string db = " --db '" + where + "'";
    const Said added = history("add" + db + " " + scratch.path() + "/*.json");
    CHECK(added.err.empty());
    CHECK(added.status == 0);
    CHECK(added.out.starts_with("30 sessions added to "));
    CHECK(history("add" + db + " " + scratch.path() + "/*.json")
              .out.ends_with(", 30 there already\n"));
    CHECK(lines_in(history("list --last 5" + db).out) == 6);
    CHECK(lines_in(history("show it" + db).out) == 33);
    const std::string list = history("list --last 1" + db).out;
    CHECK(list.substr(list.find('\n') + 1).find(' ') == 8);  // a short id
    const Said wrong = history("show itt" + db);
    CHECK(has(wrong.err, "no benchmark 'itt'; did you mean it?"));
    CHECK(
        has(history("show it --metric wall_tim" + db).err, "'wall_tim'; did you mean wall_time?"));
    CHECK(has(history("show it --machine zz" + db).err, "there is no machine of class 'zz'; "));
    CHECK(has(history("show it" + db).out, "  step "));
    const Said steps = history("--db '" + where + "' steps");
    CHECK(steps.status == 0);
    CHECK(has(steps.out, "at 00140000"));
    const Said check = history("check it" + db);
    CHECK(check.status == 3);
    CHECK(history("check --commit 0014" + db).status == 3);
    CHECK(history("check --branch main" + db).status == 3);
    const Said elsewhere = history("check --branch other" + db);  // nothing to check is no pass
    CHECK(elsewhere.status == 1);
    CHECK(has(elsewhere.err, "there are no sessions of the branch 'other'"));
    const std::string step =
        steps.out.substr(steps.out.find("\n  ", steps.out.find("machine")) + 3, 8);
    CHECK(history("ack " + step + " --note 'as it should be'" + db).status == 0);
    CHECK(history("check" + db).status == 0);
    CHECK(has(history("steps" + db).out, "acknowledged: as it should be"));
    CHECK(has(history("ack 00000000 --note x" + db).err, "has no step '00000000'"));
    for (const char* const format : {"csv", "benchfmt", "otava", "jsonl", "bmf"}) {
      CAPTURE(format);
      const Said table = history(std::string("export ") + format + db);
      CHECK(table.status == 0);
      CHECK(lines_in(table.out) > 5);
    }
    const Said otava = history("export otava" + db);
    CHECK(lines_in(otava.out) == 31);
    CHECK(otava.out.find("time,commit,branch,it.wall_time@") == 0);
    CHECK(nlohmann::json::parse(history("export bmf" + db).out).at("it").contains("wall_time"));
    const std::string page = scratch.file("page.html");
    CHECK(history("page " + page + " --commit-url 'https://host/c/{}?a=1&b'" + db).out ==
          "wrote " + page + "\n");
    CHECK(has(text_of(page), "<a href=\"https://host/c/00140000"));
    CHECK(has(text_of(page), "?a=1&amp;b\""));
    CHECK(has(text_of(page), "\n:root { color-scheme: light dark;"));  // the style of all pages
    CHECK(history("forget --commit 0014" + db).out == "1 session forgotten\n");
    CHECK(history("forget --before 2030-01-01" + db).out == "29 sessions forgotten\n");
  }
}

TEST_CASE("lauka-history page: opens with regressions and improvements, linked to their cards") {
  const Scratch scratch;
  for (int i = 0; i < 30; ++i) {
    const double wobble = 1.0 + 0.003 * ((i * 7) % 5);
    write(scratch.file(fmt::format("s{:03}.json", i)),
          json_of({i,
                   fmt::format("c{:02}", i),
                   "CPU",
                   {{"calm", times_of(wobble)},
                    {"better", times_of(i >= 10 ? 0.7 * wobble : wobble)},
                    {"worse", times_of(i >= 20 ? 1.2 * wobble : wobble)}}}));
  }
  const std::string db = " --db " + scratch.file("h.db");
  REQUIRE(history("add" + db + " " + scratch.path() + "/*.json").status == 0);
  REQUIRE(history("page " + scratch.file("page.html") + db).status == 0);
  const std::string page = text_of(scratch.file("page.html"));
  check_order(page, {"machine ",
                     "<p class=\"answer worse\">1 regression, 1 improvement</p>",
                     "<table class=\"changes\">",
                     ">worse, wall_time</a></th><td class=\"worse\">+20.0%",
                     "<td>c20</td><td class=\"more\">2026-01-01 03:20</td><td>regression</td>",
                     ">better, wall_time</a></th><td class=\"better\">−30.0%",
                     "<td>improvement</td>",
                     "<p class=\"filter\" hidden>",
                     "<nav class=\"index\"",
                     "<b>worse, wall_time</b>",
                     "<span class=\"worse\">+20.0%",
                     "<b>better, wall_time</b>",
                     "<span class=\"better\">−30.0%",
                     "<b>calm, wall_time</b>",
                     "<h2>worse, wall_time</h2>",
                     ">c00</text>",
                     ">2026-01-01</text>",
                     ">c29</text>",
                     "<h2>better, wall_time</h2>",
                     "<h2>calm, wall_time</h2>"});
  CHECK(page.find("machine ") == page.rfind("machine "));  // named once
  const std::string link = page.substr(page.find("<a href=\"#") + 10, 2);
  CHECK(has(page, "id=\"" + link + "\""));
}

TEST_CASE("lauka-history page: what several machines found of one commit is a forest plot") {
  const Scratch scratch;
  int number = 0;
  for (const auto& [machine, change] : {std::pair("A & B", 1.1), std::pair("C", 1.2)})
    for (const char* const commit : {"c1", "c2"}) {
      auto times = times_of(change);
      for (std::size_t i = 0; i < times.size(); ++i) times[i] *= i % 2 == 0 ? 1.001 : 0.999;
      write(scratch.file(fmt::format("{}.json", number)),
            json_of({number, commit, machine, {{"old", times_of(1.0)}, {"new", times}}}));
      ++number;
    }
  write(scratch.file("alone.json"),
        json_of({number, "c3", "C", {{"old", times_of(1.0)}, {"new", times_of(1.0)}}}));
  const std::string db = " --db " + scratch.file("h.db");
  REQUIRE(history("add" + db + " " + scratch.path() + "/*.json").status == 0);
  REQUIRE(history("page " + scratch.file("page.html") + db).status == 0);
  const std::string page = text_of(scratch.file("page.html"));
  const std::size_t begin = page.find("On several classes of machines");
  REQUIRE(begin != std::string::npos);
  const std::string section = page.substr(begin, page.find("</section>", begin) - begin);
  CHECK(has(section, "<h3>new, wall_time</h3>"));
  CHECK(has(section, "the reference at c2<"));  // c3 is one machine's
  CHECK(has(section, "A &amp; B"));
  CHECK(has(section, "+9.9999"));
  CHECK(has(section, "+19.9999"));
  CHECK(has(section, "all of them"));
  CHECK(has(section, "with only 2 machines this is uncertain"));
  CHECK_FALSE(has(section, "<h3>old"));
  const Said one = history("page " + scratch.file("one.html") + " --machine nosuch" + db);
  CHECK(one.status == 1);
}

TEST_CASE("lauka-history add: a bad file is named, the others are added") {
  const Scratch scratch;
  write_sessions(scratch, 2, 9);
  write(scratch.file("bad.json"), "{}");
  const Said said = history(fmt::format(
      "add --db {0}/h.db {0}/s000.json {0}/bad.json {0}/none.json {0}/s001.json", scratch.path()));
  CHECK(said.status == 1);
  CHECK(said.out.starts_with("2 sessions added to "));
  CHECK(said.out.ends_with(", 2 refused\n"));
  CHECK(lines_in(said.err) == 2);
  CHECK(has(said.err, "/bad.json': is not "));
  CHECK(has(said.err, "/none.json': cannot "));
}

TEST_CASE("lauka-history: what is wrong with a command line is one line, and the status is 2") {
  for (const std::string words : {"",
                                  "ad",
                                  "add",
                                  "show a b",
                                  "list --bogus",
                                  "list --last 0",
                                  "list --last x",
                                  "ack 12345678",
                                  "export xml",
                                  "forget",
                                  "forget ''",
                                  "forget 1 --commit 2",
                                  "combine",
                                  "diff a.json",
                                  "page x.html --commit-url https://host/",
                                  "page x.html --commit-url 'javascript:{}'",
                                  "combine x --fail-if-worse -1",
                                  "combine x --each-machine",
                                  "combine x --machine 1f",
                                  "combine x --commit 1f",
                                  "steps --against it",
                                  "list --db",
                                  "show a --metri wall_time"}) {
    CAPTURE(words);
    const Said said = history(words);
    CHECK(said.status == 2);
    CHECK(said.out.empty());
    CHECK(lines_in(said.err) == 1);
    CHECK(said.err.find("lauka-history: ") == 0);
    CHECK(has(said.err, "; "));
  }
}

TEST_CASE("lauka-history: each command has --help") {
  CHECK(history("--help").out.find("Usage: lauka-history COMMAND") == 0);
  CHECK(history("--version").out.find("lauka-history ") == 0);
  for (const std::string command : {"add", "list", "show", "steps", "check", "ack", "combine",
                                    "diff", "page", "export", "forget"}) {
    CAPTURE(command);
    const Said said = history(command + " --help");
    CHECK(said.status == 0);
    CHECK(said.out.find("Usage: lauka-history " + command) == 0);
    CHECK(has(said.out, "--db"));
    std::istringstream lines(said.out);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  }
}

TEST_CASE("lauka-history: diff lists in what the second session differs from the first") {
  const Scratch scratch;
  const std::string a = scratch.file("a.json");
  const std::string b = scratch.file("b.json");
  write(a, json_of({1, "abc", "CPU", {{"it", times_of(1.0)}, {"old", times_of(1.0)}}}));
  nlohmann::json document = nlohmann::json::parse(text_of(a));
  document["results"][0]["lauka"]["settings"] = {{"nice", "0"},
                                                 {"libraries", "libc.so.6=11 libm.so.6=22"}};
  write(a, document.dump());
  document["results"][0]["lauka"]["settings"] = {{"nice", "5"},
                                                 {"libraries", "libc.so.6=11 libm.so.6=33"}};
  document["results"][1]["name"] = document["results"][1]["command"] = "new";
  document["lauka"]["machine"]["cpu_model"] = "8086";
  write(b, document.dump());

  const Said said = history("diff " + a + " " + b);
  CHECK(said.status == 0);
  CHECK(said.err.empty());
  check_order(
      said.out,
      {"'" + b + "' differs from '" + a + "' in:\n", "  processor '8086' instead of 'CPU'\n",
       "  libraries (libm.so.6 build 33 instead of build 22) ('it')\n",
       "  nice value '5' instead of '0' ('it')\n", "The command 'new' is not in '" + a + "'"});

  const Said same = history("diff " + a + " " + a);
  CHECK(same.status == 0);
  CHECK(same.out ==
        "'" + a + "' does not differ from '" + a + "' in anything that both files record.\n");
  CHECK(history("diff " + a + " nosuch.json").status == 1);
}

TEST_CASE("lauka-history: files that cannot be read make no database") {
  const Scratch scratch;
  write(scratch.file("bad.json"), "{}");
  const std::string database = scratch.file("new.db");
  const Said said = history("add --db " + database + " nosuch.json " + scratch.file("bad.json"));
  CHECK(said.status == 1);
  CHECK(has(said.err, "'nosuch.json'"));
  CHECK(has(said.err, "bad.json'"));
  CHECK_FALSE(std::filesystem::exists(database));
}

TEST_CASE("lauka-history: shells read its completions, and bash offers what fits") {
  const Scratch scratch;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    CAPTURE(shell);
    write(scratch.file(shell), history("--completions " + shell).out);
    CHECK_FALSE(text_of(scratch.file(shell)).empty());
    if (std::system(("command -v " + shell + " >/dev/null").c_str()) == 0)
      CHECK(std::system((shell + " -n " + scratch.file(shell)).c_str()) == 0);
  }
  write(scratch.file("lauka.db"), "");
  const auto offers = [&](const std::string& words) {
    write(scratch.file("try"),
          fmt::format("PATH={}:$PATH\nsource {}\ncd "
                      "{}\nCOMP_WORDS=({})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
                      "_lauka_history\necho \"${{COMPREPLY[*]}}\"\n",
                      std::filesystem::path(places::kProgram).parent_path().string(),
                      scratch.file("bash"), scratch.path(), words));
    REQUIRE(std::system(
                fmt::format("bash {} > {}", scratch.file("try"), scratch.file("out")).c_str()) ==
            0);
    return text_of(scratch.file("out"));
  };
  CHECK(offers("lauka-history st") == "steps\n");
  CHECK(offers("lauka-history steps --ag") == "--against\n");
  CHECK(offers("lauka-history add --ag") == "\n");
  CHECK(offers("lauka-history add -") == "--db -h --help\n");
  CHECK(offers("lauka-history show --role c") == "candidate\n");
  CHECK(offers("lauka-history show --role = ''") == "reference candidate anchor all\n");
  CHECK(offers("lauka-history list --db lauka.") == "lauka.db\n");
  write(scratch.file("c[1].json"), "");
  write(scratch.file("c1.json"), "");
  CHECK(has(offers("lauka-history add c"), "c[1].json"));
  CHECK(offers("lauka-history export b") == "benchfmt bmf\n");
  write(scratch.file("run.json"), json_of({0, "abc", "CPU", {{"two words", times_of(1.0)}}}));
  CHECK(history("add --db " + scratch.file("lauka.db") + " " + scratch.file("run.json")).status ==
        0);
  CHECK(offers("lauka-history show --db lauka.db ''") == "two\\ words\n");
  CHECK(offers("lauka-history show --db = lauka.db tw") == "two\\ words\n");
  CHECK(history("--completions tcsh").status == 2);
}

TEST_CASE("lauka-history: a database that cannot be used is named in one line") {
  const Scratch scratch;
  write_sessions(scratch, 1, 9);
  write(scratch.file("text.db"), std::string(5000, 'x'));
  const auto refused = [&](const std::string& words, const std::string& what) {
    CAPTURE(words);
    const Said said = history(words);
    CHECK(said.status == 1);
    CHECK(lines_in(said.err) == 1);
    CHECK(said.err.find("lauka-history: the database '") == 0);
    CHECK_MESSAGE(has(said.err, what), said.err);
  };
  const std::string file = " " + scratch.file("s000.json");
  refused("list --db " + scratch.file("none.db"), "does not exist; run lauka-history add FILE...");
  CHECK_FALSE(std::filesystem::exists(scratch.file("none.db")));
  refused("list --db " + scratch.file("text.db"), "file is not a database");
  refused("add --db " + scratch.file("text.db") + file, "file is not a database");
  refused("add --db /nowhere/h.db" + file, "unable to open database file");
  refused("add --db postgresql://u:secret@/x?host=" + scratch.path() + file,
          "the database 'postgresql:///x': cannot be reached: connection to server on socket");
}

TEST_CASE("lauka-history show: without a benchmark it lists them") {
  const Scratch scratch;
  write_sessions(scratch, 1, 9);
  const std::string db = " --db " + scratch.file("h.db");
  REQUIRE(history("add" + db + " " + scratch.file("s000.json")).status == 0);
  const Said shown = history("show" + db);
  CHECK(shown.status == 0);
  CHECK(shown.out == history("list --benchmarks" + db).out);
  CHECK(has(shown.out, "\nit "));
}

TEST_CASE("lauka-history: a history is read without the right to write to its file and folder") {
  const Scratch scratch;
  write_sessions(scratch, 8, 9);
  const std::string folder = scratch.file("kept");
  std::filesystem::create_directory(folder);
  const std::string db = " --db " + folder + "/h=%.db";
  REQUIRE(history("add" + db + " " + scratch.path() + "/*.json").status == 0);
  using std::filesystem::perms;
  std::filesystem::permissions(folder + "/h=%.db", perms::owner_read);
  std::filesystem::permissions(folder, perms::owner_read | perms::owner_exec);
  // Root may write in spite of that, unless it gives the right up.
  const std::string reader =
      geteuid() == 0 ? "setpriv --bounding-set=-dac_override,-dac_read_search" : "";
  for (const char* const command : {"list", "show it", "steps", "check", "export csv"}) {
    CAPTURE(command);
    const Said said = history(command + db, reader);
    CHECK(said.err == "");
    CHECK(said.status == 0);
    CHECK_FALSE(said.out.empty());
  }
  CHECK(history("forget --commit 0001" + db, reader).status == 1);
  std::filesystem::permissions(folder, perms::owner_all);
}

TEST_CASE("lauka-history check: names a history that a kernel update has split") {
  const Scratch scratch;
  const auto session = [](int number, const std::string& machine) {
    return json_of(
        {.number = number,
         .commit = fmt::format("c{:02}", number),
         .commands = {{"it", times_of(1.0)}, {"other", times_of(2.0)}},
         .more = R"({"machine": {"name": "host", "system": "Linux", )" + machine + "}}"});
  };
  for (int i = 0; i < 4; ++i)
    write(scratch.file(fmt::format("s{}.json", i)),
          session(i, i < 2 ? R"("cpu_model": "CPU", "kernel": "6.1.0-1")"
                           : R"("cpu_model": "CPU", "kernel": "6.1.0-2")"));
  const std::string db = " --db " + scratch.file("h.db");
  REQUIRE(history("add" + db + " " + scratch.path() + "/*.json").status == 0);
  const Said check = history("check" + db);
  CHECK(check.status == 0);
  CHECK(has(check.out, "note: the histories of 2 commands are split at 2026-01-01 00:20"));
  CHECK(has(check.out, "(kernel 6.1.0-2 instead of 6.1.0-1)"));
  CHECK(has(history("show it" + db).out, "note: the history of 'it' is split"));

  // Another processor is another machine, and what is measured at the same time is not a split.
  write(scratch.file("s9.json"), session(9, R"("cpu_model": "B", "kernel": "6.1.0-2")"));
  REQUIRE(history("add" + db + " " + scratch.file("s9.json")).status == 0);
  CHECK(lines_in(history("check" + db).out) == lines_in(check.out));
}

TEST_CASE("lauka-history: a database keeps its history when the processor's model becomes known") {
  const Scratch scratch;
  for (int i = 0; i < 4; ++i)
    write(scratch.file(fmt::format("s{}.json", i)),
          json_of({.number = i,
                   .commit = fmt::format("c{:02}", i),
                   .commands = {{"it", times_of(1.0)}},
                   .more = R"({"machine": {"name": "host", "cpu_model": "CPU")" +
                           std::string(i < 2 ? ""
                                             : R"(, "cpu_identity": "family 25", )"
                                               R"("cpu_features": "avx2")") +
                           "}}"}));
  const std::string db = " --db " + scratch.file("h.db");
  REQUIRE(history("add" + db + " " + scratch.path() + "/*.json").status == 0);
  const Said shown = history("show it" + db);
  CHECK(has(shown.out, "c00"));
  CHECK(has(shown.out, "c03"));
  CHECK(has(shown.out, "lauka now tells processors with the same name apart"));
}

TEST_CASE(
    "lauka-history: sessions with other settings are a history of their own, and add says so") {
  const Scratch scratch;
  for (int i = 0; i < 4; ++i)
    write(scratch.file(fmt::format("s{}.json", i)),
          json_of({.number = i,
                   .commit = fmt::format("c{:02}", i),
                   .commands = {{"it", times_of(i < 2 ? 1.0 : 2.0)}},
                   .more = i < 2 ? "" : R"({"jobs": 2})"}));
  const std::string db = " --db " + scratch.file("h.db");
  const Said added = history("add" + db + " " + scratch.path() + "/*.json");
  REQUIRE(added.status == 0);
  CHECK(has(added.out,
            "note: 'it' was measured with other settings, so it has a separate history for them: "
            "'it (--jobs 2)'"));
  const std::string usual = history("show it" + db).out;
  CHECK(has(usual, "c01"));
  CHECK_FALSE(has(usual, "c02"));
  CHECK(has(history("show 'it (--jobs 2)'" + db).out, "c02"));
}

TEST_CASE("lauka-history: a metric that was sampled in another way is a series of its own") {
  const Scratch scratch;
  for (int i = 0; i < 6; ++i) {
    // Older files do not say how it was sampled.
    const std::string sampled =
        i < 2 ? ""
              : fmt::format(R"(, "sampled": {{"clock": "cycles", "period_ns": {}}})",
                            i < 4 ? 1'000'000 : 200'000);
    write(scratch.file(fmt::format("s{}.json", i)),
          json_of({.number = i,
                   .commit = fmt::format("c{:02}", i),
                   .commands = {{"it", times_of(1.0)}},
                   .more = R"({"metrics": [{"name": "wall_time", "unit": "s", "better": "less")" +
                           sampled + "}]}"}));
  }
  const std::string db = " --db " + scratch.file("h.db");
  REQUIRE(history("add" + db + " " + scratch.path() + "/*.json").status == 0);
  const std::string shown = history("show it" + db).out;
  check_order(shown, {"it, wall_time (sampling period 1ms)", "c00", "c03",
                      "it, wall_time (sampling period 200µs)", "c04", "c05"});
}

TEST_CASE("lauka-history: what is not a database file is refused at once and left alone") {
  const Scratch scratch;
  write_sessions(scratch, 1, 9);
  write(scratch.file("text.db"), std::string(5000, 'x'));
  const std::string file = " " + scratch.file("s000.json");
  std::filesystem::create_directory(scratch.file("folder"));
  for (const std::string& where : {std::string("/dev/null"), scratch.file("folder")}) {
    CAPTURE(where);
    for (const std::string command : {"list", "add"}) {
      const Said said = history(command + " --db " + where + (command == "add" ? file : ""));
      CHECK(said.status == 1);
      CHECK_MESSAGE(has(said.err, "is not a regular file; name another one with --db"), said.err);
    }
    CHECK_FALSE(std::filesystem::exists(where + "-journal"));
    CHECK_FALSE(std::filesystem::exists(where + "-wal"));
  }
  const Said text = history("add --db " + scratch.file("text.db") + file);
  CHECK_MESSAGE(has(text.err, "cannot be opened: "), text.err);
}

TEST_CASE("lauka-history: a file without an end is refused before it takes memory") {
  for (const std::string words : {"combine /dev/zero", "add --db none.db /dev/zero"}) {
    const Scratch scratch;
    const Said said = history(words, fmt::format("cd {};", scratch.path()));
    CHECK(said.status == 1);
    CHECK_MESSAGE(has(said.err, "'/dev/zero': is too large to be read"), said.err);
    rusage used{};
    REQUIRE(getrusage(RUSAGE_CHILDREN, &used) == 0);
    CHECK(used.ru_maxrss < 500'000);  // kB, the largest of all that the tests started
  }
}

TEST_CASE("lauka-history add: if no thread can be started, the files are read all the same") {
  const Scratch scratch;
  write_sessions(scratch, 40, 99);
  // Stacks of a petabyte make every thread fail.
  const Said said = history("add --db " + scratch.file("h.db") + " " + scratch.path() + "/*.json",
                            "ulimit -s 1099511627776;");
  CHECK_MESSAGE(said.out.starts_with("40 sessions added to "), said.err);
}

TEST_CASE("lauka-history combine: sessions of several commits on one machine are reported") {
  const Scratch scratch;
  write_sessions(scratch, 3, 99);
  const std::string note = "note: sessions of 3 commits on the same machine are averaged; ";
  CHECK(has(history("combine " + scratch.path() + "/*.json").err, note));
  CHECK_FALSE(has(history("combine " + scratch.file("s000.json")).err, "note: "));
}

TEST_CASE("lauka-history: databases of a server are reached as the documentation writes them") {
  const auto served = served_by_port();
  if (!served) return;
  const Scratch scratch;
  write_sessions(scratch, 1, 9);
  write(scratch.file("pgpass"), "127.0.0.1:*:*:lauka:s3cret\\:@/?%\n");
  std::filesystem::permissions(scratch.file("pgpass"), std::filesystem::perms::owner_read);
  const std::string port = fmt::format("PGPORT={} ", served->port);
  const std::string by_variable = port + fmt::format("PGPASSWORD='{}'", kPassword);
  const std::string by_file = port + "PGPASSFILE=" + scratch.file("pgpass");
  const std::string coded = "s3cret:%40%2f%3F%25";
  const std::string place = "127.0.0.1/" + served->database;
  const std::string with_port = fmt::format("127.0.0.1:{}/{}", served->port, served->database);
  REQUIRE(
      history(fmt::format("add --db postgresql://lauka@{} {}", place, scratch.file("s000.json")),
              by_variable)
          .out.starts_with("1 session added to "));
  const auto works = [&](const std::string& address, const std::string& before) {
    CAPTURE(address);
    const Said said = history("list --db '" + address + "'", before);
    CHECK_MESSAGE(lines_in(said.out) == 2, said.err);
  };
  works("postgresql://lauka@" + place, by_variable);
  works("postgresql://lauka@" + place, by_file);
  works("postgresql://lauka:" + coded + "@" + place, port);
  works("postgres://lauka:" + coded + "@" + with_port, "");
  works("POSTGRESQL://lauka@" + with_port, by_file);
  works("postgresql://lauka@" + place + "?", by_file);
  works("postgresql://lauka@" + place + "?connect_timeout=600&", by_file);
  works("postgresql://lauka@" + place + "?sslmode=prefer&application_name=my \"tool", by_file);
  works("postgresql:///" + served->database + "?user=lauka&host=127.0.0.1&password=" + coded, port);
  works("postgresql://" + place + "?user=lauka", by_file);
  works("postgresql://" + place, "PGUSER=lauka " + by_file);
  works(
      fmt::format("postgresql://lauka@localhost:1,127.0.0.1:{}/{}", served->port, served->database),
      by_variable + " PGCONNECT_TIMEOUT=600");
}

TEST_CASE("lauka-history: libpq and what it needs are loaded for a server's address alone") {
  const Scratch scratch;
  write_sessions(scratch, 1, 9);
  const std::string add = "add " + scratch.file("s000.json") + " --db ";
  // With LD_DEBUG the dynamic linker lists on standard error what it loads.
  for (const std::string& words : {std::string("--help"), add + scratch.file("h.db")}) {
    const Said said = history(words, "LD_DEBUG=files");
    CHECK(said.status == 0);
    CHECK(has(said.err, "libsoci_core"));
    CHECK(has(said.err, "libsoci_sqlite3"));
    CHECK_FALSE(has(said.err, "libsoci_postgresql"));
    CHECK_FALSE(has(said.err, "libpq"));
  }
  // A file that is not a library is found first, as if it were missing.
  for (const std::string version : {"4.0", "4.1", "4.2"})
    write(scratch.file("libsoci_postgresql.so." + version), "no library");
  const Said none =
      history(add + "postgresql://u:geheim@host/x", "LD_LIBRARY_PATH=" + scratch.path());
  CHECK(none.status == 1);
  CHECK(lines_in(none.err) == 1);
  CHECK_MESSAGE(has(none.err,
                    "the database 'postgresql://host/x': needs SOCI's PostgreSQL backend, "
                    "libsoci_postgresql.so.4"),
                none.err);
  CHECK(has(none.err, "; install it, on Debian with apt install 'libsoci-postgresql4*'"));
}

TEST_CASE("lauka-history: no message has the password of an address, whatever is wrong with it") {
  const auto served = served_by_port();
  const std::string there = fmt::format("127.0.0.1:{}", served ? served->port : 1);
  const std::vector<std::string> addresses = {
      "postgresql://u:geheim@" + there + "/x",
      "postgresql://u:geheim@/x?host=/nowhere",
      "postgresql://" + there + "/x?user=u&password=geheim",
      "postgresql://" + there + "/x?user=u&p%61ssword=geheim&a=b",
      "postgresql://" + there + "/x?password=geheim=",
      "postgresql://" + there + "/x?geheim",
      "postgresql://u:geheim",
      "postgresql://u:geheim/x",
      "postgresql://u:geheim%zz@" + there + "/x",
      "postgresql://u:geheim%00@" + there + "/x",
      "postgresql://u:%67eheim@" + there + "/x",
      "postgresql://u:geheim@[::1/x",
      "postgresql://u:geheim@[::1]a/x",
      "postgresql://u:ge@heim@" + there + "/x",
      "postgresql://u:ge/heim@" + there + "/x",
      "postgresql://u:12/heim@" + there + "/x",
      "postgresql://u:geheim@" + there + "/x?sslmode=nosuch",
      "postgresql:/u:geheim@" + there + "/x",
      "postgresql:u:geheim@" + there + "/x",
      "POSTGRESQL://u:geheim@" + there + "/x",
      "PostgreSQL:/u:geheim@" + there + "/x",
      "postgressql://u:geheim@" + there + "/x",
      "mysql://u:geheim@" + there + "/x"};
  for (const std::string& address : addresses) {
    CAPTURE(address);
    for (const std::string command : {"list", "add x.json"}) {
      const Said said = history(command + " --db '" + address + "'", "PGCONNECT_TIMEOUT=2");
      CHECK(said.status == 1);
      CHECK(lines_in(said.err) == 1);
      CHECK_MESSAGE(said.err.find("lauka-history: the database '") == 0, said.err);
      CHECK_MESSAGE(!has(said.err, "heim"), said.err);
    }
  }
}

TEST_CASE("lauka-history add: where the disk is full nothing half-written stays") {
  const Scratch scratch;
  write_sessions(scratch, 1, 9);
  const std::string db = scratch.file("h.db");
  REQUIRE(history("add --db " + db + " " + scratch.file("s000.json")).status == 0);
  MadeSession large{.number = 7};
  for (int i = 0; i < 3000; ++i) large.commands.push_back({fmt::format("benchmark {}", i), {1.0}});
  write(scratch.file("large.json"), json_of(large));
  // A limit on files' size acts like a full disk.
  const Said said = history("add --db " + db + " " + scratch.file("large.json"), "ulimit -f 300;");
  CHECK(said.status == 1);
  CHECK(lines_in(said.err) == 1);
  CHECK(has(said.err, "before that, lauka-history had read 1 file and added 0 of them"));
  CHECK_FALSE(has(said.err, "::"));  // a name of the library's
  CHECK(lines_in(history("list --db " + db).out) == 2);
  CHECK(history("add --db " + db + " " + scratch.file("large.json")).status == 0);

  const std::string fresh = scratch.file("fresh.db");
  const std::string add = "add --db " + fresh + " " + scratch.file("s000.json");
  const Said refused = history(add, "ulimit -f 1;");
  CHECK(refused.status == 1);
  CHECK(lines_in(refused.err) == 1);
  CHECK(has(refused.err, fresh));
  CHECK(history(add).status == 0);
}

TEST_CASE("lauka-history add: many writers, killed at random, leave each session once and whole") {
  const Scratch scratch;
  constexpr int files = 12;
  for (int i = 0; i < files; ++i) {
    MadeSession session{.number = i, .commit = fmt::format("c{}", i)};
    for (int k = 0; k < 20; ++k) session.commands.push_back({fmt::format("b{}", k), {1.0}});
    write(scratch.file(fmt::format("s{:03}.json", i)), json_of(session));
  }
  for (const std::string& where : databases(scratch)) {
    CAPTURE(where);
    // Each adds file by file and records confirmed ones; some are killed meanwhile.
    const std::string script = fmt::format(
        "cd {0}; rm -f done.*; for w in 1 2 3 4 5 6 7 8; do (for f in s*.json; do timeout -s KILL "
        "0.$w \"$0\" add --db '{1}' $f >/dev/null 2>>err.$w && echo $f >>done.$w; done) & done; "
        "wait",
        scratch.path(), where);
    write(scratch.file("script"), script);
    // The program's own path is $0 of the script.
    const Said said = history("", "sh -c '. " + scratch.file("script") + "'");
    CHECK(said.status == 0);
    const std::string db = " --db '" + where + "'";
    const std::string table = history("export csv" + db).out;
    std::string confirmed;
    for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
      if (entry.path().filename().string().find("done.") == 0) confirmed += text_of(entry.path());
    for (int i = 0; i < files; ++i) {
      const std::string id = fmt::format(",00000000-0000-4000-8000-{:012x},", i);
      std::size_t count = 0;
      for (std::size_t at = table.find(id); at != std::string::npos; at = table.find(id, at + 1))
        ++count;
      const bool is_confirmed = has(confirmed, fmt::format("s{:03}.json", i));
      CHECK((count == 20 || (count == 0 && !is_confirmed)));
    }
  }
}

}  // namespace lauka::history
