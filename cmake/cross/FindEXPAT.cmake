# expat, compiled from Debian's sources: a Mac has it in its SDK, which is not here.
set(LAUKA_SOURCES_FOR_MACOS ${PROJECT_SOURCE_DIR}/build/cross-tools CACHE PATH "Where scripts/cross-macos puts sources")
set(from ${LAUKA_SOURCES_FOR_MACOS}/expat)
if(NOT EXISTS ${from}/xmlparse.c)
  message(FATAL_ERROR "There are no sources of expat in ${from}: run scripts/cross-macos")
endif()
# What its configure script would find.
file(WRITE ${PROJECT_BINARY_DIR}/expat/expat_config.h
  "#define BYTEORDER 1234\n#define HAVE_ARC4RANDOM_BUF 1\n#define XML_CONTEXT_BYTES 1024\n#define XML_DTD 1\n")
add_library(expat_for_macos STATIC EXCLUDE_FROM_ALL ${from}/xmlparse.c ${from}/xmlrole.c ${from}/xmltok.c)
target_include_directories(expat_for_macos SYSTEM PUBLIC ${from} PRIVATE ${PROJECT_BINARY_DIR}/expat)
target_compile_options(expat_for_macos PRIVATE -w)
add_library(EXPAT::EXPAT ALIAS expat_for_macos)
set(EXPAT_FOUND TRUE)
