# SOCI with its SQLite and PostgreSQL parts, whose headers need those of the databases: SOCI::SOCI. The part for PostgreSQL is
# loaded by those who need it: SOCI_POSTGRESQL_NAME is what the linker would have written down.
find_path(SOCI_INCLUDE_DIR soci/soci.h)
find_path(SOCI_SQLITE3_INCLUDE_DIR sqlite3.h)
find_path(SOCI_POSTGRESQL_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql)
find_library(SOCI_LIBRARY soci_core)
find_library(SOCI_SQLITE3_LIBRARY soci_sqlite3)
find_library(SOCI_POSTGRESQL_LIBRARY soci_postgresql)
include(FindPackageHandleStandardArgs)
set(SOCI_FIND_QUIETLY TRUE)
find_package_handle_standard_args(SOCI REQUIRED_VARS SOCI_LIBRARY SOCI_SQLITE3_LIBRARY SOCI_POSTGRESQL_LIBRARY
  SOCI_INCLUDE_DIR SOCI_SQLITE3_INCLUDE_DIR SOCI_POSTGRESQL_INCLUDE_DIR)
if(SOCI_FOUND AND NOT TARGET SOCI::SOCI)
  add_library(SOCI::SOCI INTERFACE IMPORTED)
  target_include_directories(SOCI::SOCI INTERFACE
    ${SOCI_INCLUDE_DIR} ${SOCI_SQLITE3_INCLUDE_DIR} ${SOCI_POSTGRESQL_INCLUDE_DIR})
  target_link_libraries(SOCI::SOCI INTERFACE
    ${SOCI_SQLITE3_LIBRARY} ${SOCI_LIBRARY} ${CMAKE_DL_LIBS})
endif()
if(SOCI_FOUND)
  set(SOCI_POSTGRESQL_NAME ${SOCI_POSTGRESQL_LIBRARY})
  if(IS_SYMLINK ${SOCI_POSTGRESQL_LIBRARY})
    # libsoci_postgresql.so of the package for developers points to libsoci_postgresql.so.4.0 of the other one.
    file(READ_SYMLINK ${SOCI_POSTGRESQL_LIBRARY} SOCI_POSTGRESQL_NAME)
  endif()
  get_filename_component(SOCI_POSTGRESQL_NAME ${SOCI_POSTGRESQL_NAME} NAME)
endif()
mark_as_advanced(SOCI_INCLUDE_DIR SOCI_SQLITE3_INCLUDE_DIR SOCI_POSTGRESQL_INCLUDE_DIR SOCI_LIBRARY SOCI_SQLITE3_LIBRARY
  SOCI_POSTGRESQL_LIBRARY)
