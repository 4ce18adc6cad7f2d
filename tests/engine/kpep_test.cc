#include "engine/kperf/kpep.h"

#include "engine/kpep_tables.h"
#include "has.h"
#include "must.h"
#include "places.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
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
  return must(read_plist(text));
}

std::string text_of(const std::string& text) {
  return std::get<std::string>(value_of(text).content);
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
  CHECK(has(fault_of(integer("14x0")), "'14x0'"));
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
  CHECK(has(fault_of("<plist><dict></di"), "</plist>"));
  CHECK(has(fault_of("<plist><!-- "), "</plist>"));
  CHECK(fault_of("<plist><true/></plist> rubbish") == "continues after </plist>");
  CHECK(has(fault_of("<plist><true/></plist><plist>"), "after </plist>"));
  CHECK(fault_of(xml("<array></dict>")) == "is damaged: mismatched tag in line 2");
}

TEST_CASE("text in places where a property list has none is refused") {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"", "its <plist> is empty"},
      {"<true/><true/>", "<true> is not expected in <plist>"},
      {"<key>a</key>", "<key> is not expected in <plist>"},
      {"<dict><true/></dict>", "<true> is not expected in <dict>"},
      {"<dict><key>a</key></dict>", "a <key> has no value"},
      {"<dict><key>a</key><key>b</key></dict>", "<key> is not expected in <dict>"},
      {"<array><key>b</key></array>", "<key> is not expected in <array>"},
      {"<string>a<true/></string>", "<true> is not expected in <string>"},
      {"<array>text</array>", "there is text in <array>"},
      {"<set/>", "<set> is not an element of a property list"},
      {"<plist/>", "<plist> is not an element of a property list"}};
  for (const auto& one : faults) {
    CAPTURE(one.first);
    CHECK(fault_of(xml(one.first)) == "is damaged: " + one.second);
  }
}

TEST_CASE("a property list in XML nests 64 elements and no more") {
  CHECK(fault_of(xml(repeated("<array>", 63) + repeated("</array>", 63))).empty());
  for (const std::string& deeper :
       {repeated("<array>", 64) + repeated("</array>", 64), repeated("<array>", 200'000)})
    CHECK_MESSAGE(fault_of(xml(deeper)) == "is damaged: it nests more than 64 elements",
                  deeper.size());
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
  for (const std::string& text : {nested(65), nested(200'000), binary({array_of({0})})})
    CHECK_MESSAGE(has(fault_of(text), " 64 elements"), text.size());
}

TEST_CASE("a binary property list whose few objects stand for countless values is refused") {
  CHECK(fault_of(nested(10, 2)).empty());
  CHECK(fault_of(nested(60, 2)) == "is damaged: it has more than 1000000 values");
  CHECK(has(fault_of(nested(60, 14)), " 1000000 values"));
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
  CHECK(has(fault_of(binary({two + big_endian(1, 4) + big_endian(0, 4), kFalse})), " 64 elements"));
}

namespace {

const std::vector<std::string> kReadChips = {"m1", "m2", "m3", "m4", "m5"};

std::string path_of(const std::string& file) {
  return std::string(places::kRepository) + "/tests/data/kpep/" + file;
}

/// A whole database with one fixed and two configurable events.
const std::string kSound = R"(<dict>
<key>name</key><string>x1</string>
<key>version</key><array><integer>1</integer><integer>0</integer></array>
<key>system</key><dict><key>cpu</key><dict>
<key>architecture</key><string>arm64</string>
<key>marketing_name</key><string>Apple X</string>
<key>fixed_counters</key><integer>3</integer>
<key>config_counters</key><integer>1020</integer>
<key>aliases</key><dict><key>Cycles</key><string>FIXED_CYCLES</string></dict>
<key>events</key><dict>
<key>ALL</key><dict>
<key>number</key><integer>140</integer>
<key>counters_mask</key><integer>128</integer>
<key>errata</key><string>some</string></dict>
<key>FIXED_CYCLES</key><dict>
<key>fixed_counter</key><integer>0</integer>
<key>counters_mask</key><integer>1</integer>
<key>fallback</key><string>ACTIVE</string>
<key>description</key><string>cycles</string></dict>
<key>ACTIVE</key><dict><key>number</key><integer>2</integer></dict>
</dict></dict></dict></dict>)";

/// The same with another text in the place of a part.
Result<KpepDatabase> database_with(const std::string& part, const std::string& text) {
  std::string changed = kSound;
  const std::size_t place = changed.find(part);
  REQUIRE_MESSAGE(place != std::string::npos, part);
  return kpep_from(value_of(xml(changed.replace(place, part.size(), text))));
}

/// A part of the sound database, the text in its place, and the fault that is found then.
struct Damage {
  const char* part;
  const char* text;
  const char* fault;
};

void check(const std::vector<Damage>& all) {
  for (const Damage& one : all) {
    CAPTURE(one.part);
    CAPTURE(one.text);
    const auto database = database_with(one.part, one.text);
    CHECK((database ? "" : database.error().line()) == one.fault);
  }
}

TEST_CASE("a database is read as it is") {
  const KpepDatabase database = must(kpep_from(value_of(xml(kSound))));
  CHECK(database.name == "x1");
  CHECK(database.marketing_name == "Apple X");
  CHECK(database.fixed_counters == 3);
  CHECK(database.config_counters == 0x3fc);
  CHECK(database.power_counters == 0);
  REQUIRE(database.events.size() == 3);
  const KpepEvent& fixed = database.events[0];
  CHECK(fixed.name == "FIXED_CYCLES");
  CHECK(fixed.alias == "Cycles");
  CHECK(fixed.fallback == "ACTIVE");
  CHECK(fixed.is_fixed);
  CHECK(fixed.mask == 1);
  const KpepEvent& active = database.events[1];
  CHECK(active.mask == 0x3fc);  // without a mask of its own: all configurable ones
  CHECK(active.selector_number == 2);
  CHECK(database.events[2].errata == "some");
  CHECK(database.events[2].mask == 0x80);
}

TEST_CASE("what a damaged database lacks is named") {
  CHECK(kpep_from(value_of(xml("<true/>"))).error().line() ==
        "is not a kpep database: it holds no dictionary");
  check({
      {"<key>version", "<key>x", "is not a kpep database: its version is not a pair of numbers"},
      {"<integer>1</integer><integer>0", "<integer>2</integer><integer>1",
       "has version 2.1, but lauka knows only version 1"},
      {"<key>name", "<key>x", "is not a kpep database: it has no name"},
      {"<key>system", "<key>x", "is not a kpep database: it has no dictionary system.cpu"},
      {"<key>architecture", "<key>x", "is not a kpep database: it has no system.cpu.architecture"},
      {"arm64", "x86_64", "is for the architecture 'x86_64', but lauka knows only arm64"},
      {"<integer>1020</integer>", "<string>1020</string>",
       "is damaged: system.cpu.config_counters is not a number"},
      {"<key>fixed_counters", "<key>x", "is damaged: there is no system.cpu.fixed_counters"},
      {"1020", "65536", "is damaged: system.cpu.config_counters is out of range (at most 65535)"},
      {"1020", "1023", "has counters that are both fixed and configurable"},
  });
}

TEST_CASE("a damaged event or alias of a database is named") {
  check({
      {"<key>events", "<key>x", "has no dictionary system.cpu.events"},
      {"<key>events</key>", "<key>events</key><dict/><key>x</key>", "has no events"},
      {"<key>ALL</key>", "<key>ALL</key><integer>1</integer><key>OTHER</key>",
       "has an event 'ALL' that is not a dictionary"},
      {"<key>number", "<key>x", "is damaged: there is no number of event 'ALL'"},
      {"<integer>140</integer>", "<string>140</string>",
       "is damaged: number of event 'ALL' is not a number"},
      {"140", "65536", "is damaged: number of event 'ALL' is out of range (at most 65535)"},
      {"<integer>128</integer>", "<true/>",
       "is damaged: counters_mask of event 'ALL' is not a number"},
      {"<string>some</string>", "<integer>1</integer>",
       "is damaged: errata of event 'ALL' is not text"},
      {"some", "&#127;", "is damaged: errata of event 'ALL' has control characters"},
      {"<integer>0</integer>\n<key>counters_mask", "<integer>2</integer><key>counters_mask",
       "has an event 'FIXED_CYCLES' on the fixed counter 2, which does not exist"},
      {"<dict><key>Cycles</key><string>FIXED_CYCLES</string></dict>", "<true/>",
       "has system.cpu.aliases that are not a dictionary"},
      {"<string>FIXED_CYCLES</string>", "<true/>",
       "has an alias 'Cycles' that does not name an event"},
      {"<string>FIXED_CYCLES", "<string>GONE",
       "has an alias 'Cycles' for 'GONE', which is not one of its events"},
      {"<key>Cycles", "<key>Other</key><string>FIXED_CYCLES</string><key>Cycles",
       "has two aliases for 'FIXED_CYCLES': 'Cycles' and 'Other'"},
  });
}

TEST_CASE("a number beyond 8 bits is read whole") {
  CHECK(find_event(must(database_with("140", "16390")), "ALL")->selector_number == 16390);
}

TEST_CASE("an event is found by its name or the database's alias, in any case") {
  const KpepDatabase database = must(kpep_from(value_of(xml(kSound))));
  CHECK(find_event(database, "active")->name == "ACTIVE");
  CHECK(find_event(database, "cycles")->name == "FIXED_CYCLES");
  CHECK(find_event(database, "") == nullptr);
  CHECK(find_event(database, "nothing") == nullptr);
}

TEST_CASE("both forms of each chip's database hold what its table says") {
  for (const std::string& chip : kReadChips) {
    for (const char* form : {".plist", "-binary.plist"}) {
      CAPTURE(chip);
      CAPTURE(form);
      const KpepDatabase database = must(load_kpep(path_of(chip + form)));
      const std::vector<KpepEvent> table = table_of(chip);
      REQUIRE(database.events.size() == table.size());
      for (const KpepEvent& expected : table) {
        const KpepEvent* event = find_event(database, expected.name);
        REQUIRE(event != nullptr);
        CHECK(event->selector_number == expected.selector_number);
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
  const std::string cpu = kpep_name_of_cpu(0x100000c, 2, 0x1b588bb3);
  CHECK(cpu == "cpu_100000c_2_1b588bb3");
  CHECK(kpep_paths(cpu) ==
        std::vector<std::string>{"/usr/local/share/kpep/cpu_100000c_2_1b588bb3.plist",
                                 "/usr/share/kpep/cpu_100000c_2_1b588bb3.plist"});
  CHECK(load_kpep_for(cpu, {"/nowhere/a", "/nowhere/b"}).error().line() ==
        "there is no kpep database for this processor, cpu_100000c_2_1b588bb3; name the file of a "
        "similar processor with --kpep FILE");
  CHECK(must(load_kpep_for(cpu, {"/nowhere/a", path_of("m2.plist"), path_of("m1.plist")})).name ==
        "a15");
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
