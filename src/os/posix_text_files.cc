#include "os/descriptor.h"
#include "os/platform.h"
#include "os/text_files.h"
#include "os/users.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

class OpenText final : public TextFile {
 public:
  explicit OpenText(Descriptor file) : file_(std::move(file)) {}

  std::uint64_t bytes() const override {
    struct stat about {};
    return fstat(file_.get(), &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
  }

  std::size_t read(std::uint64_t from, std::span<char> into) const override {
    return read_at(file_.get(), from, into);
  }

  bool append(std::string_view bytes) override { return write_all(file_.get(), bytes); }

 private:
  Descriptor file_;
};

class PosixTextFiles final : public TextFiles {
 public:
  explicit PosixTextFiles(std::optional<User> user) : user_(std::move(user)) {}

  Result<std::unique_ptr<TextFile>> open(const std::string& path) override {
    const ActAs reader(user_);
    if (!reader.error().empty()) return Error{reader.error(), "use --as-root to keep root"};
    // A named pipe is not waited for.
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat about {};
    if (!file || fstat(file.get(), &about) != 0)
      return Error{"cannot be read: " + std::generic_category().message(errno), ""};
    if (!S_ISREG(about.st_mode)) return Error{"is no regular file", "write its text to one"};
    return std::unique_ptr<TextFile>(std::make_unique<OpenText>(std::move(file)));
  }

  Result<std::unique_ptr<TextFile>> make() override {
    Descriptor file(open_anonymous_file());
    if (!file)
      return Error{"no file without a name can be made: " + std::generic_category().message(errno),
                   ""};
    return std::unique_ptr<TextFile>(std::make_unique<OpenText>(std::move(file)));
  }

 private:
  std::optional<User> user_;
};

}  // namespace

std::unique_ptr<TextFiles> text_files(const std::optional<User>& user) {
  return std::make_unique<PosixTextFiles>(user);
}

}  // namespace lauka::os
