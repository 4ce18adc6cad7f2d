#include "bisect/journal.h"

#include "../must.h"
#include "../scratch.h"

#include <fstream>
#include <string>
#include <vector>

namespace lauka::bisect {
namespace {

using Entries = std::vector<std::string>;

TEST_CASE("a later call with the same search reads what an earlier call has logged") {
  const Scratch scratch;
  const std::string path = scratch.file("log");
  {
    Journal journal = must(Journal::open(path, "search 1"));
    CHECK(journal.earlier_entries().empty());
    journal.add("built good");
  }
  {
    Journal journal = must(Journal::open(path, "search 1"));
    CHECK(journal.earlier_entries() == Entries{"built good"});
    journal.add("step after");
  }
  const Journal journal = must(Journal::open(path, "search 1"));
  CHECK(journal.earlier_entries() == Entries{"built good", "step after"});
  CHECK_FALSE(journal.has_dropped_search());
}

TEST_CASE("another search drops what is logged") {
  const Scratch scratch;
  const std::string path = scratch.file("log");
  must(Journal::open(path, "search 1")).add("built good");
  {
    const Journal other = must(Journal::open(path, "search 2"));
    CHECK(other.earlier_entries().empty());
    CHECK(other.has_dropped_search());
  }
  CHECK(must(Journal::open(path, "search 1")).earlier_entries().empty());
}

TEST_CASE("a line that a kill has cut off is dropped, and the search goes on after the others") {
  const Scratch scratch;
  const std::string path = scratch.file("log");
  must(Journal::open(path, "search")).add("built good");
  std::ofstream(path, std::ios::app) << "step aft";
  {
    Journal journal = must(Journal::open(path, "search"));
    CHECK(journal.earlier_entries() == Entries{"built good"});
    journal.add("step before");
  }
  CHECK(must(Journal::open(path, "search")).earlier_entries() ==
        Entries{"built good", "step before"});
}

TEST_CASE("a log that another search is writing is refused, with advice for lauka-bisect") {
  const Scratch scratch;
  const std::string path = scratch.file("log");
  const Journal journal = must(Journal::open(path, "search"));

  const auto other = Journal::open(path, "search");
  REQUIRE_FALSE(other);
  CHECK(other.error().remedy.find("--work DIR") != std::string::npos);
}

TEST_CASE("a file that is not a log is refused, and stays as it is") {
  const Scratch scratch;
  const std::string path = scratch.file("log");
  std::ofstream(path) << "mine\n";
  CHECK(Journal::open(path, "search").error().what.find("is not the log of a search") !=
        std::string::npos);
  std::string text;
  std::getline(std::ifstream(path), text);
  CHECK(text == "mine");
}

TEST_CASE("a line that was changed by hand is dropped") {
  const Scratch scratch;
  const std::string path = scratch.file("log");
  must(Journal::open(path, "search")).add("step after");
  std::string text;
  {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  text.replace(text.find("after"), 5, "begin");
  std::ofstream(path, std::ios::trunc) << text;
  CHECK(must(Journal::open(path, "search")).earlier_entries().empty());
}

}  // namespace
}  // namespace lauka::bisect
