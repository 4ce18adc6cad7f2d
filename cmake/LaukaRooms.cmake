# One static library for each room of src/rooms.txt, linked to what that room may include.
# CMake by itself accepts static libraries that need each other; a room that is not listed above its user is refused here.

# Has libFuzzer see what is reached. The programs have it as the rooms do, whose precompiled headers they share.
add_library(lauka_reached INTERFACE)
if(LAUKA_FUZZ STREQUAL "coverage")  # a third more time to compile
  target_compile_options(lauka_reached INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Tests hash half a gigabyte, which takes 40 s if it is not optimized.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/sha256.cc PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
endif()

# For all but statistics, as the rest waits for the system or runs once in a session: what -O2 takes longer to compile would
# not come back. gcc takes another sixth less time without these passes. To read and show a session of 100 runs takes 8% fewer
# instructions than with all of -O1 (callgrind, gcc 12), and to hash a program 3% more time than with -O2.
set(LAUKA_LITTLE_OPTIMIZATION $<$<CONFIG:Release>:-O1>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  foreach(pass tree-pta guess-branch-probability tree-dominator-opts tree-loop-optimize tree-ccp tree-dse dse
      forward-propagate if-conversion)
    list(APPEND LAUKA_LITTLE_OPTIMIZATION $<$<CONFIG:Release>:-fno-${pass}>)
  endforeach()
endif()

function(lauka_add_rooms)
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/rooms.txt lines REGEX "^[a-z]+:")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/rooms.txt)
  set(rooms "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z]+):(.*)$" _ "${line}")
    set(room ${CMAKE_MATCH_1})
    string(REGEX MATCHALL "[^ ]+" needs "${CMAKE_MATCH_2}")
    if(room STREQUAL "history" AND NOT SOCI_FOUND)
      continue()
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cc)
    lauka_keep_sources_of_this_system(sources)
    if(sources)
      add_library(lauka_${room} STATIC ${sources})
      target_link_libraries(lauka_${room} PUBLIC lauka_headers PRIVATE lauka_warnings lauka_hardening lauka_reached)
      lauka_embed_page_files(lauka_${room} ${room})
      if(NOT room STREQUAL "stats")
        target_compile_options(lauka_${room} PRIVATE ${LAUKA_LITTLE_OPTIMIZATION})
      endif()
      if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address" AND room MATCHES "^(stats|gate)$")
        # Tests of these compute so much that optimizing takes less time than it saves.
        target_compile_options(lauka_${room} PRIVATE -O1)
        target_precompile_headers(lauka_${room} PRIVATE ${LAUKA_USUAL_HEADERS})
      elseif(room STREQUAL "core")
        target_precompile_headers(lauka_${room} PRIVATE ${LAUKA_USUAL_HEADERS})
      elseif(NOT room STREQUAL "stats")  # in a release more optimized than lauka_core's headers: gcc 12 crashes if they are reused
        target_precompile_headers(lauka_${room} REUSE_FROM lauka_core)
      endif()
      set(scope PUBLIC)
    else()
      add_library(lauka_${room} INTERFACE)
      target_link_libraries(lauka_${room} INTERFACE lauka_headers)
      set(scope INTERFACE)
    endif()
    foreach(need IN LISTS needs)
      string(REGEX REPLACE "/.*" "" needed_room ${need})
      if(NOT needed_room IN_LIST rooms)
        message(FATAL_ERROR "src/rooms.txt: '${room}' needs '${needed_room}', which is not listed above it")
      endif()
      target_link_libraries(lauka_${room} ${scope} lauka_${needed_room})
    endforeach()
    list(APPEND rooms ${room})
  endforeach()
  set(LAUKA_ROOMS ${rooms} PARENT_SCOPE)
endfunction()

# linux_*.cc and darwin_*.cc are compiled on their own system only; elsewhere darwin_calls_absent.cc stands in.
# The launcher that forks is not for macOS, where vfork has been fork for some years and is to go.
function(lauka_keep_sources_of_this_system list_name)
  set(kept ${${list_name}})
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    list(FILTER kept EXCLUDE REGEX "/darwin_[a-z]+\\.cc$")
  else()
    list(FILTER kept EXCLUDE REGEX "/linux_[a-z]+\\.cc$|/darwin_[a-z]+_absent\\.cc$|/(posix_launcher|launcher_process)\\.cc$")
  endif()
  if(Libdw_FOUND)
    list(FILTER kept EXCLUDE REGEX "/symbols_absent\\.cc$")
  else()
    list(FILTER kept EXCLUDE REGEX "/linux_symbols\\.cc$")
  endif()
  set(${list_name} ${kept} PARENT_SCOPE)
endfunction()

# Compiled alone in a unity build: what defines macros for the headers of others, what a test program puts its own in place of,
# and what LAUKA_ALONE names, so that a missing include is found there.
set(LAUKA_ALONE "" CACHE STRING "sources to compile alone in a unity build, relative to the project")
function(lauka_compile_alone)  # those of this folder
  foreach(source src/cli/suite.cc src/os/darwin_calls_absent.cc ${LAUKA_ALONE})
    set_source_files_properties(${PROJECT_SOURCE_DIR}/${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
lauka_compile_alone()
