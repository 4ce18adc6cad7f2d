#include "contract/program.h"

#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include <sys/stat.h>

// --cwd.

namespace lauka::contract {
namespace {

void make_folder(const std::string& path) {
  REQUIRE(mkdir(path.c_str(), 0755) == 0);
}

/// Makes the folders a and b in `folder`, and has lauka start there.
Start start_above_two(const Folder& folder) {
  make_folder(folder.file("a"));
  make_folder(folder.file("b"));
  Start start;
  start.folder = folder.path();
  return start;
}

}  // namespace

TEST_CASE("commands and hooks run in the folder of --cwd, with PWD, as after cd") {
  const Folder folder;
  Start start = start_above_two(folder);
  start.arguments = words("-r1 -w0 --order=interleaved --cwd a --cwd b -p 'pwd > prepared'",
                          {"sh -c 'echo $PWD > here'", "sh -c 'pwd -P > here'"});
  completed(start);
  CHECK(text_of(folder.file("a/here")).ends_with("/a\n"));
  CHECK(text_of(folder.file("b/here")).ends_with("/b\n"));
  CHECK(text_of(folder.file("a/prepared")) == text_of(folder.file("a/here")));
  CHECK(exists(folder.file("b/prepared")));
}

TEST_CASE("a program of a relative path is looked for in the folder of --cwd, files are not") {
  const Folder folder;
  make_folder(folder.file("a"));
  Start start;
  start.folder = folder.path();
  start.arguments = words("--setup true -r1 --cwd a --input in --output out --export-json r.json",
                          {"./tool say"});
  CHECK(lauka(start).status == 2);  // neither is it there, nor is its input
  completed("-r1 -w0",
            {"sh -c 'printf \"#!/bin/sh\\ncat; echo \\$0\" > " + folder.file("a/tool") +
             "; chmod +x " + folder.file("a/tool") + "; echo read > " + folder.file("in") + "'"});
  completed(start);
  CHECK(text_of(folder.file("out")) == "read\n./tool\n");
  CHECK(has(text_of(folder.file("r.json")), "\"cwd\": \"a\""));
}

TEST_CASE("a folder may have a variable in it, and one that cannot be entered is refused first") {
  const Folder folder;
  make_folder(folder.file("x1"));
  const std::string log = folder.file("log");
  const auto arguments =
      words("-L v 1,2 -r1 --cwd " + folder.file("x{v}") + " -s 'echo s >> " + log + "'",
            {"sh -c 'pwd >> " + log + "'"});
  CHECK(refusal(arguments) ==
        "lauka: --cwd '" + folder.file("x2") +
            "' cannot be entered: No such file or directory; name a folder that exists before the "
            "first run, because hooks are run in it, too\n");
  CHECK_FALSE(exists(log));
  make_folder(folder.file("x2"));
  completed(arguments);
  CHECK(has(text_of(log), "/x2\n"));
  CHECK(lauka({"--cwd", log, "true"}).err_has("Not a directory"));
  CHECK(lauka({"--cwd", "", "true"}).status == 2);
}

TEST_CASE("equal commands are shown by what they differ in: on screen, in Markdown and JSON") {
  const Folder folder;
  Start start = start_above_two(folder);
  start.arguments = words(
      "-r2 -w0 --cwd a --cwd b --env LC_ALL=C --env LANG=C --input i --input j --export-markdown "
      "m.md --export-json r.json",
      {"cat", "cat"});
  for (const char* name : {"i", "j"}) REQUIRE(std::ofstream(folder.file(name)).is_open());
  const Said said = completed(start);
  for (const std::string& shown :
       {said.out, text_of(folder.file("m.md")), text_of(folder.file("r.json"))}) {
    CAPTURE(shown);
    CHECK(has(shown, "cat (cwd a, LC_ALL=C, input i)"));
    CHECK(has(shown, "cat (cwd b, LANG=C, input j)"));
  }
  start.arguments = words("-r1 -w0 --input i --input gone", {"cat", "cat"});
  CHECK(lauka(start).err_has("'gone'"));
}

TEST_CASE("a folder that goes during the session is what the run failed of") {
  const Folder folder;
  make_folder(folder.file("a"));
  CHECK(has(failure("-r2 -w0 --cwd " + folder.file("a"), {"rmdir " + folder.file("a")}), "--cwd"));
}

}  // namespace lauka::contract
