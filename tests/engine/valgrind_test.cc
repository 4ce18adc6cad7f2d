#include "engine/valgrind/processes.h"
#include "engine/valgrind/valgrind_engine.h"
#include "must.h"
#include "os/symbols.h"
#include "places.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine::valgrind {

namespace {

using Names = std::vector<std::string>;

/// A file that Valgrind wrote during a run.
struct OutputFile {
  std::string name;
  std::string text;
};

/// A file of counts as Cachegrind 3.19 writes it, reduced to the parts that are read.
OutputFile counts_of(int pid, int number, const std::string& command, const std::string& summary,
                     const std::string& events = "Ir Bc Bcm Bi Bim") {
  return {"out." + std::to_string(pid) + "." + std::to_string(number),
          "desc: I1 cache:         32768 B, 64 B, 8-way associative\ncmd: " + command +
              "\nevents: " + events + "\nfl=./work.c\nfn=main\n12 " + summary +
              "\nsummary: " + summary + "\n"};
}

OutputFile log_of(int pid, int number, int parent) {
  const std::string head = "==" + std::to_string(pid) + "== ";
  return {"log." + std::to_string(pid) + "." + std::to_string(number),
          head + "Cachegrind, a cache and branch-prediction profiler\n" + head + "Command: ./x\n" +
              head + "Parent PID: " + std::to_string(parent) + "\n" + head + "\n"};
}

std::vector<WantedEvent> simulated(const Names& names) {
  std::vector<WantedEvent> wanted;
  for (const std::string& name : names) {
    const std::size_t at = name.find('@');
    wanted.push_back(
        {find_simulated(name.substr(0, at)), at == std::string::npos ? "" : name.substr(at + 1)});
  }
  return wanted;
}

CountsOfRun sum(const std::vector<OutputFile>& files, const Names& names) {
  const std::vector<WantedEvent> wanted = simulated(names);
  ProcessCounts processes(wanted.front().event->tool, wanted);
  for (const OutputFile& file : files) processes.add_file(file.name, pieces_of(file.text));
  return processes.finish();
}

std::unique_ptr<CounterEngine> engine(EngineChoice choice = EngineChoice::Cachegrind) {
  return make_valgrind_engine(choice, "/usr/bin/valgrind");
}

EventSet selected(const Names& names) {
  return must(engine()->select({names, false}));
}

}  // namespace

TEST_CASE("by default everything that can be simulated is, in runs of its own") {
  const EventSet set = selected({});
  REQUIRE(set.events.size() == 6);
  CHECK(set.events.front().name == "instructions");
  CHECK(std::all_of(set.events.begin(), set.events.end(),
                    [](const Event& e) { return e.simulated; }));
  CHECK(set.count_passes(RoundKind::Timed) == 1);
  REQUIRE(set.passes.size() == 2);
  CHECK(set.passes[0].event_indices.empty());
  CHECK(set.passes[1].event_indices.size() == 6);
}

TEST_CASE("what the kernel accounts is taken from the timed runs") {
  const EventSet set = selected({"page-faults", "Instructions", "page-faults", "instructions"});
  REQUIRE(set.events.size() == 2);
  CHECK_FALSE(set.events[0].simulated);
  CHECK(set.passes.at(0).event_indices == std::vector<std::size_t>{0});
  CHECK(set.passes.at(1).event_indices == std::vector<std::size_t>{1});
  CHECK(selected({"page-faults"}).passes.size() == 1);
}

TEST_CASE("an event that cannot be simulated is refused with those that can") {
  CHECK(engine()->select({{"cycles"}, false}).error().line() ==
        "'cycles' cannot be simulated; --engine cachegrind counts instructions, branches, "
        "branch-misses, l1d-cache-misses, l1i-cache-misses and cache-misses");
}

TEST_CASE("only the models are run that an event needs") {
  const auto words = [](const Names& names) {
    return make_valgrind_words("valgrind", "/tmp/50%", simulated(names), {"-odd", "an argument"});
  };
  Names expected = {
      "valgrind",  "--command-line-only=yes", "--tool=cachegrind", "--trace-children=yes",
      "--vgdb=no", "--cache-sim=no",          "--branch-sim=no"};
  if (os::can_read_symbols()) expected.insert(expected.end(), {"--demangle=no", "-v"});
  expected.insert(expected.end(),
                  {"--log-file=/tmp/50%%/log.%p.%n", "--cachegrind-out-file=/tmp/50%%/out.%p.%n",
                   "--", "-odd", "an argument"});
  CHECK(words({"instructions"}) == expected);
  const Names caches = words({"cache-misses"});
  for (const char* word : {"--cache-sim=yes", "--LL=8388608,16,64", "--branch-sim=no"})
    CHECK_MESSAGE(std::count(caches.begin(), caches.end(), word) == 1, word);
  const Names branches = words({"branches", "instructions"});
  for (const char* word : {"--branch-sim=yes", "--cache-sim=no"})
    CHECK_MESSAGE(std::count(branches.begin(), branches.end(), word) == 1, word);
}

TEST_CASE("the counts of all programs of a run are added up") {
  const CountsOfRun counted =
      sum({log_of(10, 1, 1), counts_of(10, 2, "sh -c x", "1000 100 10 20 2"),
           // forked, then a program of its own
           log_of(11, 2, 10), log_of(11, 1, 10), counts_of(11, 2, "./x", "500 50 5 6 1")},
          {"instructions", "branches", "branch-misses"});
  CHECK(counted.counts == std::vector<std::optional<std::uint64_t>>{1500, 176, 18});
  CHECK_FALSE(counted.why_missing_counts.has_value());
  CHECK_FALSE(counted.note.has_value());
}

TEST_CASE("what a forked process may count a second time is no number where it is more than 1%") {
  const std::vector<OutputFile> files = {
      log_of(10, 1, 1), counts_of(10, 2, "./x", "1000 100 10 0 0"), log_of(11, 2, 10),
      counts_of(11, 3, "./x", "9000 100 0 0 0")};
  const CountsOfRun counted = sum(files, {"instructions", "branch-misses"});
  CHECK_FALSE(counted.counts.at(0).has_value());
  CHECK(counted.counts.at(1) == 10);  // the child has none, so it has none of its parent's
  CHECK(counted.why_missing_counts.value().what.find("forked processes") != std::string::npos);
}

TEST_CASE("a forked process that may count twice is reported if it is less than 1%") {
  const CountsOfRun counted = sum({log_of(10, 1, 1), counts_of(10, 2, "./x", "1000 0 0 0 0"),
                                   log_of(11, 2, 10), counts_of(11, 3, "./x", "200000 0 0 0 0")},
                                  {"instructions"});
  CHECK(counted.counts.at(0) == 201000);
  CHECK_FALSE(counted.why_missing_counts.has_value());
  CHECK(counted.note.value().kind == "simulation_inexact");
}

TEST_CASE("a parent that became another program says nothing about what its child began with") {
  CHECK_FALSE(sum({log_of(10, 1, 1), counts_of(10, 2, "true", "1000 0 0 0 0"), log_of(11, 2, 10),
                   counts_of(11, 3, "./x", "200000 0 0 0 0")},
                  {"instructions"})
                  .counts.at(0));
}

TEST_CASE("a process without counts leaves none for the run") {
  const std::vector<OutputFile> whole = {log_of(10, 1, 1), counts_of(10, 2, "sh", "1000 0 0 0 0")};
  CHECK(sum(whole, {"instructions"}).counts.at(0) == 1000);
  auto killed = whole;
  killed.push_back(log_of(11, 1, 10));
  CHECK_FALSE(sum(killed, {"instructions"}).counts.at(0).has_value());
  CHECK(sum(killed, {"instructions"}).why_missing_counts.has_value());
  auto cut_off = whole;
  cut_off.push_back({"out.11.2", "cmd: ./x\nevents: Ir\nfn=main\n12 7\n"});
  CHECK_FALSE(sum(cut_off, {"instructions"}).counts.at(0).has_value());
  CHECK(sum({}, {"instructions"}).why_missing_counts.has_value());
}

TEST_CASE("line breaks in a command's arguments are part of the command, whatever follows them") {
  for (const std::string rest : {"\n1p\n2p\n10p file", "\nevents: Ir Bc Bcm Bi Bim\n10 7",
                                 "\nsummary: 1", "\n\ncmd: true", "\nfn=other\n1 1"}) {
    CAPTURE(rest);
    const auto counted =
        sum({log_of(10, 1, 1), counts_of(10, 2, "sed" + rest, "1000 0 0 0 0")}, {"instructions"});
    CHECK_FALSE(counted.session_error.has_value());
    CHECK(counted.counts.at(0) == 1000);
  }
}

TEST_CASE("a command that says Parent PID is not taken for the parent") {
  const OutputFile parent = log_of(10, 1, 1);
  OutputFile child = log_of(11, 2, 10);
  child.text.insert(child.text.find("./x"), "echo Parent PID: 1 ");
  const auto counted = sum({parent, counts_of(10, 2, "./x", "1000 0 0 0 0"), child,
                            counts_of(11, 3, "./x", "200000 0 0 0 0")},
                           {"instructions"});
  CHECK(counted.counts.at(0) == 201000);
}

TEST_CASE("files that are cut off, as on a full disk, are a measurement that could not be made") {
  const std::vector<OutputFile> whole = {log_of(10, 1, 1), counts_of(10, 2, "sh", "1000 0 0 0 0")};
  CHECK_FALSE(sum(whole, {"instructions"}).session_error.has_value());
  CHECK(sum({whole[0], {"out.10.2", ""}}, {"instructions"}).session_error.has_value());
  CHECK(sum({whole[0], {"out.10.2", "cmd: ./x\nevents: Ir\n"}}, {"instructions"}).session_error);
  CHECK(sum({{"log.10.1", ""}, whole[1]}, {"instructions"}).session_error.has_value());
  CHECK(sum({whole[0], counts_of(10, 2, "sh", "1000 0 0 0 0 7")}, {"instructions"}).session_error);
  // Killed, it has written nothing of its counts, which is no fault of the disk.
  CHECK_FALSE(sum({whole[0]}, {"instructions"}).session_error.has_value());
}

TEST_CASE("an event that this Valgrind did not write is not made up") {
  const CountsOfRun counted = sum({log_of(10, 1, 1), counts_of(10, 2, "./x", "1000", "Ir")},
                                  {"instructions", "cache-misses"});
  CHECK(counted.counts.at(0) == 1000);
  CHECK_FALSE(counted.counts.at(1).has_value());
  CHECK(counted.why_missing_counts.has_value());
}

namespace {

/// The rows of several functions, each of one count of instructions.
OutputFile functions_of(int pid, const std::string& rows, const std::string& summary) {
  return {"out." + std::to_string(pid) + ".2",
          "cmd: ./x\nevents: Ir\n" + rows + "summary: " + summary + "\n"};
}

std::map<std::string, std::uint64_t> by_name(const CountsOfRun& counted) {
  std::map<std::string, std::uint64_t> counts;
  for (const FunctionCounts& function : counted.functions.value())
    CHECK(counts.emplace(function.name, function.counts.at(0)).second);
  return counts;
}

/// DHAT's JSON, as 3.19 writes it, of one program point.
OutputFile heap_of(int pid, int number, int blocks, int bytes, int peak_blocks, int peak_bytes,
                   const std::string& command = "./x") {
  return {
      "out." + std::to_string(pid) + "." + std::to_string(number),
      "{\"dhatFileVersion\":2\n,\"mode\":\"heap\",\"verb\":\"Allocated\"\n,\"bklt\":true,\"bkacc\":"
      "true"
      "\n,\"tu\":\"instrs\",\"Mtu\":\"Minstr\"\n,\"tuth\":500\n,\"cmd\":\"" +
          command + "\"\n,\"pid\":11936\n,\"te\":161779\n,\"tg\":157094\n,\"pps\":\n [{\"tb\":" +
          std::to_string(bytes) + ",\"tbk\":" + std::to_string(blocks) +
          "\n  ,\"tl\":500833\n  ,\"mb\":7649,\"mbk\":51\n  ,\"gb\":" + std::to_string(peak_bytes) +
          ",\"gbk\":" + std::to_string(peak_blocks) +
          "\n  ,\"eb\":7450,\"ebk\":50\n  ,\"rb\":5050,\"wb\":5050\n  ,\"fs\":[1,2]\n  }\n ]\n"
          ",\"ftbl\":\n [\"[root]\"\n ,\"0x1091B0: main (a.c:5)\"\n ]\n}\n"};
}

const Names kHeap = {"allocations", "allocated_bytes", "peak_heap", "peak_heap_blocks"};

}  // namespace

TEST_CASE("the functions of all processes of a run are counted under normalized names") {
  const CountsOfRun counted =
      sum({log_of(10, 1, 1),
           functions_of(10,
                        "fl=a.c\nfn=main\n1 10\n2 5\nfl=b.h\nfn=main\n7 1\nfn=read.part.0\n3 4\n"
                        "fl=???\nfn=???\n0 2\n",
                        "22"),
           log_of(11, 1, 10), functions_of(11, "fl=a.c\nfn=read\n3 6\n", "6")},
          {"instructions", "instructions@read", "instructions@none"});
  CHECK(counted.counts == std::vector<std::optional<std::uint64_t>>{28, 10, 0});
  CHECK(by_name(counted) == std::map<std::string, std::uint64_t>{
                                {"main", 16}, {"read", 10}, {std::string(kNoSymbols), 2}});
}

TEST_CASE("a function's count is known where another event's is not") {
  const CountsOfRun counted = sum({log_of(10, 1, 1), counts_of(10, 2, "./x", "1000", "Ir")},
                                  {"instructions@main", "cache-misses", "cache-misses@main"});
  CHECK(counted.counts == std::vector<std::optional<std::uint64_t>>{1000, {}, {}});
  CHECK(counted.why_missing_counts.has_value());
}

TEST_CASE("functions are known of an event where another could not be counted") {
  const CountsOfRun counted = sum({log_of(10, 1, 1), counts_of(10, 2, "./x", "1000", "Ir")},
                                  {"instructions", "cache-misses"});
  REQUIRE(counted.counts.size() == 2);
  CHECK(counted.counts[0] == 1000);
  CHECK_FALSE(counted.counts[1].has_value());
  CHECK(by_name(counted) == std::map<std::string, std::uint64_t>{{"main", 1000}});
  CHECK(counted.why_missing_counts.value().what.starts_with("cache-misses: "));
}

TEST_CASE("a function has all names that its address has in the files that Valgrind read") {
  if (!os::can_read_symbols()) return;
  OutputFile log = log_of(10, 1, 1);
  log.text +=
      "--10-- Reading syms from " + std::string(places::kFixtures) + "/aliased\n--10--    x\n";
  const CountsOfRun counted =
      sum({log, functions_of(10, "fn=fold_other\n1 10\nfn=main\n1 5\n", "15")},
          {"instructions", "instructions@fold_old", "instructions@_fold_internal"});
  CHECK(counted.counts == std::vector<std::optional<std::uint64_t>>{15, 10, 10});
  CHECK(by_name(counted) == std::map<std::string, std::uint64_t>{{"fold", 10}, {"main", 5}});
  CHECK(counted.functions.value().at(0).other_names ==
        std::vector<std::string>{"_fold_internal", "fold_old", "fold_other"});
}

TEST_CASE("symbols that Valgrind did not demangle are demangled") {
  if (!os::can_read_symbols()) return;
  const CountsOfRun counted =
      sum({log_of(10, 1, 1), functions_of(10, "fn=_ZN1a1bEi.part.0\n1 10\n", "10")},
          {"instructions", "instructions@a::b"});
  CHECK(counted.counts.at(1) == 10);
  CHECK(counted.functions.value().at(0).name == "a::b(int)");
}

TEST_CASE("gates on many functions take no more memory for each function of the program") {
  std::string rows;
  Names names;
  for (int f = 0; f < 1000; ++f) {
    rows += "fn=f" + std::to_string(f) + "(int)\n1 " + std::to_string(f) + "\n";
    names.push_back("instructions@f" + std::to_string(f));
  }
  for (int f = 1000; f < 20'000; ++f) rows += "fn=f" + std::to_string(f) + "\n1 1\n";
  const CountsOfRun counted =
      sum({log_of(10, 1, 1), functions_of(10, rows, std::to_string(999 * 500 + 19'000))}, names);
  CHECK(counted.counts.at(0) == 0);
  CHECK(counted.counts.at(999) == 999);
  CHECK_FALSE(counted.note.has_value());
}

TEST_CASE("lines of counts that do not add up to the summary are refused") {
  const std::string rows = "fn=main\n1 10\n2 5\n";
  CHECK(sum({log_of(10, 1, 1), functions_of(10, rows, "15")}, {"instructions"}).counts.at(0) == 15);
  CHECK(sum({log_of(10, 1, 1), functions_of(10, rows, "16")}, {"instructions"}).session_error);
  const std::string wrapped = "fn=main\n1 18446744073709551615\n2 2\n";
  CHECK(sum({log_of(10, 1, 1), functions_of(10, wrapped, "1")}, {"instructions"}).session_error);
}

TEST_CASE("names of functions may have 10 kB, and lines of more than 1 MB are refused") {
  const auto with = [](std::size_t bytes) {
    return sum(
        {log_of(10, 1, 1), functions_of(10, "fn=" + std::string(bytes, 'f') + "\n1 10\n", "10")},
        {"instructions"});
  };
  CHECK(with(10'000).functions.value().at(0).name.size() == 10'000);
  CHECK(with(kMaxLine + 1).session_error.has_value());
}

TEST_CASE("a text that comes in pieces has the same lines as in one") {
  const std::string text = "one\n\nthree\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    LineReader lines([&text, size, from = std::size_t{0}]() mutable {
      const std::string_view piece = std::string_view(text).substr(from, size);
      from += piece.size();
      return piece;
    });
    CHECK(lines.next() == "one");
    CHECK(lines.next() == "");
    CHECK(lines.next() == "three");
    CHECK_FALSE(lines.next().has_value());
    CHECK(lines.has_read_all());
  }
}

TEST_CASE("allocations of several processes add up, and the peak is the largest process's") {
  const CountsOfRun counted =
      sum({log_of(10, 1, 1), heap_of(10, 2, 200, 20'000, 51, 7'649), log_of(11, 2, 10),
           log_of(11, 1, 10), heap_of(11, 2, 10, 90'000, 3, 80'000, "./y")},
          kHeap);
  CHECK(counted.counts == std::vector<std::optional<std::uint64_t>>{210, 110'000, 80'000, 3});
  CHECK_FALSE(counted.why_missing_counts.has_value());
}

TEST_CASE("a process without a seen allocation leaves the run without a value, and is named") {
  const CountsOfRun counted = sum({log_of(10, 1, 1), heap_of(10, 2, 200, 20'000, 51, 7'649),
                                   log_of(11, 1, 10), heap_of(11, 2, 0, 0, 0, 0, "./static 1")},
                                  kHeap);
  for (const auto& count : counted.counts) CHECK_FALSE(count.has_value());
  CHECK(counted.why_missing_counts.value().what.find("'./static 1'") != std::string::npos);
}

TEST_CASE("the JSON of DHAT is refused where it is cut off, or is another one") {
  const OutputFile whole = heap_of(10, 2, 2, 20, 1, 10);
  CHECK_FALSE(sum({log_of(10, 1, 1), whole}, kHeap).session_error.has_value());
  const std::string& text = whole.text;
  for (const std::string& other :
       {std::string(), text.substr(0, text.size() - 3), std::string("{}"), std::string(100, '['),
        std::string("{\"pps\":[{\"tb\":18446744073709551615},{\"tb\":2}]}"),
        "{\"cmd\":\"" + std::string(2 * kMaxLine, 'x') + "\",\"pps\":[]}"})
    CHECK_MESSAGE(sum({log_of(10, 1, 1), {whole.name, other}}, kHeap).session_error.has_value(),
                  other.substr(0, 40));
}

TEST_CASE("two tools count in runs of their own, and allocations have units") {
  const EventSet set = must(engine(EngineChoice::CachegrindAndDhat)->select({}));
  REQUIRE(set.passes.size() == 3);
  CHECK(set.count_passes(RoundKind::Simulated) == 2);
  CHECK(set.passes[1].event_indices == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
  CHECK(set.passes[2].event_indices == std::vector<std::size_t>{6, 7, 8, 9});
  CHECK_FALSE(set.events[6].is_bytes);
  CHECK(set.events[7].is_bytes);
  const EventSet heap = must(engine(EngineChoice::Dhat)->select({{"peak_heap"}, false}));
  REQUIRE(heap.passes.size() == 2);
  CHECK(heap.events.at(0).name == "peak_heap");
  CHECK(engine(EngineChoice::Dhat)->select({{"instructions"}, false}).error().line() ==
        "'instructions' cannot be simulated; --engine dhat counts allocations, allocated_bytes, "
        "peak_heap and peak_heap_blocks");
}

TEST_CASE("DHAT is started without the options of Cachegrind") {
  CHECK(make_valgrind_words("valgrind", "/tmp/x", simulated({"peak_heap"}), {"ls"}) ==
        Names{"valgrind", "--command-line-only=yes", "--tool=dhat", "--trace-children=yes",
              "--vgdb=no", "--log-file=/tmp/x/log.%p.%n", "--dhat-out-file=/tmp/x/out.%p.%n", "--",
              "ls"});
}

}  // namespace lauka::engine::valgrind
