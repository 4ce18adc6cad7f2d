#include "os/demangle.h"

#include <string>

#include <doctest/doctest.h>

// Expected names are those of rustc's own demangler and of c++filt.

namespace lauka::os {

TEST_CASE("names of C++ and C are as their programmers wrote them") {
  CHECK(demangled("_ZN4json5parseERKSs") == "json::parse(std::string const&)");
  CHECK(demangled("_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_") ==
        "std::remove_reference<int&>::type&& std::move<int&>(int&)");
  CHECK(demangled("main") == "main");
  CHECK(demangled("_Zebra") == "_Zebra");
  CHECK(demangled("") == "");
}

TEST_CASE("names of Rust's old scheme are without escapes and hash") {
  CHECK(demangled("_ZN4core3fmt5write17h0123456789abcdefE") == "core::fmt::write");
  CHECK(demangled("_ZN52_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$a..b..C$GT$4drop"
                  "17h0123456789abcdefE") == "<alloc::vec::Vec<T> as a::b::C>::drop");
  CHECK(demangled(
            "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.42") ==
        "std::rt::lang_start::{{closure}}");
}

TEST_CASE("names of Rust's new scheme are as rustc's demangler has them") {
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
  for (const char* symbol : {"_R", "_RN", "_RNvC6_123foo", "_RNvB_1a", "_RNvBa_1a", "_RNvC99a1b",
                             "_RINvC1a1fKj", "_RNvMNvMNvM"})
    CHECK(demangled(symbol) == symbol);
  std::string deep = "_R";
  for (int i = 0; i < 10'000; ++i) deep += "Nv";
  CHECK(demangled(deep) == deep);
}

}  // namespace lauka::os
