# lauka-bisect, a program of its own that measures by what lauka is made of.
add_executable(lauka-bisect src/programs/lauka_bisect.cc ${app_sources})
set_target_properties(lauka-bisect PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(lauka-bisect PRIVATE lauka_bisect ${room_libraries} lauka_warnings lauka_hardening lauka_reached)
target_compile_options(lauka-bisect PRIVATE $<$<CONFIG:Release>:-O1>)
target_precompile_headers(lauka-bisect REUSE_FROM lauka_cli)
target_link_options(lauka-bisect PRIVATE ${LAUKA_PROGRAM_OPTIONS})
install(TARGETS lauka-bisect RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
