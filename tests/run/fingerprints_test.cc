#include "run/fingerprints.h"

#include <string_view>

#include <doctest/doctest.h>

namespace lauka {

TEST_CASE("a program that decides itself what it does is native, and what runs another is not") {
  constexpr std::string_view elf = "\177ELF\2\1\1";
  CHECK(classify_program("/usr/bin/sort", elf, false) == ProgramKind::Native);
  CHECK(classify_program("./prog", elf, false) == ProgramKind::Native);
  CHECK(classify_program("./prog", elf, true) == ProgramKind::Launcher);
  CHECK(classify_program("./script", "#!/bin/sh\n", false) == ProgramKind::Launcher);
  for (const char* const launcher :
       {"make", "/usr/bin/taskset", "python3", "python3.11", "/opt/node-20", "sh"}) {
    CAPTURE(launcher);
    CHECK(classify_program(launcher, elf, false) == ProgramKind::Launcher);
  }
}

}  // namespace lauka
