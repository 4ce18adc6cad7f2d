# The manual page and the completions, written while lauka is built by a program that has the same option table. A build that
# cannot run here installs neither; they are the same on every system.

# Installs what was written about `program` in the folder docs of the build, with its component, which may have another name.
function(install_docs program component)
  set(folder ${PROJECT_BINARY_DIR}/docs)
  install(FILES ${folder}/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
  install(FILES ${folder}/${program}.bash RENAME ${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${component})
  install(FILES ${folder}/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT ${component})
  # Below /usr Debian's zsh looks into this one only.
  install(FILES ${folder}/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT ${component})
  install(FILES ${folder}/${program}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT ${component})
endfunction()

# Has a program write its manual page and its completions itself, of what its --help is made of, and installs them.
function(write_own_docs program component)
  set(folder ${PROJECT_BINARY_DIR}/docs)
  file(MAKE_DIRECTORY ${folder})
  set(written ${folder}/${program}.1 ${folder}/${program}.bash ${folder}/_${program} ${folder}/${program}.fish)
  add_custom_command(OUTPUT ${written}
    COMMAND ${program} --man-page > ${folder}/${program}.1
    COMMAND ${program} --completions bash > ${folder}/${program}.bash
    COMMAND ${program} --completions zsh > ${folder}/_${program}
    COMMAND ${program} --completions fish > ${folder}/${program}.fish
    DEPENDS ${program}
    COMMENT "Writing the manual page and the completions of ${program}")
  add_custom_target(${program}_docs ALL DEPENDS ${written})
  install_docs(${program} ${component})
endfunction()

if(LAUKA_RUNS_HERE)
  add_executable(lauka_docs src/programs/lauka_docs.cc)
  set_target_properties(lauka_docs PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_libraries(lauka_docs PRIVATE lauka_cli lauka_warnings)

  set(folder ${PROJECT_BINARY_DIR}/docs)
  file(MAKE_DIRECTORY ${folder})
  set(written ${folder}/lauka.1 ${folder}/lauka.bash ${folder}/_lauka ${folder}/lauka.fish)
  add_custom_command(OUTPUT ${written} COMMAND lauka_docs ${folder} DEPENDS lauka_docs
    COMMENT "Writing the manual page and the completions" VERBATIM)
  add_custom_target(lauka_written_docs ALL DEPENDS ${written})

  install_docs(lauka lauka)
endif()

# The documents keep their places, and come with what they link to, so that their links work where they are installed.
install(FILES README.md LICENSE CHANGELOG.md CONTRIBUTING.md SECURITY.md action.yml DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES bench_fixtures/README.md bench_fixtures/counted_loop.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench_fixtures)
install(FILES bindings/ocaml/src/lauka.mli DESTINATION ${CMAKE_INSTALL_DOCDIR}/bindings/ocaml/src)
install(DIRECTORY bindings/ocaml/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/bindings/ocaml)
