#include "os/sysfs.h"

#include "fakes/fake_perf.h"

#include <doctest/doctest.h>

namespace lauka::os {
namespace {

EventCode put_whole(std::string_view format, std::uint64_t value) {
  EventCode code;
  CHECK(put(code, *parse_format(format), value));
  return code;
}

/// A processor with the usual terms.
struct Usual {
  Usual() { add_usual_terms(perf); }

  Result<EventCode> encode(std::string_view terms) const {
    const Sysfs sysfs(perf.calls());
    return sysfs.encode(*sysfs.find("cpu"), terms);
  }

  fakes::FakePerf perf;
};

}  // namespace

TEST_CASE("a term's value is laid out over the bit ranges of its format, lowest first") {
  CHECK(put_whole("config:0-7", 0x3c).config == 0x3c);
  // The low 8 bits of 0x1c2 stay, the ninth goes to bit 32.
  CHECK(put_whole("config:0-7,32-35\n", 0x1c2).config == 0x1000000c2);
  CHECK(put_whole("config:23", 1).config == 0x800000);
  CHECK(put_whole("config1:0-63", ~std::uint64_t{0}).config1 == ~std::uint64_t{0});
  CHECK(put_whole("config2:4-7", 5).config2 == 0x50);
  CHECK(put_whole("config3:0-3", 9).config3 == 9);
}

TEST_CASE("a value that is too wide for its bits is refused") {
  EventCode code;
  CHECK_FALSE(put(code, *parse_format("config:0-7"), 0x100));
  CHECK_FALSE(put(code, *parse_format("config:0-3,8-11"), 0x100));
  CHECK(put(code, *parse_format("config:0-3,8-11"), 0xff));
}

TEST_CASE("a format that cannot be right is not used") {
  for (const char* text : {"", "config", "config:", "config:0-", "config:7-0", "config:0-64",
                           "config:-1", "config9:0-7", "event:0-7", "config:0-7,", "config:0-3-5"})
    CHECK_MESSAGE(!parse_format(text).has_value(), text);
}

TEST_CASE("an event's terms are looked up, and those that follow replace its own") {
  const Usual on;
  CHECK(on.encode("cpu-cycles")->config == 0x3c);
  CHECK(*on.encode("mem-loads") == EventCode{4, 0x1cd, 3});
  CHECK(*on.encode("mem-loads,ldlat=30") == EventCode{4, 0x1cd, 30});
  CHECK(on.encode("event=0x3c,umask=0x1")->config == 0x13c);
  CHECK(on.encode("event=60,umask=1,edge")->config == 0x4013c);
  CHECK(on.encode("event=0x3c,name=mine")->config == 0x3c);
  CHECK(on.encode("r01c2")->config == 0x1c2);
  CHECK(*on.encode("config=0x1234,config1=7") == EventCode{4, 0x1234, 7});
}

TEST_CASE("a term that the user has to give is asked for") {
  const Usual on;
  CHECK(on.encode("asks").error().line() ==
        "the term 'umask' needs a value; write cpu/asks,umask=NUMBER/");
  CHECK(on.encode("asks,umask=2")->config == 0x210);
}

TEST_CASE("what is wrong between the slashes is named") {
  const Usual on;
  CHECK(on.encode("evnt=1").error().line() ==
        "cpu has no event or term 'evnt'; did you mean event?");
  CHECK(on.encode("umask=0x1ff").error().line() ==
        "the value 0x1ff of 'umask' is too wide; 'umask' has 8 bits");
  CHECK(on.encode("umask=one").error().what == "'umask=one' is not a 64-bit number");
  CHECK(on.encode("umask=0x10000000000000000")
            .error()
            .what.starts_with("'umask=0x10000000000000000' "));
  CHECK(on.encode("").error().what == "a term is empty");
}

TEST_CASE("files that describe an event are not events") {
  fakes::FakePerf perf;
  add_usual_terms(perf);
  for (const char* name : {"power", "power.unit", "power.scale", "power.snapshot", "power.per-pkg"})
    perf.add_event("cpu", name, "event=1");
  const Sysfs sysfs(perf.calls());
  CHECK(sysfs.events(*sysfs.find("cpu")) ==
        std::vector<std::string>{"asks", "cpu-cycles", "mem-loads", "power"});
}

TEST_CASE("PMUs of cores, of tasks and of packages are distinguished") {
  fakes::FakeHybrid perf;
  perf.add({"uncore_imc_0", 20, "", true});
  perf.add({"msr", 21});
  const Sysfs sysfs(perf.calls());
  CHECK(sysfs.find("cpu_core")->kind == PmuKind::Core);
  CHECK(sysfs.find("uncore_imc_0")->kind == PmuKind::PerPackage);
  CHECK(sysfs.find("msr")->kind == PmuKind::Task);
  CHECK_FALSE(sysfs.find("nosuch").has_value());
  CHECK_FALSE(sysfs.find("../devices/msr").has_value());
  REQUIRE(sysfs.core_pmus().size() == 2);
  CHECK(sysfs.core_pmus()[0].name == "cpu_atom");
  CHECK(sysfs.core_pmus()[1].type == 8);
  CHECK(sysfs.all_pmus().size() == 4);
}

TEST_CASE("the PMUs of the cores are looked for once, however many events ask for them") {
  static int lists = 0;
  fakes::FakePerf perf;
  add_usual_terms(perf);
  LinuxCalls calls = perf.calls();
  calls.list_folder = [](const std::string&) -> std::vector<std::string> {
    ++lists;
    return {"cpu"};
  };
  const Sysfs sysfs(calls);
  CHECK(sysfs.core_pmus().size() == 1);
  CHECK(sysfs.core_pmus().size() == 1);
  CHECK(lists == 1);
}

}  // namespace lauka::os
