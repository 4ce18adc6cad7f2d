#include "core/elf.h"

#include "core/text.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

// The layout of the headers is that of the System V ABI (gabi 4.1, chapters 4 and 5), and that of
// notes is in its chapter 5.

namespace lauka {

namespace {

/// The largest section or segment that is read, and the most headers of a table.
constexpr std::uint64_t kMaxPart = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMaxHeaders = 4096;

constexpr std::uint32_t kInterpreterSegment = 3;  // PT_INTERP
constexpr std::uint32_t kNoteSegment = 4;         // PT_NOTE
constexpr std::uint32_t kBuildIdNote = 3;         // NT_GNU_BUILD_ID

/// Where a class of ELF files has its fields, in bytes from the beginning of a header. Addresses,
/// offsets and sizes have `word` bytes.
struct ElfLayout {
  std::size_t word;
  std::size_t segments_at;  // e_phoff
  std::size_t sections_at;  // e_shoff
  std::size_t counts;       // e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx
  std::size_t segment_offset;
  std::size_t segment_bytes;
  std::size_t section_offset;
  std::size_t section_bytes;
};
constexpr ElfLayout kElf32{4, 28, 32, 42, 4, 16, 16, 20};
constexpr ElfLayout kElf64{8, 32, 40, 54, 8, 32, 24, 32};

/// Reads a number of `size` bytes; 0 if `bytes` is too short.
std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return 0;
  std::uint64_t number = 0;
  char* const into = reinterpret_cast<char*>(&number);
  std::memcpy(std::endian::native == std::endian::little ? into : into + sizeof number - size,
              bytes.data() + at, size);
  return number;
}

/// A part of the file: a segment or a section.
struct ElfPart {
  std::uint64_t type = 0;
  std::uint64_t name = 0;  // of a section: place of its name in the table of names
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class ElfReader {
 public:
  explicit ElfReader(const FileReader& read) : read_(read) {}

  std::optional<ElfFacts> facts() {
    constexpr std::size_t longest_header = 64;
    constexpr std::size_t class_at = 4;
    constexpr std::size_t order_at = 5;
    const char own_order = std::endian::native == std::endian::little ? 1 : 2;
    header_ = part({.bytes = longest_header});
    if (!header_.starts_with("\177ELF") || header_.size() < longest_header ||
        header_[order_at] != own_order || (header_[class_at] != 1 && header_[class_at] != 2))
      return std::nullopt;

    layout_ = header_[class_at] == 1 ? &kElf32 : &kElf64;
    for (const ElfPart& segment : segments()) take_segment(segment);
    take_sections();
    return std::move(facts_);
  }

 private:
  /// Returns the bytes of a part, at most kMaxPart of them.
  std::string part(const ElfPart& where) const {
    std::string bytes(std::min(where.bytes, kMaxPart), '\0');
    bytes.resize(read_(where.offset, bytes));
    return bytes;
  }

  std::uint64_t word(std::string_view bytes, std::size_t at) const {
    return number_at(bytes, at, layout_->word);
  }

  /// Returns one of the numbers of two bytes at the end of the file's header.
  std::uint64_t count(std::size_t place) const {
    return number_at(header_, layout_->counts + 2 * place, 2);
  }

  std::vector<std::string> headers(std::uint64_t at, std::uint64_t size, std::uint64_t all) const {
    std::vector<std::string> list;
    for (std::uint64_t i = 0; i < std::min(all, kMaxHeaders); ++i)
      list.push_back(part({.offset = at + i * size, .bytes = std::min<std::uint64_t>(size, 64)}));
    return list;
  }

  std::vector<ElfPart> segments() const {
    std::vector<ElfPart> all;
    for (const std::string& header :
         headers(word(header_, layout_->segments_at), count(0), count(1)))
      all.push_back({.type = number_at(header, 0, 4),
                     .offset = word(header, layout_->segment_offset),
                     .bytes = word(header, layout_->segment_bytes)});
    return all;
  }

  std::vector<ElfPart> sections() const {
    std::vector<ElfPart> all;
    for (const std::string& header :
         headers(word(header_, layout_->sections_at), count(2), count(3)))
      all.push_back({.type = number_at(header, 4, 4),
                     .name = number_at(header, 0, 4),
                     .offset = word(header, layout_->section_offset),
                     .bytes = word(header, layout_->section_bytes)});
    return all;
  }

  void take_segment(const ElfPart& segment) {
    if (segment.type == kInterpreterSegment) facts_.interpreter = part(segment).c_str();
    if (segment.type == kNoteSegment && facts_.build_id.empty()) take_notes(part(segment));
  }

  /// Looks for the build-id in a list of notes: sizes of name and description, type, name,
  /// description, each padded to 4 bytes.
  void take_notes(std::string_view notes) {
    constexpr std::size_t head = 12;
    const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    while (notes.size() > head) {
      const std::uint64_t name_bytes = padded(number_at(notes, 0, 4));
      const std::uint64_t bytes = number_at(notes, 4, 4);
      if (name_bytes + padded(bytes) > notes.size() - head) return;

      const std::string_view text = notes.substr(head + name_bytes, bytes);
      const bool is_build_id = number_at(notes, 8, 4) == kBuildIdNote &&
                               notes.substr(head).starts_with(std::string_view("GNU\0", 4));
      if (is_build_id) {
        const std::vector<unsigned char> id(text.begin(), text.end());
        facts_.build_id = fmt::format("{:02x}", fmt::join(id, ""));
        return;
      }
      notes.remove_prefix(head + name_bytes + padded(bytes));
    }
  }

  void take_sections() {
    const std::vector<ElfPart> all = sections();
    const std::uint64_t names_index = count(4);
    if (names_index >= all.size()) return;
    const std::string names = part(all[names_index]);

    for (const ElfPart& section : all) {
      if (section.name >= names.size()) continue;
      const std::string_view name = names.c_str() + section.name;
      if (name == ".text") facts_.text_bytes = section.bytes;
      if (name == ".comment") take_compilers(part(section));
      if (name == ".GCC.command.line") take_flags(part(section));
    }
  }

  static void add_once(std::string_view text, std::vector<std::string>& list) {
    if (!text.empty() && std::ranges::find(list, text) == list.end()) list.emplace_back(text);
  }

  void take_compilers(std::string_view section) {
    for (const std::string_view text : split(section, '\0')) add_once(text, facts_.compilers);
  }

  /// gcc writes "GNU C17 12.2.0 -O2 -mtune=generic", and clang its whole command line.
  void take_flags(std::string_view section) {
    for (const std::string_view line : split(section, '\0')) {
      std::string_view before;
      for (const std::string_view flag : blank_separated(line)) {
        // What follows -o is a file, whose name says nothing about the code.
        if (flag.starts_with('-') && flag != "-o" && before != "-o")
          add_once(flag, facts_.compiler_flags);
        before = flag;
      }
    }
  }

  const FileReader& read_;
  const ElfLayout* layout_ = &kElf64;
  std::string header_;
  ElfFacts facts_;
};

}  // namespace

std::optional<ElfFacts> read_elf(const FileReader& read) {
  return ElfReader(read).facts();
}

}  // namespace lauka
