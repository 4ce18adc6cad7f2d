#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace lauka::darwin {

/// A folder for programs of the model; it goes when the test ends.
class Folder {
 public:
  Folder() {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const std::string& name) const { return path_ + "/" + name; }

  /// Writes a program of the model and gives its path.
  std::string program(const std::string& name, const std::string& script) const {
    std::ofstream(file(name)) << "# model\n" << script << '\n';
    chmod(file(name).c_str(), 0755);
    return file(name);
  }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "lauka-darwin-XXXXXX").string();
};

}  // namespace lauka::darwin
