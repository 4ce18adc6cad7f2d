#include "core/choices.h"
#include "has.h"
#include "report/screen.h"
#include "report/style.h"

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka::report {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The output to the terminal, piece by piece.
struct Screen {
  std::vector<std::string> writes;

  Sink sink() {
    return [this](std::string_view text) { writes.emplace_back(text); };
  }
};

constexpr std::string_view kErased = "\r\x1b[K";

/// The line that this progress makes in a terminal of this width, once the last one is erased.
std::string line_of(std::size_t width, const Progress& progress, bool ascii = false,
                    const DisplayUnit* unit = nullptr) {
  Screen screen;
  ProgressBar bar(
      screen.sink(), [width] { return width; }, ascii, unit);
  bar.progress(progress);
  REQUIRE(screen.writes.size() == 1);
  REQUIRE(screen.writes[0].starts_with(kErased));
  return screen.writes[0].substr(kErased.size());
}

/// A terminal that keeps its width.
std::function<std::size_t()> cells(std::size_t width) {
  return [width] { return width; };
}

}  // namespace

TEST_CASE("the line has bar, percent, elapsed, remaining, the estimate and the command") {
  CHECK(line_of(100, {"./build-new -O2", RoundKind::Timed, 0.4, milliseconds(2300),
                      milliseconds(3400), 0.1301}) ==
        "[========            ]  40%  0:02, 0:04 left  mean 130ms  ./build-new -O2");
}

TEST_CASE("the line shows the difference so far, with the name of who differs") {
  Screen screen;
  ProgressBar bar(screen.sink(), cells(100));
  Progress progress{"./old", RoundKind::Timed, 0.4, milliseconds(2300), milliseconds(3400), 0.1301};
  progress.difference = {"./new", -0.61, -0.64, -0.58};
  bar.progress(progress);
  CHECK(screen.writes.at(0).ends_with("0:02, 0:04 left  ./new −61.0% ± 3.0%"));
  progress.kind = RoundKind::Counting;
  progress.elapsed += seconds(1);
  bar.progress(progress);
  CHECK(screen.writes.at(1).ends_with("counting  ./old"));
}

TEST_CASE("the line shows the estimate in the unit of --time-unit") {
  CHECK(line_of(100, {"./new", RoundKind::Timed, 0.4, milliseconds(2300), std::nullopt, 0.1301},
                false, find_display_unit("s"))
            .ends_with("0:02  mean 0.130s  ./new"));
}

TEST_CASE("a warm-up run is named, and unknown parts are left out") {
  CHECK(line_of(79, {"sleep\t1", RoundKind::Warmup, 0.0, seconds(3725), {}, {}}) ==
        "[          ]  1:02:05  warm-up  sleep\\t1");
}

TEST_CASE("the line is drawn at most ten times a second") {
  Screen screen;
  ProgressBar bar(screen.sink(), cells(80));
  for (int ms = 0; ms < 1000; ++ms) {
    bar.progress({"a", RoundKind::Timed, 0.5, milliseconds(ms), std::nullopt, std::nullopt});
  }
  CHECK(screen.writes.size() == 10);
}

TEST_CASE("the line never reaches the last column") {
  for (const std::size_t width : {0U, 1U, 10U, 40U, 80U}) {
    CAPTURE(width);
    const std::string name(300, 'x');
    CHECK(display_width(line_of(width, {name, RoundKind::Timed, 1.0, seconds(1), seconds(0),
                                        0.1})) == (width > 0 ? width - 1 : 0));
  }
}

TEST_CASE("when the session is over the line is gone without a trace") {
  Screen screen;
  ProgressBar bar(screen.sink(), cells(80));
  bar.finished();
  CHECK(screen.writes.empty());
  bar.progress({"a", RoundKind::Timed, 0.5, seconds(1), std::nullopt, std::nullopt});
  bar.finished();
  bar.finished();
  REQUIRE(screen.writes.size() == 2);
  CHECK(screen.writes[1] == "\r\x1b[K");
}

TEST_CASE("fractions outside 0 to 1 do not break the bar") {
  CHECK(line_of(80, {"a", RoundKind::Timed, 1.7, seconds(1), {}, {}}) ==
        "[====================] 100%  0:01  a");
  CHECK(line_of(80, {"a", RoundKind::Timed, -0.2, seconds(2), {}, {}}) ==
        "[                    ]  0:02  a");
}

TEST_CASE("the line follows the terminal's width") {
  Screen screen;
  std::size_t width = 100;
  ProgressBar bar(screen.sink(), [&width] { return width; });
  bar.progress({std::string(300, 'x'), RoundKind::Timed, 0.5, seconds(1), std::nullopt, {}});
  width = 40;
  bar.progress({std::string(300, 'x'), RoundKind::Timed, 0.5, seconds(2), std::nullopt, {}});
  REQUIRE(screen.writes.size() == 2);
  CHECK(display_width(screen.writes[0].substr(kErased.size())) == 99);
  CHECK(display_width(screen.writes[1].substr(kErased.size())) == 39);
}

TEST_CASE("a terminal without UTF-8 gets no other characters") {
  CHECK(has(line_of(60, {"sleep", RoundKind::Timed, 0.5, seconds(1), {}, 2e-6}, true), "2.00us"));
}

TEST_CASE("a simulated run has its number, and the time that all of them need") {
  Progress progress{"./new", RoundKind::Simulated, 0.2, seconds(10), seconds(40), {}};
  progress.run = RunNumber{2, 6};
  CHECK(line_of(100, progress) ==
        "[====                ]  20%  0:10, 0:40 left  simulated run 2 of 6  ./new");
  progress.elapsed_share = 0.0;
  progress.remaining.reset();
  progress.run = RunNumber{1, 6};
  CHECK(line_of(100, progress) == "[                    ]  0:10  simulated run 1 of 6  ./new");
}

TEST_CASE("a sampled run is not called a counting run, and its number may be the only one known") {
  Progress progress{"./new", RoundKind::Counting, 0.5, seconds(1), std::nullopt, {}};
  progress.run = RunNumber{3, std::nullopt};
  CHECK(line_of(100, progress).ends_with("counting run 3  ./new"));
  progress.are_samples_taken = true;
  CHECK(line_of(100, progress).ends_with("sampled run 3  ./new"));
}

TEST_CASE("the bar never moves backwards, though more time may be left than was thought") {
  Screen screen;
  ProgressBar bar(screen.sink(), cells(100));
  Progress progress{"./new", RoundKind::Timed, 0.9, seconds(9), seconds(1), {}};
  bar.progress(progress);
  progress = {"./new", RoundKind::Timed, 0.5, seconds(10), seconds(10), {}};
  bar.progress(progress);
  REQUIRE(screen.writes.size() == 2);
  CHECK(has(screen.writes[1], "[==================  ]  90%  0:10, 0:10 left"));
}

TEST_CASE("while gates may end the session earlier, the time left is called a limit") {
  Progress progress{"./new", RoundKind::Timed, 0.1, seconds(1), seconds(9), {}};
  progress.may_end_earlier = true;
  CHECK(has(line_of(100, progress), "10%  0:01, at most 0:09 left"));
}

TEST_CASE("builds have a bar, their number and the time left") {
  Screen screen;
  ProgressBar bar(screen.sink(), cells(100));
  bar.building({"./new: layout 1 of 8", 1, 0, 16, seconds(0), std::nullopt});
  bar.building({"./new: layout 3 of 8", 5, 4, 16, seconds(10), seconds(30)});
  REQUIRE(screen.writes.size() == 2);
  CHECK(screen.writes[0].ends_with(
      "[                    ]  0:00  building 1 of 16  ./new: layout 1 of 8"));
  CHECK(screen.writes[1].ends_with(
      "[=====               ]  25%  0:10, 0:30 left  building 5 of 16  ./new: layout 3 of 8"));
}

}  // namespace lauka::report
