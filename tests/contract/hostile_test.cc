#include "contract/program.h"
#include "core/text.h"
#include "skip.h"

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

// Foreign text, wherever it can come in, must not control a terminal, browser or spreadsheet.

namespace lauka::contract {
namespace {

// g++ has a macro, and clang asks.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

// A screen cleared, a line forged, a bell, DEL, C1 in UTF-8, characters that reverse text or end a
// line, and bytes that are no character.
const std::string kHostile =
    "x\x1b[2J\r\nlauka: all fine\x07\x7f\xc2\x9b"
    "31m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xef\xbb\xbf\xff\xc0\xaf";

bool is_bidi_or_break(char32_t code) {
  return code == 0x61C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

/// Finds raw control characters in `text`, as "byte 17: 1b"; empty if it has none. Lines may end.
std::string raw_in(std::string_view text, std::string_view line_end = "\n") {
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(line_end)) {
      at += line_end.size();
      continue;
    }
    const Character next = first_character(text.substr(at));
    const bool control = next.code < 0x20 || (next.code >= 0x7F && next.code < 0xA0);
    if (!next.valid || control || is_bidi_or_break(next.code)) {
      std::ostringstream found;
      found << "byte " << at << ": " << std::hex << static_cast<unsigned>(next.code) << " after "
            << text.substr(at < 30 ? 0 : at - 30, at < 30 ? at : 30);
      return found.str();
    }
    at += next.bytes;
  }
  return "";
}

void check_clean(const Said& said) {
  CHECK(raw_in(said.out) == "");
  CHECK(raw_in(said.err) == "");
  CHECK(said.status < 128);
}

/// Every option of the help that takes a value.
std::set<std::string> options_with_values() {
  std::set<std::string> options;
  std::istringstream help(lauka({"--help"}).out);
  for (std::string line; std::getline(help, line);) {
    const std::size_t from = line.find("--");
    if (from == std::string::npos || line.find_first_not_of(" ") != line.find('-')) continue;
    const std::size_t to = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", from);
    if (to == std::string::npos) continue;
    // Its description follows after two blanks.
    const bool takes =
        line[to] == '[' || (line[to] == ' ' && to + 1 < line.size() && line[to + 1] != ' ');
    if (takes) options.insert(line.substr(from, to - from));
  }
  return options;
}

std::string own_session(const std::string& name, const std::string& other) {
  const nlohmann::json samples = {{"unit", "s"}, {"samples", {1.0, 2.0, 3.0}}};
  const nlohmann::json document = {
      {"results", {{{"command", name}, {"lauka", {{"metrics", {{"wall_time", samples}}}}}}}},
      {"lauka",
       {{"format", 2},
        {"version", other},
        {"machine",
         {{"name", other}, {"os", other}, {"kernel", other}, {"cpu_model", other}, {"cpus", 1}}}}}};
  return document.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

TEST_CASE("a hostile value of any option is shown, not obeyed") {
  const Folder folder;
  const auto options = options_with_values();
  CHECK(options.size() > 40);
  std::size_t cited = 0;
  for (const std::string& option : options) {
    CAPTURE(option);
    const Said said =
        lauka({.arguments = {"-r2", "-w0", option + "=" + kHostile, "--", "true", "true"},
               .folder = folder.path()});
    check_clean(said);
    cited += said.err_has("\\x1b[2J") || said.out_has("\\x1b[2J") ? 1U : 0U;
  }
  CHECK(cited > options.size() / 2);
}

TEST_CASE("hostile words of every kind are shown, not obeyed") {
  const Folder folder;
  const std::string h = kHostile;
  const std::vector<std::vector<std::string>> lines = {
      {"--" + h},
      {"-" + h},
      {"--ru" + h + "=3"},
      {"--", h},
      {"--", "./" + h + " '"},
      {"-S", "--", "exit 3 #" + h},
      {"-N", "--", h + "=1 true"},
      {"-l", h},
      {"--explain-events", "-e", h},
      {"--explain-events", "--kpep", h, "-e", h},
      {"-e", h, "--", "true"},
      {"-e", "cpu_core/" + h + "/", "--", "true"},
      {"--fail-if", h + " > 1", "--", "true", "true"},
      {"--fail-if", "wall_time > 1" + h, "--", "true", "true"},
      {"--metrics", h, "--", "true"},
      {"--metrics", "wall_time:" + h, "--", "true"},
      {"-P", h, "1", "2", "--", "true"},
      {"-P", "n", h, "2", "--", "true {n}"},
      {"-P", "n", "1", h, "--", "true {n}"},
      {"-P", "n", "1", "2", "-D", h, "--", "true {n}"},
      {"-L", h, "1,2", "--", "true"},
      {"--core-kinds", h + "=0", "--", "true"},
      {"--threads", h},
      {"--check", h},
      {"--baseline", h, "--", "true"},
      {"--input", h, "--", "true"},
      {"--output", h + "/" + h, "--", "true"},
      {"--export-csv", h + "/" + h, "--", "true"},
      {"--export-csv", h, "--export-json", h, "--", "true"},
      {"--shell", h, "--", "true"},
      {"-s", "echo '" + h + "' >&2; exit 9 #", "--", "true"},
      {"-p", "echo '" + h + "' >&2; exit 9 #", "--", "true"},
      {"-C", "echo '" + h + "' >&2; exit 9 #", "--", "true"},
      {"-c", "echo '" + h + "' >&2; exit 9 #", "-r2", "--", "true"},
      {"-S", "--", "echo '" + h + "' >&2; exit 3"},
      {"--timeout", "50ms", "-n", h, "--", "sleep 5"},
  };
  for (const auto& line : lines) {
    CAPTURE(line.front());
    CAPTURE(line.back());
    const Said said = lauka({.arguments = line, .folder = folder.path()});
    check_clean(said);
    CHECK((said.err_has("\\x1b[2J") || said.out_has("\\x1b[2J")));
    CHECK_FALSE(said.err_has("\nlauka: all fine"));
  }
}

TEST_CASE("hostile names and values are harmless in the table and in every export") {
  const Folder folder;
  const std::string options =
      "-r6 -w0 -v --histogram -S --fail-if 'wall_time > 1' --export-csv a.csv --export-runs b.csv "
      "--export-json c.json --export-markdown d.md --export-html e.html";
  const Said said = lauka({.arguments = words(options + " -n '" + kHostile + "{v}' -n '=2+3" +
                                                  kHostile + "' -L v '1,@x" + kHostile + "'",
                                              {": '{v}'", "true '{v}'"}),
                           .folder = folder.path()});
  CAPTURE(said.err);
  check_clean(said);
  CHECK(said.status != 2);
  CHECK(said.out_has("x\\x1b[2J\\x0d\\nlauka: all fine\\x07\\x7f\\x9b31m\\u202e\\u2066\\u2028"));
  for (const char* name : {"a.csv", "b.csv"}) {
    CAPTURE(name);
    const std::string csv = text_of(folder.file(name));
    CHECK(raw_in(csv, "\r\n") == "");
    CHECK(has(csv, "'=2+3x\\x1b[2J"));
  }
  CHECK(has(text_of(folder.file("a.csv")), "'@xx\\x1b[2J"));
  for (const char* name : {"c.json", "d.md", "e.html"}) {
    const std::string text = text_of(folder.file(name));
    CAPTURE(name);
    CHECK(text.size() > 1000);
    CHECK(raw_in(text) == "");
  }
  const auto json = nlohmann::json::parse(text_of(folder.file("c.json")));
  const auto name = json.at("results").at(0).at("lauka").at("command_line").get<std::string>();
  CHECK(has(json.dump(), "\\u001b[2J"));
  CHECK_FALSE(name.empty());
}

TEST_CASE("a hostile baseline is shown, not obeyed") {
  const Folder folder;
  const std::string evil = std::string("9\x1b[2J\n\nlauka: all fine\0\u202E\u2028\x7f", 30);
  const auto path = folder.file("base.json");
  const auto with = [&](const std::string& text, std::vector<std::string> more) {
    std::ofstream(path, std::ios::binary) << text;
    Start start;
    start.folder = folder.path();
    start.arguments = {"-v", "-r3", "-w0", "--baseline", "base.json", "--export-json", "-"};
    start.arguments.insert(start.arguments.end(), more.begin(), more.end());
    const Said said = lauka(start);
    check_clean(said);
    CHECK((said.err_has("\\x1b[2J") || said.out_has("\\u001b[2J")));
    return said;
  };
  const Said compared = with(own_session(evil, evil), {"--", "true"});
  CHECK(compared.status == 0);
  CHECK(compared.err_has("machine '9\\x1b[2J"));
  with(own_session(evil, evil), {"--", "true", "true"});
  std::string later = own_session("true", evil);
  later.replace(later.find("\"format\":2"), 10, "\"format\":9");
  with(later, {"--", "true"});
  std::string wrong = own_session(evil, "1");
  wrong.replace(wrong.find("[1.0,"), 5, "[\"\\u001b[2J\",");
  with(wrong, {"--", "true"});
  with(R"({"results":[{"command":"\u001b[2J\u2028"}]})", {"--", "true"});
}

TEST_CASE("a baseline nested very deep is refused in a short line") {
  const Folder folder;
  for (const std::size_t depth : {20U, 60'000U, 1'000'000U}) {
    CAPTURE(depth);
    std::ofstream(folder.file("base.json"))
        << R"({"results":[{"command":"a","times":[)" << std::string(depth, '[')
        << std::string(depth, ']') << "]}]}";
    const std::string said = refusal("--baseline " + folder.file("base.json"), {"true"});
    CHECK(has(said, "16 levels deep"));
    CHECK(said.size() < 1000);
  }
}

TEST_CASE("sudo's output is shown, not obeyed") {
  for (const char* name : {"SUDO_UID", "SUDO_GID", "SUDO_USER"}) {
    Start start;
    start.arguments = {"-r1", "--", "true"};
    start.environment = {{"SUDO_UID", "1000"}, {"SUDO_GID", "1000"}};
    start.environment.emplace_back(name, kHostile);
    check_clean(lauka(start));
  }
}

TEST_CASE("a hostile name is harmless in the progress bar") {
  Said said = lauka_in_terminal({"-r3", "-n", kHostile, "--color=never", "--", "sleep 0.2"}, 200);
  for (const std::string_view own : {"\r\x1b[K", "\r\x1b[2K", "\r\x1b[0K"}) {
    for (std::size_t at = said.out.find(own); at != std::string::npos; at = said.out.find(own))
      said.out.replace(at, own.size(), "\r\n");
  }
  CHECK(said.out_has("x\\x1b[2J"));
  CHECK(raw_in(said.out, "\r\n") == "");
}

TEST_CASE("a message does not echo megabytes") {
  const std::string long_word(100'000, 'y');
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"-r1", "--", "false " + long_word},
        {"-r1", "--", long_word},
        {"--fail-if", long_word, "--", "true"},
        {"-e", long_word, "--", "true"},
        {"--nothing" + long_word}}) {
    const Said said = lauka(line);
    CHECK(said.status != 0);
    CHECK(said.err.size() < 20'000);
    CHECK(said.err_has("…"));
  }
}

TEST_CASE("a stack of 64 kB is enough") {
  if (kIsSanitized) {
    skip("AddressSanitizer needs more stack");
    return;
  }
  const Folder folder;
  Start start;
  // Linux takes arguments and environment of a quarter of the stack: the test's own may be larger.
  start.before = {"env",
                  "-i",
                  std::string("PATH=") + std::getenv("PATH"),
                  "XDG_STATE_HOME=/dev/null",
                  "sh",
                  "-c",
                  "ulimit -s 64; exec \"$@\"",
                  "-"};
  start.folder = folder.path();
  start.arguments = words(
      "-r6 -w0 -S -i -p true --export-json o.json --export-html o.html --fail-if 'wall_time > 1'",
      {"true", "echo x >&2; exit 3"});
  const Said said = lauka(start);
  CAPTURE(said.err);
  CHECK(said.status == 1);  // a gated command never succeeded
  CHECK(text_of(folder.file("o.html")).size() > 1000);
  start.arguments = {"-r3", "-w0", "--baseline", "o.json", "--", "true", "false"};
  CHECK(lauka(start).status == 1);
}

}  // namespace lauka::contract
