# lauka-bisect, a program of its own that measures by what lauka is made of.
lauka_add_program(lauka-bisect src/programs/lauka_bisect.cc lauka_bisect)
target_sources(lauka-bisect PRIVATE src/programs/bisect/worker.cc)
install(TARGETS lauka-bisect RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(LAUKA_RUNS_HERE)
  write_own_docs(lauka-bisect lauka)
endif()
