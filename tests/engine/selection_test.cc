#include "engine/kperf/selection.h"

#include "engine/kpep_tables.h"
#include "engine/kperf/kperf_engine.h"
#include "has.h"
#include "must.h"
#include "notes.h"
#include "places.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace lauka::engine::kperf {
namespace {

using Names = std::vector<std::string>;

KpepDatabase chip(const std::string& name) {
  return {"name of " + name, "Apple " + name, 0b11, 0b1111111100, 0, table_of(name)};
}

constexpr CounterLimits kAll{0b1111111100, false};

Selection selected(const KpepDatabase& database, const Names& names,
                   const CounterLimits& room = kAll) {
  return must(select_events(database, {names, false}, room));
}

std::string refusal(const KpepDatabase& database, const Names& names, bool single_pass = false,
                    const CounterLimits& room = kAll) {
  const auto selection = select_events(database, {names, single_pass}, room);
  return selection ? "" : selection.error().line();
}

/// "PMC2 core_active_cycle 0x2, PMC7 inst_all 0x8c": a pass.
std::string reported(const Selection& selection, std::size_t pass) {
  std::string text;
  for (const PlacedEvent& placed : selection.passes.at(pass)) {
    text += fmt::format("{}PMC{} {} {}", text.empty() ? "" : ", ", placed.counter,
                        selection.events[placed.event_index].name,
                        placed.word == 0 ? "0" : fmt::format("{:#x}", placed.word));
  }
  return text;
}

TEST_CASE("by default each chip counts cycles, instructions and lauka's four, in one pass") {
  for (const char* name : {"m1", "m2", "m3", "m4", "m5"}) {
    CAPTURE(name);
    const Selection selection = selected(chip(name), {});
    CHECK(selection.passes.size() == 1);
    CHECK(selection.notes.empty());
    Names names;
    for (const SelectedEvent& event : selection.events) names.push_back(event.name);
    CHECK(names == Names{"cycles", "instructions", "core_active_cycle", "inst_all",
                         "l1d_cache_miss_ld_nonspec", "branch_mispred_nonspec"});
  }
  CHECK(reported(selected(chip("m2"), {}), 0) ==
        "PMC0 cycles 0, PMC1 instructions 0, PMC2 core_active_cycle 0x2, "
        "PMC5 l1d_cache_miss_ld_nonspec 0xbf, PMC6 branch_mispred_nonspec 0xcb, "
        "PMC7 inst_all 0x8c");
}

TEST_CASE("portable names stand for each chip's events") {
  const auto number_of = [](const char* chip_name, const char* alias) {
    const auto event = find_event_by_any_name(chip(chip_name), alias);
    REQUIRE_MESSAGE(event.has_value(), alias);
    CHECK(event->name == alias);
    return event->hardware_event.selector_number;
  };
  // The selectors of the tables in tests/data/kpep.
  CHECK(number_of("m1", "branches") == 141);
  CHECK(number_of("m1", "branch-misses") == 203);
  CHECK(number_of("m2", "l1d-cache-misses") == 191);
  CHECK(number_of("m2", "l1d-tlb-misses") == 193);
  CHECK(number_of("m2", "l1i-tlb-misses") == 212);
  CHECK(number_of("m2", "l1i-cache-misses") == 219);
  CHECK(number_of("m4", "l1i-cache-misses") == 16390);
  CHECK(find_event_by_any_name(chip("m4"), "cycles")->hardware_event.is_fixed);
  CHECK(find_event_by_any_name(chip("m4"), "instructions")->hardware_event.mask == 2);
}

TEST_CASE("every portable name is there on every chip, and listed with its event") {
  for (const char* name : {"m1", "m2", "m3", "m4", "m5"}) {
    const Catalog catalog = make_catalog(chip(name), kAll.available);
    for (const char* alias : {"cycles", "instructions", "branches", "branch-misses",
                              "l1d-cache-misses", "l1d-tlb-misses", "l1i-cache-misses",
                              "l1i-tlb-misses", "page-faults", "context-switches"}) {
      CAPTURE(alias);
      CHECK(std::count_if(catalog.begin(), catalog.end(), [alias](const CatalogEntry& entry) {
              return entry.alias == alias;
            }) == 1);
    }
  }
}

TEST_CASE("names are found in any case, and shown in lower case") {
  for (const char* name : {"INST_ALL", "inst_all", "Inst_All"})
    CHECK(find_event_by_any_name(chip("m1"), name)->name == "inst_all");
  CHECK(find_event_by_any_name(chip("m1"), "Branch-Misses")->name == "branch-misses");
}

TEST_CASE("an unknown event is refused with the nearest names") {
  CHECK(refusal(chip("m2"), {"INST_AL"}) == "unknown event 'INST_AL'; did you mean INST_ALL?");
  CHECK(refusal(chip("m2"), {"branch-mises"}).ends_with(" branch-misses?"));
  CHECK(refusal(chip("m2"), {"xyzzy"}).ends_with("'; lauka -l lists the events"));
  CHECK(refusal(chip("m2"), {"cache-misses"}) ==
        "'cache-misses' cannot be counted, because the counters of Apple m2 have no such event; "
        "lauka -l lists the events");
}

TEST_CASE("a name that is given twice is counted once, with a note") {
  const Selection selection = selected(chip("m2"), {"branches", "INST_BRANCH", "inst_branch"});
  CHECK(selection.events.size() == 1);
  CHECK(has(note_of(selection.notes, "same_event"), "'inst_branch'"));
}

TEST_CASE("the kernel's own counts need no counter and are in every pass") {
  const Selection selection = selected(chip("m2"), {"inst_all", "page-faults", "inst_ldst"});
  const EventSet set = make_event_set(selection, true);
  REQUIRE(set.passes.size() == 2);
  CHECK(set.passes[0].event_indices == std::vector<std::size_t>{0, 1});
  CHECK(set.passes[1].event_indices == std::vector<std::size_t>{1, 2});
  CHECK(set.events[0].meaning == "INST_ALL, user space only");
  CHECK(selected(chip("m2"), {"page-faults"}).passes.size() == 1);
}

TEST_CASE("fixed events alone are one pass without configuration words") {
  const Selection selection = selected(chip("m2"), {"instructions", "cycles"});
  CHECK(reported(selection, 0) == "PMC0 cycles 0, PMC1 instructions 0");
  CHECK(configuration_words(selection.passes[0], kAll.available).empty());
}

TEST_CASE("fixed events are in every pass") {
  const Selection selection = selected(chip("m2"), {"cycles", "inst_all", "inst_ldst"});
  REQUIRE(selection.passes.size() == 2);
  CHECK(reported(selection, 0) == "PMC0 cycles 0, PMC7 inst_all 0x8c");
  CHECK(reported(selection, 1) == "PMC0 cycles 0, PMC7 inst_ldst 0x9b");
  CHECK(configuration_words(selection.passes[1], kAll.available) ==
        std::vector<std::uint64_t>{0, 0, 0, 0, 0, 0x9b, 0, 0});
  // If the power manager holds PMC4 and 5, the words of those after them move up.
  CHECK(configuration_words(selection.passes[1], kAll.available & ~0b110000U) ==
        std::vector<std::uint64_t>{0, 0, 0, 0x9b, 0, 0});
}

TEST_CASE("user space only is a bit of each configuration word") {
  CHECK(reported(selected(chip("m4"), {"cycles", "l1i-cache-misses"}, {kAll.available, true}), 0) ==
        "PMC0 cycles 0, PMC2 l1i-cache-misses 0x24006");
}

TEST_CASE("counters that cannot be used make more passes, and events without one are refused") {
  const CounterLimits five{0b1100011100, false};  // the power manager keeps PMC5-7
  CHECK(selected(chip("m1"),
                 {"L1D_TLB_ACCESS", "L1D_TLB_MISS", "LD_UNIT_UOP", "ST_UNIT_UOP",
                  "L1D_CACHE_MISS_LD", "L1D_CACHE_MISS_ST"},
                 five)
            .passes.size() == 2);
  CHECK(refusal(chip("m1"), {"inst_all"}, false, five) ==
        "'INST_ALL' cannot be counted: it needs PMC7, which cannot be used here; leave it out");
  KpepDatabase strange = chip("m1");
  for (const CounterMask mask : {0x0U, 0x3U, 0x400U}) {
    CAPTURE(mask);
    for (KpepEvent& event : strange.events)
      if (event.name == "INST_ALL") event.mask = mask;
    CHECK(refusal(strange, {"inst_all"}, false, five) ==
          "'INST_ALL' cannot be counted: no configurable counter of this chip can count it; leave "
          "it out");
  }
  const Selection defaults = selected(chip("m1"), {}, five);
  CHECK(defaults.events.size() == 3);
  CHECK(texts_of(defaults.notes) == Names{"inst_all, l1d_cache_miss_ld_nonspec and "
                                          "branch_mispred_nonspec cannot be counted, because the "
                                          "counters of Apple m1 have no such event, or "
                                          "because it needs a counter that cannot be used"});
}

TEST_CASE("with --single-pass the smallest group that competes is named, and for what") {
  CHECK(refusal(chip("m2"), {"inst_all", "l1d_tlb_miss", "INST_LDST", "RETIRE_UOP"}, true) ==
        "these events do not fit the counters at the same time: inst_all and inst_ldst compete for "
        "PMC7 (and 1 more that needs it); leave out --single-pass, so that they are counted in 3 "
        "passes, or leave out one of these events");
  check_order(
      refusal(chip("m2"), {"branches", "branch-misses", "inst_int_ld", "inst_simd_ld"}, true),
      {"branches, branch-misses, inst_int_ld and inst_simd_ld", "PMC5-7", " 2 passes"});
  CHECK(refusal(chip("m2"), {"inst_all", "l1d_tlb_miss"}, true).empty());
}

TEST_CASE("misses share a pass with what they are divided by") {
  // Nine general events: two passes, and either order of asking would put the pair apart.
  const Selection selection = selected(
      chip("m2"), {"L1D_TLB_MISS", "MAP_STALL", "MAP_REWIND", "MAP_INT_UOP", "MAP_LDST_UOP",
                   "MAP_SIMD_UOP", "L1I_TLB_FILL", "L1D_TLB_FILL", "L1D_TLB_ACCESS"});
  REQUIRE(selection.passes.size() == 2);
  for (const PlacedPass& pass : selection.passes) {
    const auto has = [&pass](std::size_t event) {
      return std::any_of(pass.begin(), pass.end(), [event](const PlacedEvent& placed) {
        return placed.event_index == event;
      });
    };
    CHECK(has(0) == has(8));
  }
}

TEST_CASE("an explanation draws every counter of every pass") {
  const auto database = chip("m2");
  const Explanation explanation =
      *explain_wanted(database, {"cycles", "inst_all", "inst_ldst", "page-faults"},
                      {database.config_counters, false});
  REQUIRE(explanation.passes.size() == 2);
  CHECK(explanation.passes[0].size() == 11);
  CHECK(explanation.passes[0][0].event == "cycles");
  CHECK(explanation.passes[0][7].counter == "PMC7");
  CHECK(explanation.passes[0][7].event == "inst_all");
  CHECK(explanation.passes[0][8].event.empty());
  CHECK(explanation.passes[1][7].event == "inst_ldst");
  CHECK(explanation.passes[1][10].counter == "kernel");
  CHECK(explanation.competition == "inst_all and inst_ldst compete for PMC7");
}

TEST_CASE("a database answers as an engine does, and does not count") {
  const auto engine = must(
      open_database_engine(std::string(places::kRepository) + "/tests/data/kpep/m2.plist", false));
  CHECK(engine->catalog().front().name == "FIXED_CYCLES");
  CHECK(engine->select({{"inst_all"}, false})->passes.size() == 1);
  CHECK(engine->explain({{"inst_all", "inst_ldst"}, true})->passes.size() == 2);
  CHECK_FALSE(engine->explain({{"nothing"}, false}).has_value());
  CHECK_FALSE(open_database_engine("/nowhere", false).has_value());
}

}  // namespace
}  // namespace lauka::engine::kperf
