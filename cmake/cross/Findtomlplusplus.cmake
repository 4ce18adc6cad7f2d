include(${CMAKE_CURRENT_LIST_DIR}/HostHeaders.cmake)
lauka_host_headers(tomlplusplus::headers toml++ libtomlplusplus-dev)
set(tomlplusplus_FOUND TRUE)
