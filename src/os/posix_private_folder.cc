#include "os/acting.h"
#include "os/descriptor.h"
#include "os/private_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace lauka::os {

Result<PrivateFolder> PrivateFolder::create(const std::optional<User>& user) {
  const ActAs owner(user);
  if (!owner.error().empty()) return Error{owner.error(), "use --as-root to keep root"};
  const char* variable = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::string below = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  std::error_code error;
  std::string path = (std::filesystem::absolute(below, error) / "lauka-XXXXXX").string();
  if (mkdtemp(path.data()) != nullptr) return PrivateFolder(std::move(path), user);
  return Error{"cannot make a temporary folder in '" + below +
                   "': " + std::generic_category().message(errno),
               "set TMPDIR to a folder that can be written"};
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), user_(std::move(other.user_)) {}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  std::swap(path_, other.path_);
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
