#include "on_model/on_model.h"

#include "places.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lauka::darwin {
namespace {

std::string read_all(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

[[noreturn]] void become(std::vector<std::string> words, const std::string& scenario,
                         const std::string& databases, const std::string& out,
                         const std::string& err) {
  setenv("LAUKA_MODEL", scenario.c_str(), 1);
  setenv("KPEP_DB_PATH", databases.c_str(), 1);
  setenv("NO_COLOR", "1", 1);
  const std::array fds = {open("/dev/null", O_RDONLY),
                          open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600),
                          open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)};
  for (std::size_t i = 0; i < fds.size(); ++i) dup2(fds.at(i), static_cast<int>(i));
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

bool Reported::says(const std::string& text) const {
  return out.find(text) != std::string::npos || err.find(text) != std::string::npos;
}

const nlohmann::json& Reported::run(std::size_t from_the_end) const {
  const auto& runs = report.at("runs");
  return runs.at(runs.size() - 1 - from_the_end);
}

void Reported::check_ended(int expected) const {
  CHECK_MESSAGE(status == expected, err);
  for (const std::string& held : report.at("held").get<std::vector<std::string>>())
    FAIL_CHECK("still held: ", held);
}

Mac::Mac(nlohmann::json scenario) : scenario_(std::move(scenario)) {
  scenario_["tables"] = std::string(places::kRepository) + "/tests/data/kpep";
  scenario_["report"] = folder.file("report.json");
  // The databases of all five chips, under the names by which a processor's is found.
  const std::map<std::string, std::string> chips = {{"m1", "1b588bb3"},
                                                    {"m2", "da33d83d"},
                                                    {"m3", "fa33415e"},
                                                    {"m4", "6f5129ac"},
                                                    {"m5", "1d5a87e8"}};
  std::filesystem::create_directory(folder.file("kpep"));
  for (const auto& [chip, family] : chips) {
    std::filesystem::copy_file(
        std::string(places::kRepository) + "/tests/data/kpep/" + chip + ".plist", database(family));
  }
}

std::string Mac::database(const std::string& family) const {
  return folder.file("kpep/cpu_100000c_2_" + family + ".plist");
}

std::string Mac::text_of(const std::string& file) const {
  return read_all(folder.file(file));
}

Reported Mac::lauka(const std::vector<std::string>& arguments, bool apart) const {
  // Most tests are about the counts of each run; `apart` asks for the users' default.
  std::vector<std::string> words = {places::kProgramOnModel};
  if (!apart) words.insert(words.end(), {"--counting", "together"});
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string scenario = folder.file("scenario.json");
  std::ofstream(scenario) << scenario_.dump();
  const pid_t pid = fork();
  if (pid == 0)
    become(words, scenario, folder.file("kpep"), folder.file("out"), folder.file("err"));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  Reported reported;
  reported.out = text_of("out");
  reported.err = text_of("err");
  reported.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const std::string report = text_of("report.json");
  if (report.empty()) throw std::runtime_error("the model told nothing: " + reported.err);
  reported.report = nlohmann::json::parse(report);
  return reported;
}

std::vector<double> column(const std::string& csv, const std::string& name) {
  std::istringstream lines(csv);
  const auto next = [&lines](std::vector<std::string>& fields) {
    std::string line;
    if (!std::getline(lines, line)) return false;
    if (line.ends_with('\r')) line.pop_back();  // lines end as RFC 4180 has it
    fields.assign(1, "");
    for (const char c : line) {
      if (c == ',')
        fields.emplace_back();
      else
        fields.back() += c;
    }
    return true;
  };
  std::vector<std::string> fields;
  next(fields);
  const auto place = std::find(fields.begin(), fields.end(), name) - fields.begin();
  if (place == std::ssize(fields)) throw std::runtime_error("no column " + name);
  std::vector<double> values;
  while (next(fields)) {
    const std::string& field = fields.at(static_cast<std::size_t>(place));
    values.push_back(field.empty() ? -1 : std::stod(field));
  }
  return values;
}

}  // namespace lauka::darwin
