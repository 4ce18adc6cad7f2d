#include "os/descriptor.h"
#include "os/private_folder.h"
#include "os/told_files.h"
#include "os/users.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
constexpr std::size_t kDigits = 2;  // of a place: a batch has 64 at most

std::string name_of(std::size_t place) {
  std::string digits = std::to_string(place);
  digits.insert(0, kDigits - std::min(digits.size(), kDigits), '0');
  return "run-" + digits;
}

/// False where it is no file, or too large.
bool read_whole(const Descriptor& file, std::string& text) {
  struct stat about {};
  if (!file || fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
  if (about.st_size > static_cast<off_t>(kMostBytes)) return false;
  text.resize(static_cast<std::size_t>(about.st_size));
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return true;
}

class FilesInFolder final : public ToldFiles {
 public:
  FilesInFolder(PrivateFolder folder, std::optional<User> user)
      : folder_(std::move(folder)), user_(std::move(user)) {}

  std::string path(std::size_t place) const override {
    return folder_.path() + "/" + name_of(place);
  }

  std::vector<Told> take() override {
    std::vector<Told> all;
    const std::vector<std::string> names = folder_.names();
    if (names.empty()) return all;
    {
      const ActAs owner(user_);
      for (std::size_t place = 0; place < 100; ++place) {
        if (!std::ranges::binary_search(names, name_of(place))) continue;
        Told& told = all.emplace_back();
        told.place = place;
        told.is_whole = read_whole(folder_.open_file(name_of(place)), told.text);
      }
    }
    folder_.clear();
    return all;
  }

 private:
  PrivateFolder folder_;
  std::optional<User> user_;
};

}  // namespace

Result<std::unique_ptr<ToldFiles>> open_told_files(const std::optional<User>& user) {
  auto folder = PrivateFolder::create(user);
  if (!folder) return folder.error();
  return std::unique_ptr<ToldFiles>(new FilesInFolder(*std::move(folder), user));
}

}  // namespace lauka::os
