#include "contract/program.h"
#include "places.h"

#include <string>

#include <doctest/doctest.h>

// scripts/setup on systems that have only a (fake) package manager.

namespace lauka::contract {
namespace {

// Fills the folder $0 like a bare Linux and runs $1/scripts/setup there with the options $4. The
// package manager $2 offers and installs CMake $3.
constexpr const char* kBareLinux = R"sh(
cd "$0" || exit 99
for tool in bash cat cp id rm sed; do ln -s "$(command -v $tool)" $tool; done
fake() { echo '#!/bin/sh' >"$1"; cat >>"$1"; chmod +x "$1"; }
fake uname <<<'echo Linux'
fake env <<<'case "$1" in *=*) shift ;; esac; exec "$@"'
fake sudo <<<'[ "$1" = -n ] && shift; exec "$@"'
fake apt-cache <<<"printf '%s\n' '  Candidate: $3-1'"
fake new-cmake <<<"echo 'cmake version $3'"
fake "$2" <<<'echo "RAN ${0##*/} $*"; case "$*" in *cmake*) cp new-cmake cmake ;; esac'
PATH=$0 exec "$BASH" "$1/scripts/setup" $4
)sh";

Said set_up(const std::string& manager, const std::string& cmake, const std::string& option = "") {
  const Folder bin;
  return lauka(Start{.before = {"bash", "-c", kBareLinux, bin.path(), places::kRepository, manager,
                                cmake, option}});
}

}  // namespace

TEST_CASE("setup installs with the system's own package manager, under its own names") {
  struct Case {
    const char* manager;
    const char* command;
    const char* names[4];
  };
  for (const Case& system :
       {Case{"apt-get",
             "RAN apt-get -q -y ",
             {" g++ ", " ninja-build ", " libfmt-dev ", " libexpat1-dev "}},
        Case{"dnf",
             "RAN dnf -y install gcc-c++ ",
             {" boost-static ", " json-devel ", " libstdc++-static", " fmt-devel "}},
        Case{"apk",
             "RAN apk add g++ ",
             {" samurai ", " boost-static", " pcre2-dev ", " nlohmann-json "}},
        Case{"pacman",
             "RAN pacman -S --needed --noconfirm gcc ",
             {" ninja ", " tomlplusplus", " expat ", " boost "}}}) {
    const Said said = set_up(system.manager, "3.25.1");
    CAPTURE(system.manager);
    CAPTURE(said.out);
    CHECK(said.status == 0);
    CHECK(said.out_has(system.command));
    for (const char* name : system.names) CHECK_MESSAGE(said.out_has(name), name);
    CHECK_FALSE(said.out_has("soci"));
  }
}

TEST_CASE("setup installs what lauka-history needs when asked to") {
  CHECK(set_up("apt-get", "3.31.6", "--history").out_has(" libsoci-dev "));
  const Said arch = set_up("pacman", "3.31.6", "--history");
  CHECK(arch.status == 0);
  CHECK(arch.out_has("no package known here for: libboost_program_options.a soci_core"));
}

TEST_CASE("setup installs nothing where the archive's CMake is too old") {
  const Said said = set_up("apt-get", "3.22.1");
  CHECK(said.status == 1);
  CHECK(said.err_has("this system's package is CMake 3.22.1-1, and 3.25 is needed"));
  CHECK_FALSE(said.out_has(" -y "));
}

TEST_CASE("setup names Debian's packages where it knows no package manager") {
  const Said said = set_up("nothing", "3.25.1");
  CHECK(said.status == 1);
  CHECK(said.err_has("install what Debian calls: g++ git cmake ninja-build libboost-dev"));
}

}  // namespace lauka::contract
