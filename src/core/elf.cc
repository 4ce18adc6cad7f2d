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

/// The largest section, segment or table that is read, and the most headers of a table.
constexpr std::uint64_t kMaxPartBytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMaxHeaders = 4096;

constexpr std::uint32_t kInterpreterSegment = 3;  // PT_INTERP
constexpr std::uint32_t kNoteSegment = 4;         // PT_NOTE
constexpr std::uint32_t kBuildIdNote = 3;         // NT_GNU_BUILD_ID

/// Where a class of ELF files has its fields, in bytes from the beginning of a header. Addresses,
/// offsets and sizes have `word_bytes` bytes.
struct ElfLayout {
  std::size_t word_bytes;
  std::size_t segments_at;  // e_phoff
  std::size_t sections_at;  // e_shoff
  std::size_t numbers_at;   // HeaderNumber
  std::size_t segment_offset;
  std::size_t segment_bytes;
  std::size_t section_offset;
  std::size_t section_bytes;
};
constexpr ElfLayout kElf32{.word_bytes = 4,
                           .segments_at = 28,
                           .sections_at = 32,
                           .numbers_at = 42,
                           .segment_offset = 4,
                           .segment_bytes = 16,
                           .section_offset = 16,
                           .section_bytes = 20};
constexpr ElfLayout kElf64{.word_bytes = 8,
                           .segments_at = 32,
                           .sections_at = 40,
                           .numbers_at = 54,
                           .segment_offset = 8,
                           .segment_bytes = 32,
                           .section_offset = 24,
                           .section_bytes = 32};

/// The numbers at the end of the file's header, in their order there. Each has two bytes.
enum class HeaderNumber : unsigned char {
  SegmentHeaderBytes,  // e_phentsize
  SegmentCount,        // e_phnum
  SectionHeaderBytes,  // e_shentsize
  SectionCount,        // e_shnum
  NamesSection,        // e_shstrndx: index of the section with the sections' names
};

constexpr std::size_t kMaxHeaderBytes = 64;

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

/// A note in an ELF file. The meaning of its type depends on who defined it, which its name says.
struct ElfNote {
  std::uint64_t type = 0;
  std::string_view from_name{};  ///< the name, and all that follows it
  std::string_view description{};
  std::uint64_t bytes = 0;
};

/// Returns the first note; nullopt if there is none, or if it is longer than `notes`, as in a
/// damaged file. A note has a header of three numbers (size of its name, size of its description,
/// type), then the name and the description, each padded to a multiple of 4 bytes.
std::optional<ElfNote> read_note(std::string_view notes) {
  constexpr std::size_t header_bytes = 12;
  if (notes.size() <= header_bytes) return std::nullopt;
  const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  const std::uint64_t padded_name_bytes = padded(number_at(notes, 0, 4));
  const std::uint64_t description_bytes = number_at(notes, 4, 4);
  const std::uint64_t padded_bytes = padded_name_bytes + padded(description_bytes);
  if (padded_bytes > notes.size() - header_bytes) return std::nullopt;
  return ElfNote{.type = number_at(notes, 8, 4),
                 .from_name = notes.substr(header_bytes),
                 .description = notes.substr(header_bytes + padded_name_bytes, description_bytes),
                 .bytes = header_bytes + padded_bytes};
}

class ElfReader {
 public:
  explicit ElfReader(const FileReader& read) : read_(read) {}

  std::optional<ElfFacts> read_facts() {
    constexpr std::size_t class_at = 4;       // EI_CLASS
    constexpr std::size_t byte_order_at = 5;  // EI_DATA
    constexpr char class_32 = 1;
    constexpr char class_64 = 2;
    const char own_byte_order = std::endian::native == std::endian::little ? 1 : 2;

    header_ = read_part({.bytes = kMaxHeaderBytes});
    if (!header_.starts_with("\177ELF") || header_.size() < kMaxHeaderBytes ||
        header_[byte_order_at] != own_byte_order ||
        (header_[class_at] != class_32 && header_[class_at] != class_64))
      return std::nullopt;

    layout_ = header_[class_at] == class_32 ? &kElf32 : &kElf64;
    for (const ElfPart& segment : read_segments()) read_segment_facts(segment);
    read_section_facts();
    return std::move(facts_);
  }

 private:
  /// Returns the bytes of a part, at most kMaxPartBytes of them.
  std::string read_part(const ElfPart& where) const {
    std::string bytes(std::min(where.bytes, kMaxPartBytes), '\0');
    bytes.resize(read_(where.offset, bytes));
    return bytes;
  }

  std::uint64_t word_at(std::string_view bytes, std::size_t at) const {
    return number_at(bytes, at, layout_->word_bytes);
  }

  std::uint64_t header_number(HeaderNumber number) const {
    return number_at(header_, layout_->numbers_at + 2 * static_cast<std::size_t>(number), 2);
  }

  /// Reads a table of `count` headers of `size` bytes each, which begins at the offset `at`.
  /// Returns the first kMaxHeaderBytes of each; fewer headers if there are more than kMaxHeaders,
  /// or if the file ends before.
  std::vector<std::string> read_headers(std::uint64_t at, std::uint64_t size,
                                        std::uint64_t count) const {
    const std::string table =
        read_part({.offset = at, .bytes = size * std::min(count, kMaxHeaders)});
    std::vector<std::string> list;
    for (std::size_t begin = 0; begin < table.size(); begin += size)
      list.push_back(table.substr(begin, std::min<std::size_t>(size, kMaxHeaderBytes)));
    return list;
  }

  std::vector<ElfPart> read_segments() const {
    std::vector<ElfPart> all;
    for (const std::string& header : read_headers(word_at(header_, layout_->segments_at),
                                                  header_number(HeaderNumber::SegmentHeaderBytes),
                                                  header_number(HeaderNumber::SegmentCount)))
      all.push_back({.type = number_at(header, 0, 4),
                     .offset = word_at(header, layout_->segment_offset),
                     .bytes = word_at(header, layout_->segment_bytes)});
    return all;
  }

  std::vector<ElfPart> read_sections() const {
    std::vector<ElfPart> all;
    for (const std::string& header : read_headers(word_at(header_, layout_->sections_at),
                                                  header_number(HeaderNumber::SectionHeaderBytes),
                                                  header_number(HeaderNumber::SectionCount)))
      all.push_back({.type = number_at(header, 4, 4),
                     .name = number_at(header, 0, 4),
                     .offset = word_at(header, layout_->section_offset),
                     .bytes = word_at(header, layout_->section_bytes)});
    return all;
  }

  void read_segment_facts(const ElfPart& segment) {
    if (segment.type == kInterpreterSegment) facts_.interpreter = read_part(segment).c_str();
    if (segment.type == kNoteSegment && facts_.build_id.empty()) take_build_id(read_part(segment));
  }

  /// Looks for the build-id in the notes of an ELF file, and sets facts_.build_id.
  void take_build_id(std::string_view notes) {
    constexpr std::string_view gnu("GNU\0", 4);
    while (const auto note = read_note(notes)) {
      if (note->type == kBuildIdNote && note->from_name.starts_with(gnu)) {
        const std::vector<unsigned char> id(note->description.begin(), note->description.end());
        facts_.build_id = fmt::format("{:02x}", fmt::join(id, ""));
        return;
      }
      notes.remove_prefix(note->bytes);
    }
  }

  void read_section_facts() {
    const std::vector<ElfPart> all = read_sections();
    const std::uint64_t names_index = header_number(HeaderNumber::NamesSection);
    if (names_index >= all.size()) return;
    const std::string names = read_part(all[names_index]);

    for (const ElfPart& section : all) {
      if (section.name >= names.size()) continue;
      const std::string_view name = names.c_str() + section.name;
      if (name == ".text") facts_.text_bytes = section.bytes;
      if (name == ".comment") add_compilers(read_part(section));
      if (name == ".GCC.command.line") add_flags(read_part(section));
    }
  }

  static void add_if_new(std::string_view text, std::vector<std::string>& list) {
    if (!text.empty() && std::ranges::find(list, text) == list.end()) list.emplace_back(text);
  }

  void add_compilers(std::string_view section) {
    for (const std::string_view text : split(section, '\0')) add_if_new(text, facts_.compilers);
  }

  /// Adds the options in a section with command lines. gcc writes "GNU C17 12.2.0 -O2
  /// -mtune=generic", and clang its whole command line.
  void add_flags(std::string_view section) {
    for (const std::string_view line : split(section, '\0')) {
      std::string_view previous;
      for (const std::string_view word : blank_separated(line)) {
        // What follows -o is a file, whose name says nothing about the code.
        if (word.starts_with('-') && word != "-o" && previous != "-o")
          add_if_new(word, facts_.compiler_flags);
        previous = word;
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
  return ElfReader(read).read_facts();
}

}  // namespace lauka
