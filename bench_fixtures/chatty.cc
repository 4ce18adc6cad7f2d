// Writes so many bytes to standard output, then so many to standard error: numbered lines of 32
// bytes, in pieces of 4 KB as stdio would, the last line cut where the number of bytes says so.
#include "arguments.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <unistd.h>

namespace {

constexpr std::size_t kLine = 32;
constexpr std::size_t kLinesOfPiece = 128;
constexpr std::size_t kPiece = kLine * kLinesOfPiece;

bool write_all(int descriptor, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(descriptor, bytes, size);
    if (written < 0 && errno != EINTR) {
      return false;
    }
    const auto gone = static_cast<std::size_t>(std::max<ssize_t>(written, 0));
    bytes += gone;
    size -= gone;
  }
  return true;
}

bool write_lines(int descriptor, const char* name, std::uint64_t bytes) {
  std::uint64_t number = 0;
  while (bytes > 0) {
    std::array<char, kPiece + 1> piece{};
    for (std::size_t line = 0; line < kLinesOfPiece; ++line) {
      static_cast<void>(std::snprintf(&piece[line * kLine], kLine + 1, "%-15s line %10llu\n", name,
                                      static_cast<unsigned long long>(++number)));
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kPiece));
    if (!write_all(descriptor, piece.data(), size)) {
      return false;
    }
    bytes -= size;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const usage = "chatty OUT_BYTES ERR_BYTES [STATUS]   (sizes: 100, 64k, 16M)";
  const auto arguments = fixture::arguments_of(argc, argv);
  if (arguments.size() < 2 || arguments.size() > 3) {
    fixture::refuse(usage);
  }
  const auto out_bytes = fixture::to_bytes(arguments[0]);
  const auto err_bytes = fixture::to_bytes(arguments[1]);
  const auto status = arguments.size() == 3 ? fixture::to_number(arguments[2], 255) : 0;
  if (!out_bytes || !err_bytes || !status) {
    fixture::refuse(usage);
  }
  const bool written = write_lines(STDOUT_FILENO, "standard output", *out_bytes) &&
                       write_lines(STDERR_FILENO, "standard error", *err_bytes);
  return written ? static_cast<int>(*status) : 1;
}
