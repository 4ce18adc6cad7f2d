#include "os/descriptor.h"
#include "os/setting_files.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace lauka::os {
namespace {

constexpr std::size_t kMostRead = 65536;
constexpr int kFolderOnTheWay = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

int errno_unless(bool done) {
  return done ? 0 : errno;
}

class FilesBelow final : public SettingFiles {
 public:
  explicit FilesBelow(const std::string& root)
      : root_(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

  std::optional<std::string> read(const std::string& path) override {
    const Descriptor file = open(path, O_RDONLY | O_NONBLOCK);
    return file ? read_rest(file.get(), kMostRead) : std::nullopt;
  }

  std::vector<std::string> list(const std::string& folder) override {
    return names_in(open(folder, O_RDONLY | O_DIRECTORY));
  }

  int check_writable(const std::string& path) override {
    return errno_unless(static_cast<bool>(open(path, O_WRONLY | O_NONBLOCK)));
  }

  int write(const std::string& path, std::string_view text) override {
    const Descriptor file = open(path, O_WRONLY | O_NONBLOCK);
    if (!file) return errno;
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0) return errno;
    return static_cast<std::size_t>(written) == text.size() ? 0 : EIO;
  }

  int append(const std::string& path, std::string_view text) override {
    constexpr mode_t read_by_all = 0644;
    std::string name;
    const Descriptor folder = parent_of(path, name);
    if (!folder) return errno;
    const Descriptor file(openat(folder.get(), name.c_str(),
                                 O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                                 read_by_all));
    return errno_unless(file && write_all(file.get(), text) && fsync(file.get()) == 0);
  }

  int make_folder(const std::string& path) override {
    // Others may read the journal in it, but not lock the folder.
    constexpr mode_t entered_by_all = 0711;
    std::string name;
    const Descriptor folder = parent_of(path, name);
    return errno_unless(folder && mkdirat(folder.get(), name.c_str(), entered_by_all) == 0);
  }

  int remove(const std::string& path) override {
    std::string name;
    const Descriptor folder = parent_of(path, name);
    if (!folder) return errno;
    if (unlinkat(folder.get(), name.c_str(), AT_REMOVEDIR) == 0) return 0;
    if (errno != ENOTDIR) return errno;
    return errno_unless(unlinkat(folder.get(), name.c_str(), 0) == 0);
  }

  int lock(const std::string& folder) override {
    Descriptor opened = open(folder, O_RDONLY | O_DIRECTORY);
    struct stat there {};
    if (!opened || flock(opened.get(), LOCK_EX | LOCK_NB) != 0 || fstat(opened.get(), &there) != 0)
      return errno;
    if (there.st_nlink == 0) return ENOENT;
    if (there.st_uid != geteuid() || (there.st_mode & (S_IWGRP | S_IWOTH)) != 0) return EPERM;
    lock_ = std::move(opened);
    return 0;
  }

  void unlock() override { lock_ = Descriptor(); }

  int hold_latency(const std::string& device, std::int32_t latency_us) override {
    Descriptor opened = open(device, O_WRONLY);
    std::array<char, sizeof latency_us> bytes{};
    std::memcpy(bytes.data(), &latency_us, bytes.size());
    if (!opened || !write_all(opened.get(), {bytes.data(), bytes.size()})) return errno;
    latency_ = std::move(opened);
    return 0;
  }

  void release_latency() override { latency_ = Descriptor(); }

  int own_pid() override { return getpid(); }

  bool is_alive(int pid) override { return kill(pid, 0) == 0 || errno == EPERM; }

  void wait() override {
    const timespec millisecond{0, 1'000'000};
    nanosleep(&millisecond, nullptr);
  }

 private:
  /// Opens the folder of a path, one name after the other; `name` is the last one.
  Descriptor parent_of(const std::string& path, std::string& name) const {
    Descriptor folder(fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
    std::size_t begin = 1;
    for (std::size_t end = path.find('/', begin); folder && end != std::string::npos;
         begin = end + 1, end = path.find('/', begin))
      folder = Descriptor(
          openat(folder.get(), path.substr(begin, end - begin).c_str(), kFolderOnTheWay));
    name = path.substr(begin);
    return folder;
  }

  Descriptor open(const std::string& path, int flags) const {
    std::string name;
    const Descriptor folder = parent_of(path, name);
    if (!folder) return {};
    return Descriptor(openat(folder.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  }

  Descriptor root_;
  Descriptor lock_;
  Descriptor latency_;
};

}  // namespace

std::unique_ptr<SettingFiles> open_setting_files(const std::string& root) {
  return std::make_unique<FilesBelow>(root);
}

}  // namespace lauka::os
