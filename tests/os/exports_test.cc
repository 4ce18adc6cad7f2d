#include "must.h"
#include "os/export_files.h"
#include "os/files.h"
#include "os/users.h"
#include "skip.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

/// A folder of a test's own, emptied and removed when it ends.
class TemporaryFolder {
 public:
  TemporaryFolder() { REQUIRE(mkdtemp(path_.data()) != nullptr); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    for (const std::string& name : names()) unlink(file(name).c_str());
    rmdir(path_.c_str());
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    DIR* folder = opendir(path_.c_str());
    while (const dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.') all.emplace_back(entry->d_name);
    }
    closedir(folder);
    return all;
  }

 private:
  std::string path_ = "/tmp/lauka-test-XXXXXX";
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

/// Writes `bytes` and commits.
Result<void> put(Result<std::unique_ptr<ExportFile>> file, std::string_view bytes) {
  if (!file) return file.error();
  (*file)->write(bytes);
  return (*file)->commit();
}

/// The calls of a file system that has no files without a name.
FileCalls named() {
  FileCalls calls = file_calls();
  calls.open_unnamed = [](const char*) {
    errno = ENOTSUP;
    return -1;
  };
  return calls;
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

ino_t inode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_ino;
}

std::string what_of(const Result<void>& result) {
  return result ? "" : result.error().what;
}

/// The one file in the folder besides out.csv.
std::string kept_in(const TemporaryFolder& folder) {
  for (const std::string& name : folder.names())
    if (name != "out.csv") return folder.file(name);
  return "";
}

/// The call that fails, which time it is made, and with what.
struct Fault {
  std::string call;
  int at = 0;
  int error = 0;
  bool lasts = false;  ///< it fails from then on
};
Fault fault;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): of plain functions

bool fails(std::string_view call) {
  if (fault.call != call) return false;
  --fault.at;
  if (fault.at > 0 || (fault.at < 0 && !fault.lasts)) return false;
  errno = fault.error;
  return true;
}

/// The calls of a file system on which one call fails. `is_named`: it has no files without a name.
FileCalls faulty(const Fault& planned, bool is_mount_point = false, bool is_named = false) {
  static bool mounted;
  mounted = is_mount_point;
  fault = planned;
  FileCalls calls = is_named ? named() : file_calls();
  if (!is_named)
    calls.open_unnamed = [](const char* folder) {
      return fails("open_unnamed") ? -1 : file_calls().open_unnamed(folder);
    };
  calls.name_unnamed_file = [](int fd, const char* path) {
    return fails("name") ? -1 : file_calls().name_unnamed_file(fd, path);
  };
  calls.write = [](int fd, const void* bytes, std::size_t count) -> ssize_t {
    return fails("write") ? -1 : ::write(fd, bytes, count);
  };
  calls.close = [](int fd) {
    const int closed = ::close(fd);
    return fails("close") ? -1 : closed;
  };
  calls.rename = [](const char* from, const char* to) {
    return fails("rename") ? -1 : std::rename(from, to);
  };
  calls.is_mount_point = [](const char*) { return mounted; };
  return calls;
}

/// Replaces an old file by an export, where a call fails: the target must be old or new, whole, and
/// what is left over named. True if it failed.
bool check_replaced(const Fault& planned, bool is_mount_point, bool is_named) {
  const std::string text(200'000, 'x');
  const TemporaryFolder folder;
  const std::string target = folder.file("out.csv");
  std::ofstream(target) << "old";
  const auto done = put(ExportFile::open(target, faulty(planned, is_mount_point, is_named)), text);
  const std::vector<std::string> names = folder.names();
  REQUIRE(std::none_of(names.begin(), names.end(), [](const std::string& name) {
    return name.find(".lauka-") != std::string::npos;
  }));
  if (done) {
    REQUIRE((text_of(target) == text));
    REQUIRE(names.size() == 1);
    return false;
  }
  REQUIRE_MESSAGE(
      (planned.error != EINTR || planned.call.starts_with("name") || planned.call == "rename"),
      "a signal while bytes are written is no failure");
  REQUIRE(done.error().what.starts_with("cannot write '" + target + "': "));
  const std::string kept = kept_in(folder);
  if (!kept.empty()) {
    REQUIRE(done.error().remedy.find(kept) != std::string::npos);
    REQUIRE((text_of(kept) == text));
  }
  // Bytes that are replaced in place may be lost half way, but not the export then.
  REQUIRE((text_of(target) == "old" || (is_mount_point && !kept.empty())));
  return true;
}

/// A file that everybody may write to.
std::string file_open_to_all(const TemporaryFolder& folder, const char* text) {
  std::string path = folder.file("out.csv");
  std::ofstream(path) << text;
  REQUIRE(chmod(path.c_str(), 0666) == 0);
  return path;
}

bool is_root() {
  if (geteuid() == 0) return true;
  skip("only root can make files of others");
  return false;
}

}  // namespace

TEST_CASE("an export appears whole, with the permissions of a new file") {
  const TemporaryFolder folder;
  auto file = ExportFile::open(folder.file("out.csv"));
  REQUIRE(file.has_value());
  CHECK(access(folder.file("out.csv").c_str(), F_OK) != 0);
  REQUIRE(put(std::move(file), "a,b\n").has_value());
  CHECK(text_of(folder.file("out.csv")) == "a,b\n");
  CHECK(folder.names().size() == 1);
  const mode_t mask = umask(0);
  umask(mask);
  CHECK(mode_of(folder.file("out.csv")) == (0666 & ~mask));
}

TEST_CASE("an export that is not committed leaves what was there and no temporary file") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("out.csv")) << "last week's";
  { const auto file = ExportFile::open(folder.file("out.csv")); }
  CHECK(text_of(folder.file("out.csv")) == "last week's");
  CHECK(folder.names().size() == 1);
}

TEST_CASE("an export through a symbolic link replaces the file it leads to") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("real.csv")) << "old";
  REQUIRE(symlink(folder.file("real.csv").c_str(), folder.file("link.csv").c_str()) == 0);
  REQUIRE(put(ExportFile::open(folder.file("link.csv")), "new").has_value());
  CHECK(text_of(folder.file("real.csv")) == "new");
  struct stat status {};
  REQUIRE(lstat(folder.file("link.csv").c_str(), &status) == 0);
  CHECK(S_ISLNK(status.st_mode));
}

TEST_CASE("targets that cannot be written are refused and named") {
  CHECK(ExportFile::open("/nosuch/folder/out.csv").error().what ==
        "cannot write '/nosuch/folder/out.csv': No such file or directory");
  CHECK(ExportFile::open("/tmp").error().what == "cannot write '/tmp': Is a directory");
}

TEST_CASE("a full disk is an error of the commit") {
  CHECK(put(ExportFile::open("/dev/full"), "x").error().what ==
        "cannot write '/dev/full': No space left on device");
}

TEST_CASE("an export is written where no descriptor is left but its own") {
  const TemporaryFolder folder;
  const auto file = must(ExportFile::open(folder.file("out.csv")));
  file->write("text");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none_left{0, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none_left) == 0);
  const auto committed = file->commit();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(what_of(committed) == "");
  CHECK(text_of(folder.file("out.csv")) == "text");
}

TEST_CASE("standard output that cannot be written is called that") {
  const Descriptor kept(dup(STDOUT_FILENO));
  const Descriptor full(::open("/dev/full", O_WRONLY));
  dup2(full.get(), STDOUT_FILENO);
  const auto committed = put(ExportFile::open("-"), "x");
  dup2(kept.get(), STDOUT_FILENO);
  CHECK(what_of(committed) == "cannot write to standard output: No space left on device");
}

TEST_CASE("/dev/null takes an export and stays what it is") {
  CHECK(put(ExportFile::open("/dev/null"), "x").has_value());
  struct stat status {};
  REQUIRE(stat("/dev/null", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
}

TEST_CASE("a killed lauka leaves nothing where files can be without a name") {
  const TemporaryFolder folder;
  const int unnamed = file_calls().open_unnamed(folder.file("").c_str());
  if (unnamed < 0) return skip("this file system has no files without a name");
  close(unnamed);
  const auto file = ExportFile::open(folder.file("out.csv"));
  (*file)->write(std::string(100'000, 'x'));
  CHECK(folder.names().empty());
}

TEST_CASE(
    "what a killed lauka left is removed by the next one, but not what another still writes") {
  const TemporaryFolder folder;
  const FileCalls calls = named();
  std::ofstream(folder.file("out.csv.lauka-1-0")) << "half";
  std::ofstream(folder.file("out.csv.kept-1-0")) << "whole";
  const auto other = ExportFile::open(folder.file("out.csv"), calls);
  CHECK(folder.names().size() == 2);
  REQUIRE(put(ExportFile::open(folder.file("out.csv"), calls), "new").has_value());
  CHECK(folder.names().size() == 3);
  REQUIRE((*other)->commit().has_value());
  CHECK(folder.names().size() == 2);
  CHECK(text_of(folder.file("out.csv.kept-1-0")) == "whole");
}

TEST_CASE("an export keeps the permissions of what it replaces, but gives no rights of its owner") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("out.csv")) << "old";
  REQUIRE(chmod(folder.file("out.csv").c_str(), 06751) == 0);
  REQUIRE(put(ExportFile::open(folder.file("out.csv")), "new").has_value());
  CHECK(mode_of(folder.file("out.csv")) == 0751);
}

TEST_CASE("a link that leads to nothing yet has its file made") {
  const TemporaryFolder folder;
  REQUIRE(symlink("real.csv", folder.file("link.csv").c_str()) == 0);
  REQUIRE(put(ExportFile::open(folder.file("link.csv")), "new").has_value());
  CHECK(text_of(folder.file("real.csv")) == "new");
  CHECK(resolve(folder.file("link.csv")).path == resolve(folder.file("real.csv")).path);
}

TEST_CASE("files that cannot be replaced are reported first, and their bytes are replaced") {
  const TemporaryFolder folder;
  const std::string target = folder.file("out.csv");
  std::ofstream(target) << "a much longer text of last week";
  const ino_t before = inode_of(target);
  const FileCalls calls = faulty({}, true);
  const auto file = must(ExportFile::open(target, calls));
  CHECK(file->note() == "'" + target +
                            "' cannot be replaced, because it is a mount point; lauka will "
                            "overwrite it in place when all runs are done");
  file->write("new");
  CHECK(text_of(target) == "a much longer text of last week");
  REQUIRE(file->commit().has_value());
  CHECK(text_of(target) == "new");
  CHECK(inode_of(target) == before);
  CHECK(folder.names().size() == 1);
  CHECK(ExportFile::open(target).value()->note().empty());
}

TEST_CASE(
    "somebody else's file, or one in a folder that cannot be written, is written where it is") {
  if (!is_root()) return;
  for (const bool is_foreign : {true, false}) {
    CAPTURE(is_foreign);
    const TemporaryFolder folder;
    const std::string target = file_open_to_all(folder, "old and longer");
    if (is_foreign) REQUIRE(chown(target.c_str(), 54321, 54321) == 0);
    REQUIRE(chmod(folder.file("").c_str(), is_foreign ? 01777 : 0755) == 0);
    const ActAs other(User{.id = 54322, .group = 54322});
    REQUIRE_FALSE(other.error());
    auto file = ExportFile::open(target);
    CHECK(file.value()->note().find(is_foreign ? "it belongs to another user, and only owners"
                                               : "because no file can be created in its folder") !=
          std::string::npos);
    CHECK(text_of(target) == "old and longer");
    REQUIRE(put(std::move(file), "new").has_value());
    CHECK(text_of(target) == "new");
  }
}

TEST_CASE("a link that somebody else laid out in a folder open to all is not followed") {
  if (!is_root()) return;
  const TemporaryFolder folder;
  const std::string shared = folder.file("shared");
  REQUIRE(mkdir(shared.c_str(), 0755) == 0);
  REQUIRE(chmod(shared.c_str(), 01777) == 0);
  const std::string link = shared + "/out.csv";
  REQUIRE(symlink(folder.file("victim").c_str(), link.c_str()) == 0);
  CHECK(ExportFile::open(link).has_value());
  CHECK(check_output(link).has_value());
  REQUIRE(lchown(link.c_str(), 54321, 54321) == 0);
  const std::string refusal =
      "cannot write '" + link + "': '" + link +
      "' is a link of another user, in a folder that everybody can write to";
  CHECK(ExportFile::open(link).error().what == refusal);
  CHECK(check_output(link).error().what == refusal);
  unlink(link.c_str());
  rmdir(shared.c_str());
}

TEST_CASE("a complete file that cannot get into its place is kept and named") {
  const TemporaryFolder folder;
  const std::string target = folder.file("out.csv");
  std::ofstream(target) << "old";
  for (const bool is_named : {false, true}) {
    CAPTURE(is_named);
    // The temporary goes before `file` does.
    const FileCalls calls = faulty({"rename", 1, EBUSY}, false, is_named);
    const auto file = must(ExportFile::open(target, calls));
    file->write("new");
    const auto committed = file->commit();
    CHECK(what_of(committed) == "cannot write '" + target + "': Device or resource busy");
    const std::string kept = kept_in(folder);
    CHECK(committed.error().remedy == "the export was saved as '" + kept + "'");
    CHECK(text_of(kept) == "new");
    CHECK(text_of(target) == "old");
    REQUIRE(folder.names().size() == 2);
    unlink(kept.c_str());
  }
}

TEST_CASE("a complete file that cannot be copied over its target is kept too") {
  const TemporaryFolder folder;
  const std::string target = folder.file("out.csv");
  std::ofstream(target) << "old";
  const FileCalls calls = faulty({"write", 2, EIO, true}, true);
  CHECK(what_of(put(ExportFile::open(target, calls), "new")) ==
        "cannot write '" + target + "': Input/output error");
  CHECK(text_of(kept_in(folder)) == "new");
}

TEST_CASE("of a file that cannot be written to its end nothing is left, and the old one stays") {
  const TemporaryFolder folder;
  const std::string target = folder.file("out.csv");
  std::ofstream(target) << "old";
  for (const bool is_named : {false, true}) {
    for (const char* call : {"write", "close"}) {
      CAPTURE(is_named);
      CAPTURE(call);
      const FileCalls calls = faulty({call, 1, ENOSPC, true}, false, is_named);
      const auto file = must(ExportFile::open(target, calls));
      file->write(std::string(200'000, 'x'));
      CHECK(what_of(file->commit()) == "cannot write '" + target + "': No space left on device");
      CHECK_MESSAGE(folder.names().size() == 1, "while the file is still at hand");
      CHECK(text_of(target) == "old");
    }
  }
}

TEST_CASE("exports are opened in the order of their size, and no file is written twice") {
  const TemporaryFolder folder;
  const std::vector<ExportTarget> targets = {{ExportKind::Json, folder.file("a"), ""},
                                             {ExportKind::Csv, folder.file("b"), ""}};
  const auto opened = open_exports(targets, {});
  REQUIRE(opened.has_value());
  CHECK(opened->front().target.kind == ExportKind::Csv);
  REQUIRE(symlink("b", folder.file("c").c_str()) == 0);
  const std::vector<std::string> outputs = {folder.file("c")};
  CHECK(open_exports(targets, outputs).error().what ==
        "'" + folder.file("b") + "' would be written by two exports");
}

TEST_CASE("whichever call fails, the target is old or new, whole, and what is left over is named") {
  std::size_t failures = 0;
  for (const bool is_mount_point : {false, true}) {
    for (const bool is_named : {false, true}) {
      for (const char* call : {"open_unnamed", "name", "write", "close", "rename"}) {
        for (int at = 1; at <= 5; ++at) {
          for (const int error : {EIO, ENOSPC, EDQUOT, EACCES, EPERM, EROFS, EBUSY, EXDEV, EINTR,
                                  EMFILE, ENOMEM, EEXIST, ENOENT}) {
            CAPTURE(is_mount_point);
            CAPTURE(is_named);
            CAPTURE(call);
            CAPTURE(at);
            CAPTURE(error);
            failures += static_cast<std::size_t>(
                check_replaced({call, at, error}, is_mount_point, is_named));
          }
        }
      }
    }
  }
  CHECK(failures > 50);
}

}  // namespace lauka::os
