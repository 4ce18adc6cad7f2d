# `cpack` in the build folder makes a Debian package of what `cmake --install` installs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lauka)
set(CPACK_PACKAGE_CONTACT "The maintainers of lauka <maintainers@lauka.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compares the performance of commands")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Runs commands in turns and compares their wall time, CPU time, peak memory
and hardware counters, each difference with its confidence interval, and
decides in CI whether one is slower than it may be.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS valgrind)
# The static program needs nothing. Other builds name their libraries.
if(LAUKA_CAN_LINK_STATIC)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
# lauka-history has its database libraries from the system; lauka is complete without.
if(SOCI_FOUND AND LAUKA_CAN_LINK_STATIC)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libsoci-sqlite3-4.0, libsoci-postgresql4.0")
endif()
include(CPack)
