#pragma once

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

/// Owns a file descriptor. Internal to os/.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close_it();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close_it(); }

  int get() const { return fd_; }
  /// Gives it up without closing it.
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  void close_it() {
    if (fd_ >= 0) close(fd_);
  }

  int fd_ = -1;
};

using WriteCall = ssize_t (*)(int fd, const void* bytes, std::size_t count);

/// False with errno where not all of it can be written.
bool write_all(int fd, std::string_view bytes, WriteCall call = &::write);

/// Reads as many bytes as there are at `from`.
std::size_t read_at(int fd, std::uint64_t from, std::span<char> into);

/// Reads all of a regular file of at most `most` bytes; nullopt if it is anything else.
std::optional<std::string> read_whole(int fd, std::size_t most);

/// Reads the rest of a file, at most `most` bytes of it. nullopt with errno if it cannot.
std::optional<std::string> read_rest(int fd, std::size_t most);

/// Writes all of the file `from` to `to`. False with errno if one cannot be read or the other takes
/// no more.
bool copy_all(int from, int to, WriteCall call = &::write);

/// Lists the names in a folder, sorted, without "." and ".."; empty if it is not a folder.
std::vector<std::string> names_in(Descriptor folder);

/// Returns `words` in the form for execve, valid as long as these live.
std::vector<char*> pointers_to(std::vector<std::string>& words);

}  // namespace lauka::os
