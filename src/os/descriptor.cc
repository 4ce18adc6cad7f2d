#include "os/descriptor.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {

bool Pipe::open() {
  std::array ends = {-1, -1};
  if (pipe(ends.data()) != 0) return false;
  read_end = Descriptor(ends[0]);
  write_end = Descriptor(ends[1]);
  return std::ranges::all_of(ends, [](int fd) { return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0; }) &&
         fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

bool write_all(int fd, std::string_view bytes, WriteCall call) {
  while (!bytes.empty()) {
    const ssize_t written = call(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {  // a command may have made a shared terminal non-blocking
      pollfd ready{fd, POLLOUT, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::size_t read_at(int fd, std::uint64_t from, std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t got =
        pread(fd, into.data() + filled, into.size() - filled, static_cast<off_t>(from + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

std::optional<std::string> read_whole(int fd, std::size_t most) {
  struct stat about {};
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(about.st_size) > most) return std::nullopt;
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  text.resize(read_at(fd, 0, text));
  return text;
}

std::optional<std::string> read_rest(int fd, std::size_t most) {
  std::string bytes;
  std::array<char, 16384> piece;
  while (bytes.size() < most) {
    const ssize_t got = read(fd, piece.data(), std::min(piece.size(), most - bytes.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

bool copy_all(int from, int to, WriteCall call) {
  std::array<char, 16384> piece;
  for (off_t at = 0;;) {
    const ssize_t got = pread(from, piece.data(), piece.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    if (!write_all(to, {piece.data(), static_cast<std::size_t>(got)}, call)) return false;
    at += got;
  }
}

std::vector<std::string> names_in(Descriptor folder) {
  std::vector<std::string> names;
  DIR* const entries = folder ? fdopendir(folder.get()) : nullptr;
  if (entries == nullptr) return names;
  static_cast<void>(folder.release());
  while (const dirent* entry = readdir(entries)) {  // NOLINT(concurrency-mt-unsafe): own stream
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(entries);
  std::ranges::sort(names);
  return names;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace lauka::os
