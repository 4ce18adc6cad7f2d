#include "engine/kperf/kpep.h"

#include "engine/kpep_tables.h"
#include "places.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::engine::kperf {

namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// Returns the fault found in a property list; empty if it is sound.
std::string fault_of(const std::string& text) {
  const auto read = read_plist(text);
  return read ? "" : read.error().line();
}

std::string xml(const std::string& body) {
  return "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">" + body + "</plist>\n";
}

PlistValue value_of(const std::string& text) {
  auto read = read_plist(text);
  REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().line()));
  return *std::move(read);
}

std::string text_of(const std::string& text) {
  const PlistValue value = value_of(text);
  REQUIRE(value.get<std::string>() != nullptr);
  return *value.get<std::string>();
}

/// Returns the number; ~0 if the value is not one.
std::uint64_t number_of(const std::string& text) {
  const PlistValue value = value_of(text);
  const auto* number = value.get<std::uint64_t>();
  return number == nullptr ? ~std::uint64_t{0} : *number;
}

const std::string kNone = "is not a property list, or is damaged";

std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i)
    text += static_cast<char>(value >> (8U * static_cast<unsigned>(i)) & 0xffU);
  return text;
}

/// An array of the objects with these numbers, fewer than 15.
std::string array_of(const std::vector<std::uint64_t>& objects) {
  std::string text(1, static_cast<char>(0xa0U | objects.size()));
  for (const std::uint64_t object : objects) text += big_endian(object, 4);
  return text;
}

const std::string kFalse = "\x08";

/// A property list of these objects, the first of which is its root.
std::string binary(const std::vector<std::string>& objects) {
  std::string text = "bplist00";
  std::string table;
  for (const std::string& object : objects) {
    table += big_endian(text.size(), 4);
    text += object;
  }
  const std::size_t at = text.size();
  return text + table + std::string(6, '\0') + "\x04\x04" + big_endian(objects.size(), 8) +
         big_endian(0, 8) + big_endian(at, 8);
}

/// Arrays in one another, `times` over.
std::string nested(std::uint64_t times, std::size_t each = 1) {
  std::vector<std::string> objects;
  for (std::uint64_t i = 1; i <= times; ++i)
    objects.push_back(array_of(std::vector<std::uint64_t>(each, i)));
  objects.push_back(kFalse);
  return binary(objects);
}

}  // namespace

TEST_CASE("text that is not a property list is refused") {
  for (const char* text : {"name\tnumber", "", "<html></html>", "\x01\x02"})
    CHECK(fault_of(text) == kNone);
}

TEST_CASE("a property list in XML is read, with all that Apple writes into one") {
  const PlistValue root = value_of(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
      "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"
      "<plist version=\"1.0\">\n<dict>\n\t<key>a</key><!-- > -->\n"
      "\t<string>b &lt; <![CDATA[</plist>]]></string>\n\t<key>c</key><false/>\n"
      "\t<key>d</key><array><true/><integer>7</integer><real>1.5</real></array>\n"
      "\t<key>e</key><data>AA==</data><key>a</key><string>second</string></dict>\n</plist>\n\n");
  CHECK(*root.find("a")->get<std::string>() == "b < </plist>");
  CHECK(*root.find("c")->get<bool>() == false);
  const auto& array = *root.find("d")->get<PlistArray>();
  REQUIRE(array.size() == 3);
  CHECK(*array[0].get<bool>());
  CHECK(*array[1].get<std::uint64_t>() == 7);
  CHECK(array[2].get<std::monostate>() != nullptr);
  CHECK(root.find("e")->get<std::monostate>() != nullptr);
  CHECK(root.find("f") == nullptr);
  CHECK(value_of(xml("<array/>")).get<PlistArray>()->empty());
}

TEST_CASE("a number of a property list is whole, in decimal or hexadecimal, or it is refused") {
  const auto integer = [](const std::string& text) {
    return xml("<integer>" + text + "</integer>");
  };
  CHECK(number_of(integer("0")) == 0);
  CHECK(number_of(integer(" 1020\n")) == 1020);
  CHECK(number_of(integer("0x3fc")) == 1020);
  CHECK(number_of(integer("0XFF")) == 255);
  CHECK(number_of(integer("+7")) == 7);
  CHECK(value_of(integer("-1")).get<std::monostate>() != nullptr);
  CHECK(fault_of(integer("14x0")) == "is damaged: '14x0' is not an <integer>");
  for (const char* number :
       {"0x", "-", "1 2", "1.5", "0x3fg", "ff", "--1", "99999999999999999999"}) {
    CAPTURE(number);
    CHECK(fault_of(integer(number)) ==
          std::string("is damaged: '") + number + "' is not an <integer>");
  }
  for (const char* empty : {"<integer></integer>", "<integer/>", "<integer> \n</integer>"})
    CHECK(fault_of(xml(empty)) == "is damaged: an <integer> is empty");
}

TEST_CASE("a property list that is cut off, or goes on after its end, is refused") {
  CHECK(fault_of("<plist><dict></dict>") == "ends without </plist>");
  CHECK(fault_of("<plist><dict></di") == "ends without </plist>");
  CHECK(fault_of("<plist><!-- ") == "ends without </plist>");
  CHECK(fault_of("<plist><true/></plist> rubbish") == "continues after </plist>");
  CHECK(fault_of("<plist><true/></plist><plist>") == "continues after </plist>");
  CHECK(fault_of(xml("<array></dict>")) == "is damaged: mismatched tag in line 2");
}

TEST_CASE("text in places where a property list has none is refused") {
  CHECK(fault_of(xml("")) == "is damaged: its <plist> is empty");
  CHECK(fault_of(xml("<true/><true/>")) == "is damaged: <true> is not expected in <plist>");
  CHECK(fault_of(xml("<key>a</key>")) == "is damaged: <key> is not expected in <plist>");
  CHECK(fault_of(xml("<dict><true/></dict>")) == "is damaged: <true> is not expected in <dict>");
  CHECK(fault_of(xml("<dict><key>a</key></dict>")) == "is damaged: a <key> has no value");
  CHECK(fault_of(xml("<dict><key>a</key><key>b</key></dict>")) ==
        "is damaged: <key> is not expected in <dict>");
  CHECK(fault_of(xml("<array><key>b</key></array>")) ==
        "is damaged: <key> is not expected in <array>");
  CHECK(fault_of(xml("<string>a<true/></string>")) ==
        "is damaged: <true> is not expected in <string>");
  CHECK(fault_of(xml("<array>text</array>")) == "is damaged: there is text in <array>");
  CHECK(fault_of(xml("<set/>")) == "is damaged: <set> is no element of a property list");
  CHECK(fault_of(xml("<plist/>")) == "is damaged: <plist> is no element of a property list");
}

TEST_CASE("a property list in XML nests 64 elements and no more") {
  CHECK(fault_of(xml(repeated("<array>", 63) + repeated("</array>", 63))).empty());
  CHECK(fault_of(xml(repeated("<array>", 64) + repeated("</array>", 64))) ==
        "is damaged: it nests more than 64 elements");
  CHECK(fault_of(xml(repeated("<array>", 200'000))) ==
        "is damaged: it nests more than 64 elements");
}

TEST_CASE("no entity stands for anything in a property list") {
  CHECK(fault_of("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>") ==
        "is damaged: its document type declares more than a property list does");
  CHECK(fault_of("<!DOCTYPE plist SYSTEM \"x.dtd\"><plist><string>&a;</string></plist>") ==
        "is damaged: it names an entity 'a' that it does not declare");
  CHECK(fault_of(xml("<string>&a;</string>")) == "is damaged: undefined entity in line 2");
}

TEST_CASE("numbers of a binary property list are read whatever their size") {
  CHECK(number_of(binary({"\x10\xff"})) == 255);
  CHECK(number_of(binary({"\x11\x40\x06"})) == 16390);
  CHECK(number_of(binary({"\x12" + big_endian(0xffffffff, 4)})) == 0xffffffff);
  CHECK(number_of(binary({"\x13" + big_endian(1020, 8)})) == 1020);
  CHECK(number_of(binary({"\x14" + big_endian(0, 8) + big_endian(std::uint64_t{1} << 63U, 8)})) ==
        std::uint64_t{1} << 63U);
  const std::string minus_one = "\x13" + big_endian(~std::uint64_t{0}, 8);
  CHECK(value_of(binary({minus_one})).get<std::monostate>() != nullptr);
}

TEST_CASE("texts of a binary property list are read as UTF-8") {
  using namespace std::string_literals;
  CHECK(text_of(binary({"\x53"
                        "a14"})) == "a14");
  CHECK(text_of(binary({"\x64\x00"
                        "a\x03\xbc\x20\xac\x00z"s})) == "a\u03bc\u20acz");
  CHECK(text_of(binary({"\x62\xd8\x3d\xde\x00"})) == "\U0001F600");
  for (const std::string& damaged : {"\x61\x00\x00"s,
                                     "\x62\x00"
                                     "a\x00\x00"s,
                                     "\x52"
                                     "a\0"s,
                                     "\x51\xe9"s, "\x61\xd8\x3d"s, "\x61\xde\x00"s,
                                     "\x62\xd8\x3d\x00"
                                     "a"s})
    CHECK(fault_of(binary({damaged})) == "is damaged: it has a string that is not text");
}

TEST_CASE("a binary property list nests 64 elements and no more, and not in a circle") {
  CHECK(fault_of(nested(64)).empty());
  CHECK(fault_of(nested(65)) == "is damaged: it nests more than 64 elements");
  CHECK(fault_of(nested(200'000)) == "is damaged: it nests more than 64 elements");
  CHECK(fault_of(binary({array_of({0})})) == "is damaged: it nests more than 64 elements");
}

TEST_CASE("a binary property list whose few objects stand for countless values is refused") {
  CHECK(fault_of(nested(10, 2)).empty());
  CHECK(fault_of(nested(60, 2)) == "is damaged: it has more than 1000000 values");
  CHECK(fault_of(nested(60, 14)) == "is damaged: it has more than 1000000 values");
}

TEST_CASE("a binary property list that refers to what it has not is refused") {
  const std::string missing =
      "is a damaged property list: it refers to an object that does not exist";
  CHECK(fault_of(binary({array_of({1})})) == missing);
  CHECK(fault_of("bplist00") == missing);
  CHECK(fault_of("bplist00" + std::string(32, '\xff')) == missing);
  CHECK(fault_of(binary({"\xaf\x13" + big_endian(1U << 30U, 8)})) == missing);
  CHECK(fault_of(binary({"\xa3"})) != "");
  CHECK(fault_of(binary({"\x5f\x10\xff"
                         "abc"})) == missing);
  CHECK(fault_of(binary({"\xd1" + big_endian(1, 4) + big_endian(1, 4), kFalse})) ==
        "is damaged: a key in it is not text");
}

TEST_CASE("an array that says its length apart is read") {
  const std::string two = "\xaf\x10\x02";
  CHECK(value_of(binary({two + big_endian(1, 4) + big_endian(1, 4), kFalse}))
            .get<PlistArray>()
            ->size() == 2);
  CHECK(fault_of(binary({two + big_endian(1, 4) + big_endian(0, 4), kFalse})) ==
        "is damaged: it nests more than 64 elements");
}

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

/// Returns the value of `key` in the dictionary `value`; creates it if missing.
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

/// Returns the fault found in the sound database after `damage`; empty if none.
std::string fault_of(const std::function<void(PlistValue& root)>& damage) {
  PlistValue root = sound();
  damage(root);
  const auto database = kpep_from(root);
  return database ? "" : database.error().line();
}

TEST_CASE("a database is read as it is") {
  const auto database = kpep_from(sound());
  REQUIRE(database.has_value());
  CHECK(database->name == "x1");
  CHECK(database->marketing_name == "Apple X");
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
        "has an alias 'Other' for 'GONE', which is not one of its events");
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
  CHECK(load_kpep_for(cpu, {"/nowhere/a", "/nowhere/b"}).error().line() ==
        "there is no kpep database for this processor, cpu_100000c_2_1b588bb3; "
        "name the file of a similar one with --kpep FILE");
  const auto found = load_kpep_for(cpu, {"/nowhere/a", path_of("m2.plist"), path_of("m1.plist")});
  REQUIRE(found.has_value());
  CHECK(found->name == "a15");
}

TEST_CASE("counters are shown as ranges") {
  CHECK(counters_in_words(0) == "no counter");
  CHECK(counters_in_words(0x80) == "PMC7");
  CHECK(counters_in_words(0xe0) == "PMC5-7");
  CHECK(counters_in_words(0x3fc) == "PMC2-9");
  CHECK(counters_in_words(0x0f4) == "PMC2 and PMC4-7");
  CHECK(counters_in_words(0xffffffff) == "PMC0-31");
}

}  // namespace

}  // namespace lauka::engine::kperf
