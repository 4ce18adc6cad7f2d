#include "os/descriptor.h"
#include "os/files.h"
#include "os/private_folder.h"
#include "os/users.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr std::string_view kFolderPrefix = "lauka-private-";
constexpr int kMostTries = 10;

constexpr int kDeepest = 64;  // of what is removed: a descriptor is open for each

Descriptor open_folder(int parent, const char* name) {
  return Descriptor(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Lists a folder by its descriptor, whatever is at its path by now.
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  Descriptor own = open_folder(folder, ".");  // closedir closes it
  DIR* const entries = own ? fdopendir(own.get()) : nullptr;
  if (entries == nullptr) return names;
  static_cast<void>(own.release());
  while (const dirent* entry = readdir(entries)) {  // NOLINT(concurrency-mt-unsafe): own stream
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(entries);
  return names;
}

/// Removes what is in a folder; links are removed, never followed.
void empty_folder(int folder, int deepest = kDeepest) {
  for (const std::string& name : names_in(folder)) {
    if (unlinkat(folder, name.c_str(), 0) == 0 || deepest == 0) continue;
    const Descriptor inner = open_folder(folder, name.c_str());
    if (!inner) continue;
    empty_folder(inner.get(), deepest - 1);
    unlinkat(folder, name.c_str(), AT_REMOVEDIR);
  }
}

/// Its lock goes with the process that holds it, however that ends.
Descriptor locked(int parent, const std::string& name) {
  Descriptor folder = open_folder(parent, name.c_str());
  struct stat there {};
  const bool is_ours = folder && flock(folder.get(), LOCK_EX | LOCK_NB) == 0 &&
                       fstat(folder.get(), &there) == 0 && there.st_uid == geteuid() &&
                       there.st_nlink > 0 && (there.st_mode & 0777U) == 0700;
  return is_ours ? std::move(folder) : Descriptor();
}

/// Says if others may rename our folders: a foreign one may then have a name of ours.
bool lets_others_rename(int folder) {
  struct stat there {};
  return fstat(folder, &there) != 0 ||
         ((there.st_mode & S_IWOTH) != 0 && (there.st_mode & S_ISVTX) == 0);
}

/// What a process left that was killed: its folder is nobody's any more.
void remove_what_was_left(const std::string& below) {
  const Descriptor parent(open(below.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent || lets_others_rename(parent.get())) return;
  for (const std::string& name : names_in(parent.get())) {
    if (!name.starts_with(kFolderPrefix)) continue;
    const Descriptor left = locked(parent.get(), name);
    if (!left) continue;
    empty_folder(left.get());
    unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
  }
}

/// Where folders are made: where the user says, or in memory where the system has such a place,
/// since a disk's journal takes milliseconds to make a folder and to forget it, while runs go on.
std::vector<std::string> places() {
  std::string chosen = variable("TMPDIR").value_or("");
  if (!chosen.empty()) return {std::move(chosen)};
  return {"/dev/shm", "/tmp"};
}

/// A new folder in `below`; none with errno.
std::optional<std::pair<std::string, Descriptor>> new_folder(const std::filesystem::path& below) {
  // Between the two calls another start may take it for one that was left, or somebody put another
  // in its place: a new one is empty.
  for (int i = 0; i < kMostTries; ++i) {
    std::string path = (below / (std::string(kFolderPrefix) + "XXXXXX")).string();
    if (mkdtemp(path.data()) == nullptr) break;
    auto lock = locked(AT_FDCWD, path);
    if (lock && names_in(lock.get()).empty()) return std::pair{std::move(path), std::move(lock)};
    rmdir(path.c_str());
    errno = EBUSY;
  }
  return std::nullopt;
}

}  // namespace

Result<PrivateFolder> PrivateFolder::create(const std::optional<User>& user) {
  const ActAs owner(user);
  if (!owner.error().empty()) return Error{owner.error(), "use --as-root to keep root"};
  const std::vector<std::string> all = places();
  for (const std::string& place : all) {
    std::error_code error;
    const std::filesystem::path below = std::filesystem::absolute(place, error);
    remove_what_was_left(below.string());
    if (auto made = new_folder(below))
      return PrivateFolder(std::move(made->first), std::move(made->second), user);
  }
  return Error{"cannot make a temporary folder in '" + all.back() +
                   "': " + std::generic_category().message(errno),
               "set TMPDIR to a folder that can be written"};
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      user_(std::move(other.user_)) {}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  std::swap(user_, other.user_);
  return *this;
}

PrivateFolder::~PrivateFolder() {
  if (path_.empty()) return;
  const ActAs owner(user_);
  empty_folder(lock_.get());
  rmdir(path_.c_str());  // of a link that took its place it removes nothing
}

std::vector<std::string> PrivateFolder::names() const {
  std::vector<std::string> names = names_in(lock_.get());
  std::sort(names.begin(), names.end());
  return names;
}

Descriptor PrivateFolder::open_file(const std::string& name) const {
  return Descriptor(
      openat(lock_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
}

Result<std::string> PrivateFolder::read(const std::string& name) const {
  const ActAs owner(user_);
  const Descriptor file = open_file(name);
  std::string text;
  std::array<char, 65536> part{};
  ssize_t got = file ? 1 : -1;
  while (got > 0) {
    got = ::read(file.get(), part.data(), part.size());
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    if (got < 0 && errno == EINTR) got = 1;
  }
  if (got == 0) return text;
  return Error{
      "cannot read '" + path_ + "/" + name + "': " + std::generic_category().message(errno), ""};
}

void PrivateFolder::clear() const {
  const ActAs owner(user_);
  empty_folder(lock_.get());
}

}  // namespace lauka::os
