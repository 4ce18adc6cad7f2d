#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lauka {

/// Reads a file from an offset until the span is full or the file ends. Returns the number of
/// bytes.
using FileReader = std::function<std::size_t(std::uint64_t from, std::span<char> into)>;

/// What an ELF file says about itself. Texts and lists are empty if it does not say it.
struct ElfFacts {
  std::string build_id{};  ///< in hexadecimal
  std::string
      interpreter{};  ///< path of the dynamic loader; empty: statically linked, or a library
  std::vector<std::string> compilers{};  ///< texts of .comment, each once
  /// Options in .GCC.command.line (-frecord-gcc-switches), each once, without names of files.
  std::vector<std::string> compiler_flags{};
  std::optional<std::uint64_t> text_bytes{};  ///< size of .text; nullopt: no such section
};

/// Reads an ELF file of 32 or 64 bits in the byte order of this machine. Returns nullopt if the
/// file is another one, or is damaged.
std::optional<ElfFacts> read_elf(const FileReader& read);

}  // namespace lauka
