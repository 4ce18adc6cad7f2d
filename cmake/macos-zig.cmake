# Toolchain: builds for macOS on Linux with the zig compiler, which brings Apple's headers and libc++.
# scripts/cross-macos fetches what is needed and uses the preset cross-macos.
#
#   ZIG_EXECUTABLE      the compiler
#   ZIG_CACHE           its cache: the C++ library, built once for each target
#   MACOS_PROCESSOR     arm64 or x86_64
#   MACOS_OLDEST        the oldest macOS that is to run the program, with both parts (13.3)

# CMake reads this file again for each trial compilation, which gets these only if they are named here.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ZIG_EXECUTABLE ZIG_CACHE ZIG_TOOLS MACOS_PROCESSOR MACOS_OLDEST)

set(ZIG_TOOLS ${CMAKE_BINARY_DIR}/zig CACHE PATH "The folder of the scripts that stand in for cc, c++, ar and ranlib")
set(ZIG_CACHE ${CMAKE_BINARY_DIR}/zig/cache CACHE PATH "zig's cache")
set(MACOS_PROCESSOR arm64 CACHE STRING "arm64 or x86_64")
# std::to_chars of a double is in the system's libc++ since then.
set(MACOS_OLDEST 13.3 CACHE STRING "The oldest macOS that is to run the program")
find_program(ZIG_EXECUTABLE zig REQUIRED NO_CMAKE_FIND_ROOT_PATH)

set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 22)  # of macOS 13
set(CMAKE_SYSTEM_PROCESSOR ${MACOS_PROCESSOR})

# zig is one program with subcommands, and is told of its cache by the environment: CMake gets a script for each.
# A script is written anew only where it changes, so that ccache knows it again.
function(lauka_write_zig_tool name)
  set(words ${name} ${ARGN})
  list(JOIN words " " words)
  set(sieve "")
  if(name MATCHES "^c")
    # What CMake passes to see how the linker is called; zig refuses it.
    set(sieve [[
for word do
  shift
  [ "$word" = -Wl,-v ] || set -- "$@" "$word"
done
]])
  endif()
  file(CONFIGURE OUTPUT ${ZIG_TOOLS}/${name} @ONLY CONTENT [[#!/bin/sh
ZIG_GLOBAL_CACHE_DIR='@ZIG_CACHE@'
ZIG_LOCAL_CACHE_DIR='@ZIG_CACHE@'
export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR
@sieve@exec '@ZIG_EXECUTABLE@' @words@ "$@"
]])
  file(CHMOD ${ZIG_TOOLS}/${name} PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endfunction()

string(REPLACE arm64 aarch64 cpu_of_zig ${MACOS_PROCESSOR})
# -O2: without any -O zig compiles in a mode of its own, with traps, for which it would build a second libc++; a
# later -O still counts. Frame pointers: the arm64 ABI of macOS wants them, zig leaves them out.
set(compile -target ${cpu_of_zig}-macos.${MACOS_OLDEST} -O2 -fno-sanitize=undefined -fno-omit-frame-pointer)
lauka_write_zig_tool(cc ${compile})
# zig links its own libc++ and would take what the oldest macOS lacks; undefined, this makes it refuse that, as
# Apple's compiler does.
lauka_write_zig_tool(c++ ${compile} -U_LIBCPP_HAS_NO_VENDOR_AVAILABILITY_ANNOTATIONS)
lauka_write_zig_tool(ar)
lauka_write_zig_tool(ranlib)
set(CMAKE_C_COMPILER ${ZIG_TOOLS}/cc)
set(CMAKE_CXX_COMPILER ${ZIG_TOOLS}/c++)
set(CMAKE_AR ${ZIG_TOOLS}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${ZIG_TOOLS}/ranlib CACHE FILEPATH "")
find_program(CMAKE_INSTALL_NAME_TOOL NAMES llvm-install-name-tool llvm-install-name-tool-14)

# Else zig writes debug information.
set(CMAKE_C_FLAGS_RELEASE_INIT -g0)
set(CMAKE_CXX_FLAGS_RELEASE_INIT -g0)
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)

# The packages that the project uses, for want of those of a Mac.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}/cross)

# Nothing of this Linux is for a Mac: no library, header, package or pkg-config file of it may be found.
file(MAKE_DIRECTORY ${ZIG_TOOLS}/nothing)
set(CMAKE_FIND_ROOT_PATH ${ZIG_TOOLS}/nothing)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${ZIG_TOOLS}/nothing)
