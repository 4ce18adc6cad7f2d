#include "engine/kpep_tables.h"
#include "engine/kperf/kpep.h"
#include "places.h"

#include <functional>
#include <utility>

#include <doctest/doctest.h>

namespace lauka::engine::kperf {
namespace {

const std::vector<std::string> kReadChips = {"m1", "m2", "m3", "m4", "m5"};

std::string path_of(const std::string& file) {
  return std::string(places::kRepository) + "/tests/data/kpep/" + file;
}

PlistValue text(const char* value) {
  return {std::string(value)};
}

PlistValue number(std::uint64_t value) {
  return {value};
}

/// What the dictionary `value` has under `key`, made where it is not there.
PlistValue& at(PlistValue& value, const std::string& key) {
  auto& dict = std::get<PlistDict>(value.value);
  return dict[key];
}

void remove(PlistValue& value, const std::string& key) {
  std::get<PlistDict>(value.value).erase(key);
}

/// A pair of numbers, as the version is.
PlistValue pair(std::uint64_t first, std::uint64_t second) {
  PlistArray array;
  array.push_back(number(first));
  array.push_back(number(second));
  return {std::move(array)};
}

/// A dictionary of keys and values in turn. Values are moved: copies of them are recursive.
template <typename... Rest>
PlistValue dict(Rest... items) {
  PlistDict result;
  const auto add = [&result](auto& self, auto& key, auto& value, auto&... rest) {
    result.emplace(key, std::move(value));
    if constexpr (sizeof...(rest) > 0) self(self, rest...);
  };
  if constexpr (sizeof...(items) > 0) add(add, items...);
  return {std::move(result)};
}

/// A whole database with one fixed and two configurable events.
PlistValue sound() {
  PlistValue events =
      dict("ALL", dict("number", number(140), "counters_mask", number(128), "errata", text("some")),
           "FIXED_CYCLES",
           dict("fixed_counter", number(0), "counters_mask", number(1), "fallback", text("ACTIVE"),
                "description", text("cycles")),
           "ACTIVE", dict("number", number(2)));
  PlistValue cpu = dict("architecture", text("arm64"), "marketing_name", text("Apple X"),
                        "fixed_counters", number(3), "config_counters", number(1020), "aliases",
                        dict("Cycles", text("FIXED_CYCLES")), "events", std::move(events));
  return dict("name", text("x1"), "version", pair(1, 0), "system", dict("cpu", std::move(cpu)));
}

PlistValue& cpu_of(PlistValue& root) {
  return at(at(root, "system"), "cpu");
}

PlistValue& event_of(PlistValue& root, const std::string& name) {
  return at(at(cpu_of(root), "events"), name);
}

/// What is said of the sound database once it is damaged; empty: nothing.
std::string fault_of(const std::function<void(PlistValue& root)>& damage) {
  PlistValue root = sound();
  damage(root);
  const auto database = kpep_from(root);
  return database ? "" : database.error().line();
}

TEST_CASE("a database is read as it stands") {
  const auto database = kpep_from(sound());
  REQUIRE(database.has_value());
  CHECK(database->name == "x1");
  CHECK(database->marketing_name == "Apple X");
  CHECK(database->architecture == "arm64");
  CHECK(database->fixed_counters == 3);
  CHECK(database->config_counters == 0x3fc);
  CHECK(database->power_counters == 0);
  REQUIRE(database->events.size() == 3);
  const KpepEvent& fixed = database->events[0];
  CHECK(fixed.name == "FIXED_CYCLES");
  CHECK(fixed.alias == "Cycles");
  CHECK(fixed.fallback == "ACTIVE");
  CHECK(fixed.is_fixed);
  CHECK(fixed.mask == 1);
  const KpepEvent& active = database->events[1];
  CHECK(active.mask == 0x3fc);  // without a mask of its own: all configurable ones
  CHECK(active.number == 2);
  CHECK(database->events[2].errata == "some");
  CHECK(database->events[2].mask == 0x80);
}

TEST_CASE("what a damaged database lacks is named") {
  using Root = PlistValue;
  CHECK(fault_of([](Root&) {}).empty());
  CHECK(fault_of([](Root& root) { root = text("x"); }) ==
        "is not a kpep database: it holds no dictionary");
  CHECK(fault_of([](Root& root) { remove(root, "version"); }) ==
        "is not a kpep database: its version is not a pair of numbers");
  CHECK(fault_of([](Root& root) { at(root, "version") = pair(2, 1); }) ==
        "is of version 2.1, and lauka knows version 1 only");
  CHECK(fault_of([](Root& root) { remove(root, "name"); }) ==
        "is not a kpep database: it has no name");
  CHECK(fault_of([](Root& root) { remove(root, "system"); }) ==
        "is not a kpep database: it has no dictionary system.cpu");
  CHECK(fault_of([](Root& root) { remove(cpu_of(root), "architecture"); }) ==
        "is not a kpep database: it has no system.cpu.architecture");
  CHECK(fault_of([](Root& root) { at(cpu_of(root), "architecture") = text("x86_64"); }) ==
        "is for the architecture 'x86_64', and lauka knows arm64 only");
  CHECK(fault_of([](Root& root) { at(cpu_of(root), "config_counters") = text("1020"); }) ==
        "is damaged: system.cpu.config_counters is not a number");
  CHECK(fault_of([](Root& root) { remove(cpu_of(root), "fixed_counters"); }) ==
        "is damaged: there is no system.cpu.fixed_counters");
  CHECK(fault_of([](Root& root) { at(cpu_of(root), "config_counters") = number(1U << 16U); }) ==
        "is damaged: system.cpu.config_counters is out of range, at most 65535");
  CHECK(fault_of([](Root& root) { at(cpu_of(root), "config_counters") = number(1023); }) ==
        "has counters that are both fixed and configurable");
}

TEST_CASE("a damaged event or alias of a database is named") {
  using Root = PlistValue;
  CHECK(fault_of([](Root& root) { remove(cpu_of(root), "events"); }) ==
        "has no dictionary system.cpu.events");
  CHECK(fault_of([](Root& root) { at(cpu_of(root), "events") = dict(); }) == "has no events");
  CHECK(fault_of([](Root& root) { event_of(root, "ALL") = number(1); }) ==
        "has an event 'ALL' that is not a dictionary");
  CHECK(fault_of([](Root& root) { remove(event_of(root, "ALL"), "number"); }) ==
        "is damaged: there is no number of event 'ALL'");
  CHECK(fault_of([](Root& root) { at(event_of(root, "ALL"), "number") = text("140"); }) ==
        "is damaged: number of event 'ALL' is not a number");
  CHECK(fault_of([](Root& root) { at(event_of(root, "ALL"), "number") = number(65536); }) ==
        "is damaged: number of event 'ALL' is out of range, at most 65535");
  CHECK(fault_of([](Root& root) { at(event_of(root, "ALL"), "counters_mask") = {true}; }) ==
        "is damaged: counters_mask of event 'ALL' is not a number");
  CHECK(fault_of([](Root& root) { at(event_of(root, "ALL"), "description") = number(1); }) ==
        "is damaged: description of event 'ALL' is not text");
  CHECK(fault_of([](Root& root) { at(event_of(root, "ALL"), "errata") = text("\x1b[2J"); }) ==
        "is damaged: errata of event 'ALL' has control characters");
  CHECK(fault_of([](Root& root) {
          at(event_of(root, "FIXED_CYCLES"), "fixed_counter") = number(2);
        }) == "has an event 'FIXED_CYCLES' on the fixed counter 2, which does not exist");
  CHECK(fault_of([](Root& root) { at(cpu_of(root), "aliases") = number(1); }) ==
        "has system.cpu.aliases that are not a dictionary");
  CHECK(fault_of([](Root& root) { at(at(cpu_of(root), "aliases"), "Other") = number(1); }) ==
        "has an alias 'Other' that does not name an event");
  CHECK(fault_of([](Root& root) { at(at(cpu_of(root), "aliases"), "Other") = text("GONE"); }) ==
        "has an alias 'Other' for 'GONE', which is none of its events");
  CHECK(fault_of([](Root& root) {
          at(at(cpu_of(root), "aliases"), "Other") = text("FIXED_CYCLES");
        }) == "has two aliases for 'FIXED_CYCLES': 'Cycles' and 'Other'");
}

TEST_CASE("a number beyond 8 bits is read whole") {
  PlistValue root = sound();
  at(event_of(root, "ALL"), "number") = number(16390);
  CHECK(find_event(*kpep_from(root), "ALL")->number == 16390);
}

TEST_CASE("an event is found by its name or the database's alias, in any case") {
  const auto database = kpep_from(sound());
  CHECK(find_event(*database, "active")->name == "ACTIVE");
  CHECK(find_event(*database, "cycles")->name == "FIXED_CYCLES");
  CHECK(find_event(*database, "") == nullptr);
  CHECK(find_event(*database, "nothing") == nullptr);
}

TEST_CASE("both forms of each chip's database hold what its table says") {
  for (const std::string& chip : kReadChips) {
    for (const char* form : {".plist", "-binary.plist"}) {
      CAPTURE(chip);
      CAPTURE(form);
      const auto database = load_kpep(path_of(chip + form));
      REQUIRE_MESSAGE(database.has_value(), (database ? "" : database.error().line()));
      const std::vector<KpepEvent> table = table_of(chip);
      REQUIRE(database->events.size() == table.size());
      for (const KpepEvent& expected : table) {
        const KpepEvent* event = find_event(*database, expected.name);
        REQUIRE(event != nullptr);
        CHECK(event->number == expected.number);
        CHECK(event->mask == expected.mask);
        CHECK(event->is_fixed == expected.is_fixed);
        CHECK(event->alias == expected.alias);
        CHECK(event->description == expected.description);
      }
    }
  }
}

TEST_CASE("a file that is no database is refused by name") {
  const auto line = [](const std::string& path) { return load_kpep(path).error().line(); };
  CHECK(line("/nowhere/a14.plist") ==
        "'/nowhere/a14.plist' cannot be read: No such file or directory; "
        "name a .plist from a Mac's /usr/share/kpep");
  const std::string table = path_of("m1.tsv");
  CHECK(line(table) == "'" + table +
                           "' is not a property list, or is damaged; "
                           "name a .plist from a Mac's /usr/share/kpep");
}

TEST_CASE("the database of a processor is found by its numbers, the local folder first") {
  const std::string cpu = cpu_name(0x100000c, 2, 0x1b588bb3);
  CHECK(cpu == "cpu_100000c_2_1b588bb3");
  CHECK(kpep_paths(cpu) ==
        std::vector<std::string>{"/usr/local/share/kpep/cpu_100000c_2_1b588bb3.plist",
                                 "/usr/share/kpep/cpu_100000c_2_1b588bb3.plist"});
  CHECK(load_kpep_of(cpu, {"/nowhere/a", "/nowhere/b"}).error().line() ==
        "there is no kpep database for this processor, cpu_100000c_2_1b588bb3; "
        "name the file of a similar one with --kpep FILE");
  const auto found = load_kpep_of(cpu, {"/nowhere/a", path_of("m2.plist"), path_of("m1.plist")});
  REQUIRE(found.has_value());
  CHECK(found->name == "a15");
}

}  // namespace
}  // namespace lauka::engine::kperf
