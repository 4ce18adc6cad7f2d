# SOCI with its SQLite and PostgreSQL parts, whose headers need those of the databases: SOCI::SOCI. The part for PostgreSQL is
# loaded by those who need it: SOCI_POSTGRESQL_NAME is what the linker would have written down. So all are shared libraries.
lauka_choose_library(SOCI SOCI::All NAME SOCI DEBIAN "libsoci-dev libsqlite3-dev libpq-dev" WITHOUT "lauka-history is not built"
  HEADERS soci/soci.h=SOCI_INCLUDE_DIR sqlite3.h=SOCI_SQLITE3_INCLUDE_DIR libpq-fe.h=SOCI_POSTGRESQL_INCLUDE_DIR
  LIBRARIES soci_sqlite3=SOCI_SQLITE3_LIBRARY soci_core=SOCI_LIBRARY soci_postgresql=SOCI_POSTGRESQL_LIBRARY
    sqlite3=SOCI_SQLITE_LIBRARY ORDER shared
  HEAD "#include <soci/postgresql/soci-postgresql.h>\n#include <soci/soci.h>\n#include <soci/sqlite3/soci-sqlite3.h>"
  BODY "soci::session lite(soci::sqlite3, \"\"); soci::session server(soci::postgresql, \"\"); sqlite_api::sqlite3_config(SQLITE_CONFIG_URI, 1);")
if(SOCI_FOUND)
  list(GET SOCI_FILES 0 1 3 needed)
  list(GET SOCI_FILES 2 loaded)
  add_library(SOCI::SOCI INTERFACE IMPORTED)
  set_target_properties(SOCI::SOCI PROPERTIES INTERFACE_LINK_LIBRARIES "${needed};${CMAKE_DL_LIBS}"
    INTERFACE_INCLUDE_DIRECTORIES "${SOCI_INCLUDES}")
  set(SOCI_POSTGRESQL_NAME ${loaded})
  if(IS_SYMLINK ${loaded})
    # libsoci_postgresql.so of the package for developers points to libsoci_postgresql.so.4.0 of the other one.
    file(READ_SYMLINK ${loaded} SOCI_POSTGRESQL_NAME)
  endif()
  get_filename_component(SOCI_POSTGRESQL_NAME ${SOCI_POSTGRESQL_NAME} NAME)
endif()
