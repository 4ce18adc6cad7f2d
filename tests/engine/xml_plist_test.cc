#include "engine/kperf/xml_plist.h"

#include <string>

#include <doctest/doctest.h>

namespace lauka::engine::kperf {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// What is said of a property list with `body`; empty: nothing.
std::string fault_of(const std::string& body) {
  const auto sound =
      check_xml_plist("<?xml version=\"1.0\"?>\n<plist version=\"1.0\">" + body + "</plist>\n");
  return sound ? "" : sound.error().line();
}

std::string fault_of_text(const std::string& text) {
  const auto sound = check_xml_plist(text);
  return sound ? "" : sound.error().line();
}

}  // namespace

TEST_CASE("a property list in XML is told from a binary one and from other files") {
  CHECK(is_xml_plist("<?xml"));
  CHECK_FALSE(is_xml_plist("bplist00\x08"));
  CHECK(fault_of_text("name\tnumber") == "is no property list, or a damaged one");
  CHECK(fault_of_text("") == "is no property list, or a damaged one");
  CHECK(fault_of_text("<html></html>") == "is no property list");
}

TEST_CASE("a sound property list passes, with all that Apple writes into one") {
  CHECK(fault_of_text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
                      "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"
                      "<plist version=\"1.0\">\n<dict>\n\t<key>a</key><!-- > -->\n"
                      "\t<string>b &lt; <![CDATA[</plist>]]></string>\n\t<key>c</key><false/>\n"
                      "\t<key>d</key><array/>\n</dict>\n</plist>\n\n")
            .empty());
}

TEST_CASE("a number of a property list is whole, in decimal or hexadecimal, or it is refused") {
  for (const char* number : {"0", "1020", "-1", "+7", "0x3fc", "0XFF", " 14\n"}) {
    CAPTURE(number);
    CHECK(fault_of(std::string("<integer>") + number + "</integer>").empty());
  }
  CHECK(fault_of("<integer>14x0</integer>") == "is damaged: '14x0' is no <integer>");
  for (const char* number : {"0x", "-", "1 2", "1.5", "0x3fg", "ff", "--1"}) {
    CAPTURE(number);
    CHECK(fault_of(std::string("<integer>") + number + "</integer>") ==
          std::string("is damaged: '") + number + "' is no <integer>");
  }
  for (const char* empty : {"<integer></integer>", "<integer/>", "<integer> \n</integer>"})
    CHECK(fault_of(empty) == "is damaged: an <integer> is empty");
  for (const char* more : {"<integer>1<!-- 4 -->0</integer>", "<integer><![CDATA[x]]>1</integer>"})
    CHECK(fault_of(more) == "is damaged: an <integer> has more than digits");
}

TEST_CASE("a property list that is cut off, or goes on after its end, is refused") {
  CHECK(fault_of_text("<plist><dict></dict>") == "ends without </plist>");
  CHECK(fault_of_text("<plist><dict></di") == "ends within a tag");
  CHECK(fault_of_text("<plist><!-- ") == "ends within a comment that is not closed");
  CHECK(fault_of_text("<plist><true/></plist> rubbish") == "goes on after </plist>");
  CHECK(fault_of_text("<plist><true/></plist><plist>") == "goes on after </plist>");
  CHECK(fault_of("<array></dict>") == "is damaged: </dict> closes <array>");
}

TEST_CASE("a property list nests 64 elements and no more") {
  CHECK(fault_of(repeated("<array>", 63) + repeated("</array>", 63)).empty());
  CHECK(fault_of(repeated("<array>", 64) + repeated("</array>", 64)) ==
        "is damaged: it nests more than 64 elements");
  CHECK(fault_of(repeated("<array>", 200'000)) == "is damaged: it nests more than 64 elements");
}

TEST_CASE("nothing hides from the check in what property lists do not have") {
  for (const char* tag : {"<array a=\"<array>\">", "<array a='>'>", "<\x1b[2J>", "<>", "<a<b>"}) {
    CAPTURE(tag);
    CHECK(fault_of(tag).find("is no tag of a property list") != std::string::npos);
  }
  CHECK(fault_of_text("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist></plist>") ==
        "is damaged: its document type declares more than a property list does");
}

}  // namespace lauka::engine::kperf
