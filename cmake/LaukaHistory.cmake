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
target_precompile_headers(lauka-history REUSE_FROM lauka_core)
install(TARGETS lauka-history RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT lauka-history)

# Its manual page and its completions are made by the program itself, of what --help is made of.
set(docs ${PROJECT_BINARY_DIR}/docs)
file(MAKE_DIRECTORY ${docs})
add_custom_command(OUTPUT ${docs}/lauka-history.1 ${docs}/lauka-history.bash ${docs}/_lauka-history ${docs}/lauka-history.fish
  COMMAND lauka-history --man-page > ${docs}/lauka-history.1
  COMMAND lauka-history --completions bash > ${docs}/lauka-history.bash
  COMMAND lauka-history --completions zsh > ${docs}/_lauka-history
  COMMAND lauka-history --completions fish > ${docs}/lauka-history.fish
  DEPENDS lauka-history
  COMMENT "Writing the manual page and the completions of lauka-history")
add_custom_target(lauka_history_docs ALL DEPENDS ${docs}/lauka-history.1)
install_docs(lauka-history lauka-history)
