#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace lauka::os {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    const Descriptor closed(std::exchange(fd_, other.release()));
    return *this;
  }
  /// Closes the descriptor. Keeps errno.
  ~Descriptor() {
    const int saved = errno;
    if (fd_ >= 0) close(fd_);
    errno = saved;
  }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read_end;  ///< reading does not wait
  Descriptor write_end;

  /// Opens both ends, with close on exec. Returns false with errno on failure.
  bool open();
};

using WriteCall = ssize_t (*)(int fd, const void* bytes, std::size_t count);

/// Writes all `bytes`. Returns false with errno on failure.
bool write_all(int fd, std::string_view bytes, WriteCall call = &::write);

/// Reads from offset `from` until `into` is full, the file ends or reading fails. Returns the
/// number of bytes.
std::size_t read_at(int fd, std::uint64_t from, std::span<char> into);

/// Returns the contents of a regular file; if reading fails, only the bytes before the failure.
/// nullopt if `fd` is not a regular file of at most `most` bytes.
std::optional<std::string> read_whole(int fd, std::size_t most);

/// Reads from the current position to the end, at most `most` bytes. nullopt with errno on failure.
std::optional<std::string> read_rest(int fd, std::size_t most);

/// Copies the whole file `from` to `to`. Returns false with errno if reading or writing fails.
bool copy_all(int from, int to, WriteCall call = &::write);

/// Returns the names in a folder, sorted, without "." and ".."; empty if `folder` is not an open
/// folder.
std::vector<std::string> names_in(Descriptor folder);

/// Returns pointers to the words and a final null, for execve. The pointers are valid until `words`
/// changes.
std::vector<char*> pointers_to(std::vector<std::string>& words);

}  // namespace lauka::os
