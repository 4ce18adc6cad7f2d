#include "core/settings.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {

TEST_CASE("settings that both sides know are compared, and what one side does not know is equal") {
  SettingValues there;
  SettingValues here;
  there[SettingKind::Jobs] = "1";
  here[SettingKind::Jobs] = "2";
  there[SettingKind::Shell] = "none";
  here[SettingKind::Shell] = "none";
  there[SettingKind::Kernel] = "6.1";
  here[SettingKind::Input] = "data";
  const std::vector<SettingDifference> differences = find_differences(there, here);
  REQUIRE(differences.size() == 1);
  CHECK(differences[0] == SettingDifference{SettingKind::Jobs, "1", "2"});
  CHECK(changes_what_is_measured(differences[0]));
}

TEST_CASE("another nice value is a circumstance, and does not change what is measured") {
  SettingValues there;
  SettingValues here;
  there[SettingKind::Nice] = "0";
  here[SettingKind::Nice] = "10";
  const std::vector<SettingDifference> differences = find_differences(there, here);
  REQUIRE(differences.size() == 1);
  CHECK_FALSE(changes_what_is_measured(differences[0]));
}

TEST_CASE("known values replace others, and unknown ones do not") {
  SettingValues values;
  values[SettingKind::Jobs] = "1";
  values[SettingKind::Until] = "none";
  SettingValues others;
  others[SettingKind::Jobs] = "4";
  values.add(others);
  CHECK(values[SettingKind::Jobs] == "4");
  CHECK(values[SettingKind::Until] == "none");
}

TEST_CASE("of two lists of features, those that only one has are named") {
  CHECK(words_of_only_one("avx avx2 erms", "avx erms fsrm") ==
        std::vector<std::string>{"avx2", "fsrm"});
  CHECK(words_of_only_one("avx", "avx").empty());
}

TEST_CASE("lists are compared entry by entry, whatever their order") {
  const SettingDifference limits{SettingKind::Limits, "cpu=1 stack=8 nofile=4",
                                 "stack=9 nofile=4 as=2"};
  CHECK(find_differing_entries(limits) == std::vector<EntryDifference>{{"as", std::nullopt, "2"},
                                                                       {"cpu", "1", std::nullopt},
                                                                       {"stack", "8", "9"}});
  const SettingDifference flags{SettingKind::CompilerFlags, "-O2 -DA=1 -DA=2",
                                "-O3 -DA=2 '-DB=x y'"};
  CHECK(find_differing_entries(flags) == std::vector<EntryDifference>{{"-DA", "1", std::nullopt},
                                                                      {"-DB", std::nullopt, "x y"},
                                                                      {"-O2", "", std::nullopt},
                                                                      {"-O3", std::nullopt, ""}});
  const SettingDifference variables{SettingKind::Variables, std::string(kNoSetting), "LANG=C"};
  CHECK(find_differing_entries(variables) ==
        std::vector<EntryDifference>{{"LANG", std::nullopt, "C"}});
}

}  // namespace lauka
