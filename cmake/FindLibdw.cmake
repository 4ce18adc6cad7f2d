# elfutils' libdw, with libelf and, for the archives, what they need, and libiberty, which demangles Rust's names: Libdw::Libdw.
# Not all systems have pkg-config files of them.
find_path(Libdw_INCLUDE_DIR elfutils/libdwfl.h)
find_library(Libdw_LIBRARY dw)
find_library(Libdw_ELF_LIBRARY elf)
find_library(Libdw_IBERTY_LIBRARY iberty)
set(Libdw_needed "")
if(Libdw_LIBRARY MATCHES "\\.a$")
  foreach(name z bz2 lzma zstd)  # zstd since 0.189
    find_library(Libdw_${name}_LIBRARY ${name})
    if(Libdw_${name}_LIBRARY)
      list(APPEND Libdw_needed ${Libdw_${name}_LIBRARY})
    endif()
    mark_as_advanced(Libdw_${name}_LIBRARY)
  endforeach()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libdw REQUIRED_VARS Libdw_LIBRARY Libdw_ELF_LIBRARY Libdw_IBERTY_LIBRARY Libdw_INCLUDE_DIR)
if(Libdw_FOUND AND NOT TARGET Libdw::Libdw)
  add_library(Libdw::Libdw UNKNOWN IMPORTED)
  set_target_properties(Libdw::Libdw PROPERTIES IMPORTED_LOCATION ${Libdw_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${Libdw_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES "${Libdw_ELF_LIBRARY};${Libdw_IBERTY_LIBRARY};${Libdw_needed}")
endif()
mark_as_advanced(Libdw_INCLUDE_DIR Libdw_LIBRARY Libdw_ELF_LIBRARY Libdw_IBERTY_LIBRARY)
