include(${CMAKE_CURRENT_LIST_DIR}/HostHeaders.cmake)
lauka_host_headers(nlohmann_json::nlohmann_json nlohmann nlohmann-json3-dev)
set(nlohmann_json_FOUND TRUE)
