# lauka-bisect, a program of its own that measures by what lauka is made of.
add_executable(lauka-bisect src/programs/lauka_bisect.cc ${app_sources})
set_target_properties(lauka-bisect PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(lauka-bisect PRIVATE lauka_bisect ${room_libraries} lauka_warnings lauka_hardening lauka_reached)
target_compile_options(lauka-bisect PRIVATE $<$<CONFIG:Release>:-O1>)
target_precompile_headers(lauka-bisect REUSE_FROM lauka_cli)
target_link_options(lauka-bisect PRIVATE ${LAUKA_PROGRAM_OPTIONS})
install(TARGETS lauka-bisect RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# Its manual page and its completions are made by the program itself.
if(LAUKA_RUNS_HERE)
  set(docs ${PROJECT_BINARY_DIR}/docs)
  file(MAKE_DIRECTORY ${docs})
  add_custom_command(OUTPUT ${docs}/lauka-bisect.1 ${docs}/lauka-bisect.bash ${docs}/_lauka-bisect ${docs}/lauka-bisect.fish
    COMMAND lauka-bisect --man-page > ${docs}/lauka-bisect.1
    COMMAND lauka-bisect --completions bash > ${docs}/lauka-bisect.bash
    COMMAND lauka-bisect --completions zsh > ${docs}/_lauka-bisect
    COMMAND lauka-bisect --completions fish > ${docs}/lauka-bisect.fish
    DEPENDS lauka-bisect
    COMMENT "Writing the manual page and the completions of lauka-bisect")
  add_custom_target(lauka_bisect_docs ALL DEPENDS ${docs}/lauka-bisect.1)
  install_docs(lauka-bisect lauka)
endif()
