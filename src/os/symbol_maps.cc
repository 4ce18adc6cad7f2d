#include "os/symbol_maps.h"

#include "core/text.h"
#include "os/descriptor.h"
#include "os/users.h"

#include <charconv>
#include <limits>

#include <fcntl.h>
#include <sys/stat.h>

namespace lauka::os {

namespace {

constexpr std::size_t kMaxMapBytes = std::size_t{256} << 20U;

std::optional<std::uint64_t> take_address(std::string_view& line) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  const auto length = static_cast<std::size_t>(end - line.data());
  if (error != std::errc() || length == line.size() || line[length] != ' ') return std::nullopt;
  line.remove_prefix(length + 1);
  return value;
}

}  // namespace

std::vector<std::string> find_symbol(const SymbolMap& symbols, std::uint64_t address) {
  auto found = symbols.upper_bound(address);
  if (found == symbols.begin()) return {};
  --found;
  const bool is_beyond = found->second.end != 0 && address >= found->second.end;
  return is_beyond ? std::vector<std::string>() : found->second.names;
}

SymbolMap parse_kernel_symbols(std::string_view text) {
  SymbolMap symbols;
  for (std::string_view line : split(text, '\n')) {
    const auto address = take_address(line);
    // "t name", or for a module "t name\t[module]"
    if (!address || *address == 0 || line.size() < 3 || line[1] != ' ') continue;
    if (std::string_view("tTwW").find(line[0]) == std::string_view::npos) continue;
    line.remove_prefix(2);
    symbols[*address].names.emplace_back(line.substr(0, line.find('\t')));
  }
  return symbols;
}

SymbolMap parse_jit_symbols(std::string_view text) {
  SymbolMap symbols;
  for (std::string_view line : split(text, '\n')) {
    const auto address = take_address(line);
    const auto size = address ? take_address(line) : std::nullopt;
    if (!size || *size == 0 || *size > std::numeric_limits<std::uint64_t>::max() - *address)
      continue;
    // If a just-in-time compiler reuses memory, the later line has the newer function.
    symbols.insert_or_assign(*address, SymbolRange{*address + *size, {std::string(line)}});
  }
  return symbols;
}

SymbolMap read_kernel_symbols() {
  const Descriptor file(open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
  const auto text = file ? read_rest(file.get(), kMaxMapBytes) : std::nullopt;
  return text ? parse_kernel_symbols(*text) : SymbolMap();
}

SymbolMap read_jit_symbols(int process, std::chrono::nanoseconds since,
                           const std::optional<User>& user) {
  const ActAs reader(user);
  if (reader.error()) return {};
  const std::string path = "/tmp/perf-" + std::to_string(process) + ".map";
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat about {};
  if (!file || fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  if (std::chrono::seconds(about.st_mtime + 1) < since) return {};
  const auto text = read_rest(file.get(), kMaxMapBytes);
  return text ? parse_jit_symbols(*text) : SymbolMap();
}

}  // namespace lauka::os
