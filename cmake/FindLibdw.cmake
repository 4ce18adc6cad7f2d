# elfutils' libdw with libelf, and libiberty, which demangles names of C++ and Rust: Libdw::Libdw. Both or none: --profile needs both.
# Not all systems have pkg-config files of them. The archive of libdw needs bz2 and others, zstd since 0.189, and eu since 0.192.
lauka_choose_library(Elfutils Libdw::Elfutils NAME elfutils DEBIAN libdw-dev WITHOUT "lauka will refuse --profile"
  HEADERS elfutils/libdwfl.h=Libdw_INCLUDE_DIR LIBRARIES dw=Libdw_LIBRARY elf=Libdw_ELF_LIBRARY NEEDS eu z bz2 lzma zstd
  HEAD "#include <elfutils/libdwfl.h>\n#include <gelf.h>"
  BODY "dwfl_end(dwfl_begin(nullptr)); size_t count; elf_getphdrnum(nullptr, &count);")
lauka_choose_library(Iberty Libdw::Iberty NAME libiberty DEBIAN libiberty-dev WITHOUT "lauka will refuse --profile"
  LIBRARIES iberty=Libdw_IBERTY_LIBRARY
  HEAD "#include <cstddef>\nextern \"C\" { int rust_demangle_callback(const char*, int, void (*)(const char*, std::size_t, void*), void*);
    int cplus_demangle_v3_callback(const char*, int, void (*)(const char*, std::size_t, void*), void*); }"
  BODY "rust_demangle_callback(\"\", 0, nullptr, nullptr); cplus_demangle_v3_callback(\"\", 0, nullptr, nullptr);")
set(Libdw_FOUND FALSE)
if(Elfutils_FOUND AND Iberty_FOUND)
  set(Libdw_FOUND TRUE)
  add_library(Libdw::Libdw INTERFACE IMPORTED)
  set_target_properties(Libdw::Libdw PROPERTIES INTERFACE_LINK_LIBRARIES "Libdw::Elfutils;Libdw::Iberty")
else()
  set(Elfutils_LINK "")
  set(Iberty_LINK "")
endif()
