# What most sources include, the structs of a session among them, compiled once for the rooms and once for the tests, whose
# flags differ: a third of the time of a build. CMAKE_DISABLE_PRECOMPILE_HEADERS builds without. scripts/lint and the build for
# macOS do, so a missing #include is still noticed.
set(LAUKA_USUAL_HEADERS
  <algorithm> <array> <chrono> <cmath> <cstddef> <cstdint> <functional> <map> <memory> <optional> <span> <string>
  <string_view> <utility> <variant> <vector> <fmt/format.h> <core/recording.h>)
if(NOT LAUKA_RUNS_HERE)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # for ccache
endif()
