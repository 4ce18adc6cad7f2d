#include "os/descriptor.h"
#include "os/symbols.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace lauka::os {

namespace {

std::string build_id_of(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr place = 0;
  const int size = dwfl_module_build_id(module, &bytes, &place);
  return size > 0 ? std::string(bytes, bytes + size) : std::string();
}

/// Returns the path of a debug file, such as /usr/lib/debug/.build-id/12/3456.debug.
std::string debug_file_of(const std::string& build_id) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string path = "/usr/lib/debug/.build-id/";
  for (std::size_t i = 0; i < build_id.size(); ++i) {
    const auto byte = static_cast<unsigned char>(build_id[i]);
    path += digits[byte >> 4U];
    path += digits[byte & 15U];
    if (i == 0) path += '/';
  }
  return path + ".debug";
}

/// Callback of libdwfl that finds a debug file. libdwfl's own callback would load a library that
/// downloads files.
int find_debug_file(Dwfl_Module* module, void** /*data*/, const char* /*name*/, Dwarf_Addr /*base*/,
                    const char* /*file*/, const char* /*debuglink*/, GElf_Word /*crc*/,
                    char** found) {
  const std::string build_id = build_id_of(module);
  if (build_id.empty()) return -1;
  const std::string path = debug_file_of(build_id);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0) *found = strdup(path.c_str());  // libdwfl frees it
  return file;
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

  /// Reads a file. Returns false if it has no code.
  bool read(const std::string& path, Descriptor file) {
    if (session_ == nullptr) return false;
    module_ = dwfl_report_offline(session_, path.c_str(), path.c_str(), file.get());
    if (module_ == nullptr) return false;
    file.release();  // libdwfl closes it
    dwfl_report_end(session_, nullptr, nullptr);
    elf_ = dwfl_module_getelf(module_, &bias_);
    return elf_ != nullptr;
  }

  std::string build_id() const { return build_id_of(module_); }

  bool has_any() const { return dwfl_module_getsymtab(module_) > 1; }

  std::string find(std::uint64_t offset) override {
    std::size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) return "";
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr part;
      if (gelf_getphdr(elf_, static_cast<int>(i), &part) == nullptr || part.p_type != PT_LOAD)
        continue;
      if (offset < part.p_offset || offset - part.p_offset >= part.p_filesz) continue;
      const GElf_Addr address = offset - part.p_offset + part.p_vaddr + bias_;
      GElf_Off into = 0;
      GElf_Sym symbol;
      const char* name =
          dwfl_module_addrinfo(module_, address, &into, &symbol, nullptr, nullptr, nullptr);
      return name == nullptr ? "" : name;
    }
    return "";
  }

 private:
  Dwfl* session_;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  GElf_Addr bias_ = 0;
};

OpenedCode symbols_of(const std::string& path, Descriptor file, const std::string& build_id) {
  auto symbols = std::make_unique<ElfSymbols>();
  if (!symbols->read(path, std::move(file))) return {nullptr, "it cannot be read as a program"};
  if (!build_id.empty() && symbols->build_id() != build_id)
    return {nullptr, "the file was replaced"};
  if (!symbols->has_any()) return {nullptr, "no symbols"};
  return {std::move(symbols), ""};
}

/// Opens the regular file that was mapped. If the build-id agrees, the inode may differ, because
/// overlay file systems report other inodes.
OpenedCode open_mapped(const std::string& path, const CodeIdentity& identity) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    return {nullptr, errno == ENOENT ? "the file is gone" : std::generic_category().message(errno)};
  struct stat about {};
  if (fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return {nullptr, "it is not a regular file"};
  if (identity.build_id.empty() && identity.inode != 0 && about.st_ino != identity.inode)
    return {nullptr, "the file was replaced"};
  return symbols_of(path, std::move(file), identity.build_id);
}

}  // namespace

bool has_symbols() {
  return true;
}

OpenedCode open_code(const CodeIdentity& identity, int process) {
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
    return symbols_of("[vdso]", std::move(file), "");
  }
  return {nullptr, "it cannot be read"};
}

}  // namespace lauka::os
