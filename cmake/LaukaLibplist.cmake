# libplist reads Apple's event databases (engine/kperf/libplist.cc). Without it lauka is built all the same, and says so
# when --kpep is used.
set(LAUKA_LIBPLIST AUTO CACHE STRING "Read kpep databases with libplist: ON, OFF, or AUTO (where it is found)")
set_property(CACHE LAUKA_LIBPLIST PROPERTY STRINGS AUTO ON OFF)

set(LAUKA_HAS_LIBPLIST OFF)
# A cross-build would find this machine's own.
if(LAUKA_LIBPLIST STREQUAL "ON" OR (LAUKA_LIBPLIST STREQUAL "AUTO" AND NOT CMAKE_CROSSCOMPILING))
  find_path(LIBPLIST_INCLUDE_DIR plist/plist.h)
  find_library(LIBPLIST_STATIC_LIBRARY NAMES libplist-2.0.a)
  find_library(LIBPLIST_LIBRARY NAMES plist-2.0)
  mark_as_advanced(LIBPLIST_INCLUDE_DIR LIBPLIST_STATIC_LIBRARY LIBPLIST_LIBRARY)
  if(LIBPLIST_INCLUDE_DIR AND (LIBPLIST_LIBRARY OR LIBPLIST_STATIC_LIBRARY))
    set(LAUKA_HAS_LIBPLIST ON)
  elseif(LAUKA_LIBPLIST STREQUAL "ON")
    message(FATAL_ERROR "LAUKA_LIBPLIST is ON, and there is no libplist: install libplist-dev (Debian) or libplist (Homebrew)")
  endif()
endif()

add_library(lauka_libplist_absent STATIC src/engine/kperf/libplist_absent.cc)
target_link_libraries(lauka_libplist_absent PUBLIC lauka_headers PRIVATE lauka_warnings)

if(LAUKA_HAS_LIBPLIST)
  add_library(lauka_libplist STATIC src/engine/kperf/libplist.cc)
  target_include_directories(lauka_libplist SYSTEM PRIVATE ${LIBPLIST_INCLUDE_DIR})
  target_link_libraries(lauka_libplist PUBLIC lauka_headers PRIVATE lauka_warnings)
  if(LIBPLIST_STATIC_LIBRARY)
    target_link_libraries(lauka_libplist PUBLIC ${LIBPLIST_STATIC_LIBRARY})
  else()
    target_link_libraries(lauka_libplist PUBLIC ${LIBPLIST_LIBRARY})
  endif()
else()
  add_library(lauka_libplist ALIAS lauka_libplist_absent)
endif()
# Whatever is linked with the engines has a reader, or the file that says there is none: the latter in programs that
# cannot have the former (the property LAUKA_WITHOUT_LIBPLIST).
target_link_libraries(lauka_engine PUBLIC
  $<IF:$<BOOL:$<TARGET_PROPERTY:LAUKA_WITHOUT_LIBPLIST>>,lauka_libplist_absent,lauka_libplist>)

# Debian has no static libplist. The static program then hands command lines with --kpep to this one, which is the same but
# for the way it is linked (os/files.h, run_sibling): so the launcher keeps the small memory that peak_rss needs.
function(lauka_add_program_for_kpep)
  if(NOT LAUKA_HAS_LIBPLIST OR LIBPLIST_STATIC_LIBRARY)
    return()
  endif()
  set_target_properties(lauka PROPERTIES LAUKA_WITHOUT_LIBPLIST ON)
  add_executable(lauka-kpep $<TARGET_OBJECTS:lauka>)
  set_target_properties(lauka-kpep PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LINKER_LANGUAGE CXX)
  target_link_libraries(lauka-kpep PRIVATE ${room_libraries} -static-libstdc++ -static-libgcc)
  install(TARGETS lauka-kpep RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/lauka)
endfunction()
