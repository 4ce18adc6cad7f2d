# lauka-history, a program of its own over the same rooms, where SOCI is there. lauka itself needs nothing of it.
if(NOT SOCI_FOUND)
  return()
endif()
find_package(Threads REQUIRED)
target_link_libraries(lauka_history PRIVATE nlohmann_json::nlohmann_json SOCI::SOCI Boost::program_options Threads::Threads)
target_compile_definitions(lauka_history PRIVATE LAUKA_SOCI_POSTGRESQL="${SOCI_POSTGRESQL_NAME}")
if(CMAKE_CXX_FLAGS MATCHES "fsanitize=[a-z,]*undefined")
  # It asks for the type information of classes that SOCI does not show.
  set_source_files_properties(src/history/database.cc PROPERTIES COMPILE_OPTIONS -fno-sanitize=vptr)
endif()
add_executable(lauka-history src/programs/lauka_history.cc)
set_target_properties(lauka-history PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(lauka-history PRIVATE lauka_history lauka_os lauka_warnings lauka_hardening lauka_reached)
target_compile_options(lauka-history PRIVATE ${LAUKA_LITTLE_OPTIMIZATION})  # as lauka_core, whose precompiled headers it uses
target_precompile_headers(lauka-history REUSE_FROM lauka_core)
install(TARGETS lauka-history RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT lauka-history)

write_own_docs(lauka-history lauka-history)
