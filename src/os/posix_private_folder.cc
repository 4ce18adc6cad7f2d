#include "os/descriptor.h"
#include "os/files.h"
#include "os/private_folder.h"
#include "os/users.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr std::string_view kFolderPrefix = "lauka-private-";
constexpr int kMostTries = 10;

/// Its lock goes with the process that holds it, however that ends.
Descriptor locked(const std::string& path) {
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat there {};
  const bool is_ours = folder && flock(folder.get(), LOCK_EX | LOCK_NB) == 0 &&
                       fstat(folder.get(), &there) == 0 && there.st_uid == geteuid() &&
                       there.st_nlink > 0 && (there.st_mode & 0777U) == 0700;
  return is_ours ? std::move(folder) : Descriptor();
}

/// What a process left that was killed: its folder is nobody's any more.
void remove_what_was_left(const std::filesystem::path& below) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(below, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(kFolderPrefix)) continue;
    std::error_code ignored;
    if (const Descriptor lock = locked(entry->path().string()))
      std::filesystem::remove_all(entry->path(), ignored);
  }
}

}  // namespace

Result<PrivateFolder> PrivateFolder::create(const std::optional<User>& user) {
  const ActAs owner(user);
  if (!owner.error().empty()) return Error{owner.error(), "use --as-root to keep root"};
  std::string below = variable("TMPDIR").value_or("");
  if (below.empty()) below = "/tmp";
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(below, error);
  remove_what_was_left(folder);
  // Between the two calls another start may take it for one that was left.
  for (int i = 0; i < kMostTries; ++i) {
    std::string path = (folder / (std::string(kFolderPrefix) + "XXXXXX")).string();
    if (mkdtemp(path.data()) == nullptr) break;
    if (auto lock = locked(path)) return PrivateFolder(std::move(path), std::move(lock), user);
    std::filesystem::remove_all(path, error);
    errno = EBUSY;
  }
  return Error{"cannot make a temporary folder in '" + below +
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
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::vector<std::string> PrivateFolder::names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> PrivateFolder::read(const std::string& name) const {
  const ActAs owner(user_);
  const std::string path = path_ + "/" + name;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 65536> part{};
  ssize_t got = file ? 1 : -1;
  while (got > 0) {
    got = ::read(file.get(), part.data(), part.size());
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    if (got < 0 && errno == EINTR) got = 1;
  }
  if (got == 0) return text;
  return Error{"cannot read '" + path + "': " + std::generic_category().message(errno), ""};
}

void PrivateFolder::clear() const {
  const ActAs owner(user_);
  std::error_code error;
  for (const std::string& name : names()) std::filesystem::remove_all(path_ + "/" + name, error);
}

}  // namespace lauka::os
