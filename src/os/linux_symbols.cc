#include "os/descriptor.h"
#include "os/symbols.h"
#include "os/users.h"

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/crc.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Declared here because systems install libiberty's header (demangle.h) in different folders. With
// the options 0, a Rust name has no hash. Both return 0 for a symbol of another kind.
extern "C" {
using DemangleCallback = void (*)(const char* piece, std::size_t bytes, void* name);
int rust_demangle_callback(const char* symbol, int options, DemangleCallback callback, void* name);
int cplus_demangle_v3_callback(const char* symbol, int options, DemangleCallback callback,
                               void* name);
}

namespace lauka::os {

namespace {

constexpr std::string_view kDebugFolder = "/usr/lib/debug";

std::string build_id_of(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr place = 0;
  const int size = dwfl_module_build_id(module, &bytes, &place);
  return size > 0 ? std::string(bytes, bytes + size) : std::string();
}

/// `build_id` must not be empty.
std::string debug_file_of(const std::string& build_id) {
  const std::vector<unsigned char> bytes(build_id.begin(), build_id.end());
  std::string digits = fmt::format("{:02x}", fmt::join(bytes, ""));
  return fmt::format("{}/.build-id/{}.debug", kDebugFolder, digits.insert(2, "/"));
}

/// Returns a file's CRC-32 (ISO 3309), as .gnu_debuglink stores it; nullopt if the file cannot be
/// read.
std::optional<std::uint32_t> checksum_of(int file) {
  boost::crc_32_type sum;
  std::vector<unsigned char> bytes(std::size_t{1} << 16U);
  for (off_t at = 0;;) {
    const ssize_t got = pread(file, bytes.data(), bytes.size(), at);
    if (got < 0) return std::nullopt;
    if (got == 0) return sum.checksum();
    sum.process_bytes(bytes.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

Descriptor open_regular(const std::string& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  return file && fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode) ? std::move(file)
                                                                          : Descriptor();
}

/// The debug file of a program, as its .gnu_debuglink names it.
struct DebugLink {
  std::string name{};
  std::uint32_t checksum = 0;
};

struct DebugFile {
  Descriptor file{};  ///< closed if there is none
  std::string path{};
};

/// Opens the debug file of a program. `root`: the folder that the process sees as "/"; empty:
/// lauka's own "/".
DebugFile open_debug_file(const std::string& root, const std::string& program,
                          const DebugLink& link) {
  const std::string folder = program.substr(0, program.rfind('/'));
  for (const std::string& place :
       {fmt::format("{}{}", root, folder), fmt::format("{}{}/.debug", root, folder),
        fmt::format("{}{}{}", root, kDebugFolder, folder)}) {
    std::string path = fmt::format("{}/{}", place, link.name);
    Descriptor file = open_regular(path);
    if (file && checksum_of(file.get()) == link.checksum) return {std::move(file), std::move(path)};
  }
  return {};
}

/// Returns the root folder of the process that sees the program at `program`: what precedes this
/// path in `opened_path`. A process in a container has another one than lauka.
std::string root_of_process(std::string_view opened_path, const std::string& program) {
  const std::size_t program_size = std::min(program.size(), opened_path.size());
  return std::string(opened_path.substr(0, opened_path.size() - program_size));
}

/// Returns the debug file below `root`. Prefers the file that the build id names, because it fits
/// this very build of the program. `link`: nullopt if the program names no file.
DebugFile find_debug_file_below(const std::string& root, const std::string& program,
                                const std::string& build_id, const std::optional<DebugLink>& link) {
  DebugFile debug;
  if (!build_id.empty()) {
    debug.path = root + debug_file_of(build_id);
    debug.file = open_regular(debug.path);
  }
  if (!debug.file && link) debug = open_debug_file(root, program, *link);
  return debug;
}

/// Finds a debug file for libdwfl, whose own callback may load a library that downloads files
/// (debuginfod). `seen_path`: path of the program as the process sees it. `opened_path`: path that
/// lauka opened, which ends with `seen_path`. `link` and `checksum`: content of the program's
/// section .gnu_debuglink; null without the section. Returns a descriptor of the debug file, and
/// its path in `found`; -1 if there is none.
int find_debug_file(Dwfl_Module* module, void** /*data*/, const char* seen_path,
                    Dwarf_Addr /*base*/, const char* opened_path, const char* link,
                    GElf_Word checksum, char** found) {
  const std::string build_id = build_id_of(module);
  const std::string program = seen_path;
  std::optional<DebugLink> debug_link;
  if (link != nullptr) debug_link = DebugLink{.name = link, .checksum = checksum};

  // Without a container, both roots are the same: "", because paths begin with "/".
  const std::string lauka_root;
  const std::string process_root =
      root_of_process(opened_path == nullptr ? "" : opened_path, program);

  for (const std::string& root : {process_root, lauka_root}) {
    DebugFile debug = find_debug_file_below(root, program, build_id, debug_link);
    if (!debug.file) continue;

    *found = strdup(debug.path.c_str());  // libdwfl frees the copy
    return debug.file.release();
  }
  return -1;
}

int find_no_file(Dwfl_Module* /*module*/, void** /*data*/, const char* /*name*/,
                 Dwarf_Addr /*base*/, char** /*file*/, Elf** /*elf*/) {
  return -1;
}

constexpr Dwfl_Callbacks kCallbacks{&find_no_file, &find_debug_file, &dwfl_offline_section_address,
                                    nullptr};

class ElfSymbols final : public CodeSymbols {
 public:
  ElfSymbols() : session_(dwfl_begin(&kCallbacks)) {}
  ~ElfSymbols() override { dwfl_end(session_); }

  bool read(const std::string& name, const std::string& path, Descriptor file) {
    if (session_ == nullptr) return false;
    module_ = dwfl_report_offline(session_, name.c_str(), path.c_str(), file.get());
    if (module_ == nullptr) return false;
    file.release();  // libdwfl closes the file
    dwfl_report_end(session_, nullptr, nullptr);
    elf_ = dwfl_module_getelf(module_, &bias_);
    return elf_ != nullptr;
  }

  std::string build_id() const { return build_id_of(module_); }

  bool has_any() const { return dwfl_module_getsymtab(module_) > 1; }

  std::vector<std::string> find(std::uint64_t offset) override {
    std::size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) return {};
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr part;
      if (gelf_getphdr(elf_, static_cast<int>(i), &part) == nullptr || part.p_type != PT_LOAD)
        continue;
      if (offset < part.p_offset || offset - part.p_offset >= part.p_filesz) continue;
      const GElf_Addr address = offset - part.p_offset + part.p_vaddr + bias_;
      GElf_Off offset_in_symbol = 0;
      GElf_Sym symbol;
      const char* name = dwfl_module_addrinfo(module_, address, &offset_in_symbol, &symbol, nullptr,
                                              nullptr, nullptr);
      return name == nullptr ? std::vector<std::string>()
                             : names_at(address - offset_in_symbol, name);
    }
    return {};
  }

  bool is_call_stub(std::uint64_t offset) override {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf_, &names) != 0) return false;

    for (Elf_Scn* part = elf_nextscn(elf_, nullptr); part != nullptr;
         part = elf_nextscn(elf_, part)) {
      GElf_Shdr section;
      if (gelf_getshdr(part, &section) == nullptr || section.sh_type != SHT_PROGBITS) continue;
      if (offset < section.sh_offset || offset - section.sh_offset >= section.sh_size) continue;
      const char* name = elf_strptr(elf_, names, section.sh_name);
      return name != nullptr && std::string_view(name).starts_with(".plt");
    }
    return false;
  }

  void list(const std::function<void(std::span<const char* const>)>& take) override {
    read_functions();
    std::vector<const char*> names;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      names.push_back(functions_[i].second);
      if (i + 1 < functions_.size() && functions_[i + 1].first == functions_[i].first) continue;
      take(names);
      names.clear();
    }
  }

 private:
  void read_functions() {
    if (std::exchange(has_read_functions_, true)) return;
    for (int i = 1; i < dwfl_module_getsymtab(module_); ++i) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      const char* name =
          dwfl_module_getsym_info(module_, i, &symbol, &address, nullptr, nullptr, nullptr);
      const auto type = GELF_ST_TYPE(symbol.st_info);
      const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
      if (name != nullptr && *name != '\0' && is_function && symbol.st_shndx != SHN_UNDEF)
        functions_.emplace_back(address, name);
    }
    std::ranges::stable_sort(functions_, {}, &std::pair<GElf_Addr, const char*>::first);
  }

  /// Returns `found`, the name that libdwfl prefers, and the other names of the function at
  /// `address`.
  std::vector<std::string> names_at(GElf_Addr address, const char* found) {
    read_functions();
    std::vector<std::string> names = {found};
    auto function = std::ranges::lower_bound(functions_, address, {},
                                             &std::pair<GElf_Addr, const char*>::first);
    for (; function != functions_.end() && function->first == address; ++function)
      if (names.front() != function->second) names.emplace_back(function->second);
    return names;
  }

  Dwfl* session_;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  GElf_Addr bias_ = 0;
  bool has_read_functions_ = false;
  std::vector<std::pair<GElf_Addr, const char*>> functions_;  ///< by address
};

/// The begin of a demangled name, of at most kMaxDemangled bytes.
struct DemangledName {
  std::string text{};
  std::jmp_buf too_long{};
};

/// The only way to end the demangling of a name that would be too long is to leave libiberty by a
/// jump: its functions cannot be stopped, and C code cannot be left by an exception.
void take_piece(const char* piece, std::size_t bytes, void* to) {
  auto& name = *static_cast<DemangledName*>(to);
  if (name.text.size() + bytes > kMaxDemangled)
    std::longjmp(name.too_long, 1);  // NOLINT(cert-err52-cpp)
  name.text.append(piece, bytes);
}

/// Returns false if `symbol` is of another kind, or if the name would be too long.
bool demangle(int (*demangler)(const char*, int, DemangleCallback, void*), const char* symbol,
              int options, DemangledName& name) {
  name.text.clear();
  if (setjmp(name.too_long) != 0) return false;  // NOLINT(cert-err52-cpp)
  return demangler(symbol, options, &take_piece, &name) != 0;
}

OpenedCode read_symbols_of(const std::string& name, const std::string& path, Descriptor file,
                           const std::string& build_id) {
  auto symbols = std::make_unique<ElfSymbols>();
  if (!symbols->read(name, path, std::move(file)))
    return {nullptr, "it cannot be read as a program"};
  if (!build_id.empty() && symbols->build_id() != build_id)
    return {nullptr, "the file was replaced"};
  if (!symbols->has_any()) return {nullptr, "no symbols"};
  return {std::move(symbols), ""};
}

/// Opens a file that a process had mapped. To refuse a replaced file, compares build-ids if known,
/// else inodes: overlay file systems may report other inodes.
OpenedCode open_mapped(const std::string& path, const CodeIdentity& identity) {
  // Opening a device may have an effect.
  struct stat before {};
  if (stat(path.c_str(), &before) == 0 && !S_ISREG(before.st_mode))
    return {nullptr, "it is not a regular file"};

  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  Descriptor file(open(path.c_str(), flags));
  // A file may be named like this, instead of being removed.
  if (!file && errno == ENOENT) file = Descriptor(open((path + " (deleted)").c_str(), flags));
  if (!file)
    return {nullptr, errno == ENOENT ? "the file is gone" : std::generic_category().message(errno)};
  struct stat about {};
  if (fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return {nullptr, "it is not a regular file"};
  if (identity.build_id.empty() && identity.inode != 0 && about.st_ino != identity.inode)
    return {nullptr, "the file was replaced"};
  return read_symbols_of(identity.path, path, std::move(file), identity.build_id);
}

}  // namespace

bool can_read_symbols() {
  return true;
}

OpenedCode open_code(const CodeIdentity& identity, int process, const std::optional<User>& user) {
  const ActAs reader(user);
  if (reader.error()) return {nullptr, reader.error()->what};
  auto opened = open_mapped("/proc/" + std::to_string(process) + "/root" + identity.path, identity);
  return opened.symbols ? std::move(opened) : open_mapped(identity.path, identity);
}

OpenedCode open_vdso() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with("[vdso]")) continue;
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    words >> std::hex >> begin >> dash >> end;
    Descriptor file(memfd_create("lauka-vdso", MFD_CLOEXEC));
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel names the place as a number
    const std::string_view image(reinterpret_cast<const char*>(begin), end - begin);
    if (!file || !write_all(file.get(), image)) break;
    return read_symbols_of("[vdso]", "[vdso]", std::move(file), "");
  }
  return {nullptr, "it cannot be read"};
}

std::string demangled(const std::string& symbol) {
  // DMGL_PARAMS | DMGL_TYPES, as in abi::__cxa_demangle
  constexpr int with_parameters = 1 | 16;
  DemangledName name;
  if (demangle(&rust_demangle_callback, symbol.c_str(), 0, name)) return std::move(name.text);
  if (symbol.starts_with("_Z") &&
      demangle(&cplus_demangle_v3_callback, symbol.c_str(), with_parameters, name))
    return std::move(name.text);
  return symbol;
}

}  // namespace lauka::os
