#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lauka {

/// Numbers of CPUs as Linux writes them: "0-3,8,10-11", maybe with a line break behind it.
/// Ascending, and as often as they stand there; none where it is anything else. Empty text is an
/// empty list.
std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text);

/// The same in the other direction; `cpus` ascending.
std::string cpu_list_text(const std::vector<std::uint32_t>& cpus);

}  // namespace lauka
