#include "os/symbols.h"
#include "places.h"
#include "skip.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

// With elfutils, on programs that are there.

namespace lauka::os {
namespace {

bool may_test_symbols() {
  if (can_read_symbols()) return true;
  skip("lauka was built without elfutils or libiberty");
  return false;
}

std::string fixture_path() {
  return std::string(places::kFixtures) + "/hundred";
}

}  // namespace

TEST_CASE("a static function of a program is found by offsets in its file") {
  if (!may_test_symbols()) return;
  OpenedCode code = open_code({.path = fixture_path()}, getpid(), {});
  REQUIRE(code.symbols != nullptr);
  std::size_t named = 0;
  const auto bytes = std::filesystem::file_size(fixture_path());
  for (std::uint64_t offset = 0; offset < bytes; ++offset)
    if (code.symbols->find(offset) == std::vector<std::string>{"part_42"}) ++named;
  CHECK(named > 8);
  CHECK(named < 256);
}

TEST_CASE("the code through which a program calls shared libraries has no symbol, and is found") {
  if (!may_test_symbols()) return;
  const std::string has_table = "readelf -SW " + fixture_path() + " | grep -q ' [.]plt '";
  if (std::system(has_table.c_str()) != 0) return skip("the fixture calls no shared library");

  OpenedCode code = open_code({.path = fixture_path()}, getpid(), {});
  REQUIRE(code.symbols != nullptr);
  std::size_t stubs = 0;
  for (std::uint64_t offset = 0; offset < std::filesystem::file_size(fixture_path()); ++offset)
    if (code.symbols->is_call_stub(offset) && code.symbols->find(offset).empty()) ++stubs;
  CHECK(stubs >= 16);
  CHECK_FALSE(code.symbols->is_call_stub(0));
}

TEST_CASE("a file that is not the one that was mapped has no symbols, and is said to be replaced") {
  if (!may_test_symbols()) return;
  struct stat about {};
  REQUIRE(stat(fixture_path().c_str(), &about) == 0);
  CHECK(open_code({.path = fixture_path(), .inode = about.st_ino}, getpid(), {}).symbols !=
        nullptr);
  const OpenedCode other =
      open_code({.path = fixture_path(), .inode = about.st_ino + 1}, getpid(), {});
  const OpenedCode older = open_code({.path = fixture_path(), .build_id = "12345"}, getpid(), {});
  CHECK(other.symbols == nullptr);
  CHECK(older.symbols == nullptr);
  CHECK(other.why_not == older.why_not);
}

TEST_CASE("a stripped program has the symbols that its .gnu_debuglink names, if they are its own") {
  if (!may_test_symbols()) return;
  if (std::system("objcopy --version > /dev/null 2>&1") != 0) return skip("there is no objcopy");
  std::string folder = std::filesystem::temp_directory_path() / "lauka-symbols.XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const std::string debug = folder + "/.debug/program.debug";
  std::filesystem::create_directory(folder + "/.debug");
  const std::string copy = "objcopy -R .note.gnu.build-id ";
  REQUIRE(std::system((copy + "--only-keep-debug " + fixture_path() + " " + debug).c_str()) == 0);
  const std::string link = "--add-gnu-debuglink=" + debug + " ";
  const std::string program = folder + "/program";
  REQUIRE(std::system((copy + "-S " + link + fixture_path() + " " + program).c_str()) == 0);
  const auto has_part = [&] {
    const OpenedCode code = open_code({.path = program}, getpid(), {});
    bool has = false;
    if (code.symbols)
      code.symbols->list([&](std::span<const char* const> names) {
        for (const char* name : names) has = has || std::string(name) == "part_42";
      });
    return has;
  };
  CHECK(has_part());
  std::ofstream(debug, std::ios::app) << "not its own";
  CHECK_FALSE(has_part());
  std::filesystem::remove_all(folder);
}

TEST_CASE("as root a file is read with the rights of the user who runs the commands") {
  if (!may_test_symbols()) return;
  if (getuid() != 0) return skip("only root may act as another user");
  std::string file = std::filesystem::temp_directory_path() / "lauka-symbols.XXXXXX";
  const int made = mkstemp(file.data());
  REQUIRE(made >= 0);
  close(made);
  using std::filesystem::copy_options;
  std::filesystem::copy_file(fixture_path(), file, copy_options::overwrite_existing);
  REQUIRE(chmod(file.c_str(), 0700) == 0);
  constexpr std::uint32_t nobody = 65534;
  const User user{.id = nobody, .group = nobody, .groups = {nobody}};
  CHECK(open_code({.path = file}, getpid(), {}).symbols != nullptr);
  CHECK(open_code({.path = file}, getpid(), user).symbols == nullptr);
  std::filesystem::remove(file);
}

TEST_CASE("a file that is gone, a folder, and one that is no program have no symbols") {
  if (!may_test_symbols()) return;
  for (const char* const path : {"/nosuch/file", "/tmp", "/etc/passwd", "/dev/null"}) {
    const OpenedCode code = open_code({.path = path}, getpid(), {});
    CHECK(code.symbols == nullptr);
    CHECK_FALSE(code.why_not.empty());
  }
}

TEST_CASE("the code that the kernel gives to each process has names") {
  if (!may_test_symbols()) return;
  OpenedCode code = open_vdso();
  REQUIRE(code.symbols != nullptr);
  std::size_t named = 0;
  for (std::uint64_t offset = 0; offset < 8192; ++offset)
    if (!code.symbols->find(offset).empty()) ++named;
  CHECK(named > 0);
}

// Expected names are those of rustc's own demangler and of c++filt.

TEST_CASE("names of C++ and C are as their programmers wrote them") {
  if (!may_test_symbols()) return;
  CHECK(demangled("_ZN4json5parseERKSs") == "json::parse(std::string const&)");
  CHECK(demangled("_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_") ==
        "std::remove_reference<int&>::type&& std::move<int&>(int&)");
  CHECK(demangled("main") == "main");
  CHECK(demangled("_Zebra") == "_Zebra");
  CHECK(demangled("") == "");
}

TEST_CASE("names of Rust's old scheme are without escapes and hash") {
  if (!may_test_symbols()) return;
  CHECK(demangled("_ZN4core3fmt5write17h0123456789abcdefE") == "core::fmt::write");
  CHECK(demangled("_ZN52_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$a..b..C$GT$4drop"
                  "17h0123456789abcdefE") == "<alloc::vec::Vec<T> as a::b::C>::drop");
  CHECK(demangled(
            "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.42") ==
        "std::rt::lang_start::{{closure}}");
}

TEST_CASE("names of Rust's new scheme are as rustc's demangler has them") {
  if (!may_test_symbols()) return;
  CHECK(demangled("_RNvC6_123foo3bar") == "123foo::bar");
  CHECK(demangled("_RNvNtCs1234_7mycrate3foo3bar") == "mycrate::foo::bar");
  CHECK(demangled("_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_") == "cc::spawn::{closure#0}::{closure#0}");
  CHECK(demangled("_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_"
                  "ECs1iopQbuBiw2_3std") ==
        "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>");
  CHECK(demangled("_RNvMC0INtC8arrayvec8ArrayVechKj7b_E3new") ==
        "<arrayvec::ArrayVec<u8, 123>>::new");
  CHECK(demangled("_RNvXs_C7mycrateNtB4_3FooNtB4_3Bar3baz") ==
        "<mycrate::Foo as mycrate::Bar>::baz");
  CHECK(demangled("_RINvC1a1fFKCRShjEbTlEAhj4_QcE") ==
        "a::f::<extern \"C\" fn(&[u8], usize) -> bool, (i32,), [u8; 4], &mut char>");
}

TEST_CASE("a symbol that is not well formed is its own name") {
  if (!may_test_symbols()) return;
  for (const char* symbol : {"_R", "_RN", "_RNvC6_123foo", "_RNvB_1a", "_RNvBa_1a", "_RNvC99a1b",
                             "_RINvC1a1fKj", "_RNvMNvMNvM"})
    CHECK(demangled(symbol) == symbol);
  std::string deep = "_R";
  for (int i = 0; i < 10'000; ++i) deep += "Nv";
  CHECK(demangled(deep) == deep);
}

}  // namespace lauka::os
