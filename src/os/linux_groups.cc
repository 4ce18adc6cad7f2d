#include "os/descriptor.h"
#include "os/linux_calls.h"
#include "os/memory_groups.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lauka::os {
namespace {

std::optional<std::string> read_group_file(const std::string& path) {
  return linux_calls()->read_file(path);
}

int write_group_file(const std::string& path, std::string_view text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && write_all(file.get(), text) ? 0 : errno;
}

int make_folder(const std::string& path) {
  return mkdir(path.c_str(), 0755) == 0 ? 0 : errno;
}

int remove_folder(const std::string& path) {
  return rmdir(path.c_str()) == 0 ? 0 : errno;
}

bool may_write(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

std::vector<std::string> list_group(const std::string& path) {
  return linux_calls()->list_folder(path);
}

int own_pid() {
  return getpid();
}

bool is_alive(int pid) {
  return kill(pid, 0) == 0 || errno == EPERM;
}

constexpr GroupCalls kGroupCalls{&read_group_file, &write_group_file, &make_folder, &remove_folder,
                                 &may_write,       &list_group,       &own_pid,     &is_alive};

}  // namespace

const GroupCalls* group_calls() {
  return &kGroupCalls;
}

}  // namespace lauka::os
