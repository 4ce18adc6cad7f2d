#include "format/series_file.h"

#include "core/decision.h"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

const SeriesTerms kTerms{.confidence = 0.95,
                         .conditions = {"keep if wall_time < -1%"},
                         .metric = "wall_time",
                         .limit_percent = -1.0,
                         .engine = "none",
                         .layouts = 1,
                         .jobs = 1};

constexpr UtcTime kTime =
    std::chrono::sys_days(std::chrono::year(2026) / 1 / 2) + std::chrono::milliseconds(3004);

SeriesDecision decided(std::size_t number, gate::Decision decision) {
  return {.number = number,
          .time = kTime,
          .decision = decision,
          .reference = {"./best", "aa", "bb"},
          .candidate = {"./candidate \"1\"", "", ""},
          .has_other_reference = true,
          .labels = {{"try", "7"}},
          .rounds = 57,
          .rounds_at_last_look = 228,
          .change = -0.1,
          .low = -0.2,
          .noise = 0.1 + 0.2};
}

/// The lines of a file, as lauka writes them.
class File {
 public:
  template <typename Line>
  void add(const Line& line) {
    text += seals_.seal_json(to_line(line)) + "\n";
  }
  std::string text{};

 private:
  Seals seals_;
};

File file_of_two() {
  File file;
  file.add(kTerms);
  file.add(SeriesReservation{1, 0.008, kTime});
  file.add(SeriesReservation{2, 0.0035, kTime});
  file.add(decided(2, gate::Decision::Kept));
  return file;
}

}  // namespace

TEST_CASE("a series is read as it was written") {
  const File file = file_of_two();
  const auto series = read_series(file.text);
  REQUIRE(series);
  CHECK(series->series.terms == kTerms);
  CHECK(series->series.reservations ==
        std::vector<SeriesReservation>{{1, 0.008, kTime}, {2, 0.0035, kTime}});
  CHECK(series->series.decisions == std::vector<SeriesDecision>{decided(2, gate::Decision::Kept)});
  CHECK(series->bytes_of_whole_lines == file.text.size());
  CHECK_FALSE(series->has_unfinished_line);
}

TEST_CASE("an empty file is a series that has not begun") {
  const auto series = read_series("");
  REQUIRE(series);
  CHECK_FALSE(series->series.terms);
}

TEST_CASE("an unfinished last line is left out, wherever it was cut") {
  const File file = file_of_two();
  const std::size_t last_line = file.text.rfind('\n', file.text.size() - 2) + 1;
  for (std::size_t length = last_line + 1; length < file.text.size(); ++length) {
    const auto series = read_series(std::string_view(file.text).substr(0, length));
    REQUIRE(series);
    CHECK(series->has_unfinished_line);
    CHECK(series->series.decisions.empty());
    CHECK(series->bytes_of_whole_lines == last_line);
  }
}

TEST_CASE("an unfinished first line is left out, too") {
  const std::string text = file_of_two().text;
  for (std::size_t length = 1; length < text.find('\n'); ++length) {
    const auto series = read_series(std::string_view(text).substr(0, length));
    REQUIRE(series);
    CHECK_FALSE(series->series.terms);
    CHECK(series->bytes_of_whole_lines == 0);
  }
}

TEST_CASE("damage anywhere else is refused with the number of the line") {
  const File file = file_of_two();
  std::size_t line = 1;
  for (std::size_t i = 0; i + 1 < file.text.size(); ++i) {
    if (file.text[i] == '\n') {
      ++line;
      continue;
    }
    std::string damaged = file.text;
    damaged[i] = damaged[i] == 'x' ? 'y' : 'x';
    const auto series = read_series(damaged);
    CAPTURE(i);
    REQUIRE_FALSE(series);
    CHECK(series.error().what == (line == 1 ? "is not a series that this version of lauka knows"
                                            : "is damaged in line " + std::to_string(line)));
  }
}

TEST_CASE("a line that is removed or repeated is noticed") {
  const File file = file_of_two();
  const std::size_t second = file.text.find('\n') + 1;
  const std::size_t third = file.text.find('\n', second) + 1;
  CHECK_FALSE(read_series(file.text.substr(0, second) + file.text.substr(third)));
  CHECK_FALSE(read_series(file.text.substr(0, third) + file.text.substr(second)));
}

TEST_CASE("lines that cannot follow each other are refused, although their seals are right") {
  File twice = file_of_two();
  twice.add(decided(2, gate::Decision::Worse));
  CHECK_FALSE(read_series(twice.text));

  File unknown = file_of_two();
  unknown.add(decided(3, gate::Decision::Worse));
  CHECK_FALSE(read_series(unknown.text));

  File gap = file_of_two();
  gap.add(SeriesReservation{4, 0.001, kTime});
  CHECK_FALSE(read_series(gap.text));

  File headless;
  headless.add(SeriesReservation{1, 0.008, kTime});
  CHECK_FALSE(read_series(headless.text));
}

TEST_CASE("a series of a later version is refused") {
  std::string line = to_line(kTerms);
  line.replace(line.find("\"format\":1"), 10, "\"format\":2");
  CHECK_FALSE(read_series(Seals().seal_json(line) + "\n"));
}

TEST_CASE("a file of another program is refused") {
  CHECK_FALSE(read_series("#!/bin/sh\nmake\n"));
  CHECK_FALSE(read_series("no line end"));
}

}  // namespace lauka
