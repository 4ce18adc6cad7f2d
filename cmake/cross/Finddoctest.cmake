include(${CMAKE_CURRENT_LIST_DIR}/HostHeaders.cmake)
lauka_host_headers(doctest::doctest doctest doctest-dev)
set(doctest_FOUND TRUE)
