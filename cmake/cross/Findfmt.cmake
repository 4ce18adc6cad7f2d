include(${CMAKE_CURRENT_LIST_DIR}/HostHeaders.cmake)
lauka_host_headers(fmt::fmt-header-only fmt libfmt-dev)
target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
set(fmt_FOUND TRUE)
