# The headers of toml++ alone: tomlplusplus::headers. Debian's own target links a shared library.
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(tomlplusplus REQUIRED_VARS TOMLPLUSPLUS_INCLUDE_DIR)
if(tomlplusplus_FOUND AND NOT TARGET tomlplusplus::headers)
  add_library(tomlplusplus::headers INTERFACE IMPORTED)
  set_target_properties(tomlplusplus::headers PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${TOMLPLUSPLUS_INCLUDE_DIR}" INTERFACE_INCLUDE_DIRECTORIES "${TOMLPLUSPLUS_INCLUDE_DIR}")
endif()
mark_as_advanced(TOMLPLUSPLUS_INCLUDE_DIR)
