# Headers of this Linux that hold for every system. /usr/include itself must not get onto the path of a cross compiler:
# its C library's headers would stand before Apple's. Hence a folder of links to just those that are meant.

# lauka_host_headers(TARGET FOLDER PACKAGE): an imported TARGET with the headers below <FOLDER/...>, of Debian's PACKAGE
function(lauka_host_headers target folder package)
  set(from /usr/include/${folder})
  if(NOT IS_DIRECTORY ${from})
    message(FATAL_ERROR "There is no ${from}: install ${package}")
  endif()
  set(links ${PROJECT_BINARY_DIR}/host-headers)
  file(MAKE_DIRECTORY ${links})
  file(CREATE_LINK ${from} ${links}/${folder} SYMBOLIC)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${links})
endfunction()
