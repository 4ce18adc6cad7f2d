#include "report/function_name.h"

#include <string>

#include <doctest/doctest.h>

using lauka::report::shortened_function;

TEST_CASE("a name that fits is not shortened") {
  CHECK(shortened_function("int f<char>(int, int)", 21) == "int f<char>(int, int)");
}

TEST_CASE("a long name loses its parameters first, then its return type") {
  CHECK(shortened_function("json::parse(std::string const&, int) const", 20) == "json::parse");
  CHECK(shortened_function("std::vector<int> const& sorted<int>(int)", 20) == "sorted<int>");
  CHECK(shortened_function("Reader::operator()(std::string const&) const", 20) ==
        "Reader::operator()");
  CHECK(shortened_function("run(int)::{lambda(int)#1}::operator()(int) const", 40) ==
        "run(int)::{lambda(int)#1}::operator()");
}

TEST_CASE("a name that is still too long has … in place of its template arguments") {
  const std::string streamed =
      "std::basic_istream<char, std::char_traits<char> >& std::operator>><char, "
      "std::char_traits<char>, std::allocator<char> >(std::basic_istream<char, "
      "std::char_traits<char> >&, std::basic_string<char>&)";
  CHECK(shortened_function(streamed, 60) == "std::operator>><…>");
  CHECK(shortened_function("std::basic_ostream<char>& std::operator<< <std::char_traits<char> "
                           ">(std::basic_ostream<char>&, char const*)",
                           30) == "std::operator<< <…>");
  CHECK(shortened_function("std::map<int, int (*)(int)>::operator[](int const&)", 30) ==
        "std::map<…>::operator[]");
}

TEST_CASE("blanks inside of a function's own name do not end a return type") {
  CHECK(shortened_function("Text::operator char const*() const", 30) ==
        "Text::operator char const*");
  CHECK(shortened_function("(anonymous namespace)::f(int, int, int)", 30) ==
        "(anonymous namespace)::f");
}

TEST_CASE("names of Rust and Go keep the types in which they begin") {
  CHECK(shortened_function("<alloc::vec::Vec<alloc::string::String> as core::ops::Drop>::drop",
                           40) == "<alloc::vec::Vec<all…e::ops::Drop>::drop");
  CHECK(shortened_function("main.(*Decoder).readAllOfTheValues", 20) == "main.(*Dec…TheValues");
}

TEST_CASE("what is still too long loses its middle") {
  CHECK(shortened_function(std::string(30, 'a') + "_last_word(int)", 21) ==
        "aaaaaaaaaa…_last_word");
}
