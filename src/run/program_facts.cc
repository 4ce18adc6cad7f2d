#include "run/program_facts.h"

#include "core/elf.h"
#include "core/machine.h"
#include "core/text.h"
#include "os/files.h"
#include "os/helper_program.h"
#include "os/program_files.h"
#include "plan/command_layouts.h"
#include "run/programs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace lauka {

namespace {

/// A program that runs another one, and changes only how.
struct Wrapper {
  std::string_view name;
  std::string_view letters_with_value{};  ///< letters of the options that have a value
  /// Long options whose value is the next word, separated by blanks.
  std::string_view names_with_value{};
  std::size_t operands = 0;  ///< number of words before the other program
};

/// By the manuals of coreutils 9 and util-linux 2.38.
constexpr auto kWrappers = std::to_array<Wrapper>({
    {"chrt", "TPD", "sched-runtime sched-period sched-deadline", 1},
    {"env", "uC", "unset chdir"},
    {"ionice", "cn", "class classdata"},
    {"nice", "n", "adjustment"},
    {"nohup"},
    {"setsid"},
    {"taskset", "", "", 1},
    {"timeout", "ks", "kill-after signal", 1},
});

/// The most programs before the final one, and the most interpreters of scripts.
constexpr int kMaxSteps = 8;

/// The longest time in which a dynamic loader lists libraries.
constexpr std::chrono::seconds kListTime{5};
constexpr std::size_t kMaxListBytes = std::size_t{1} << 20U;

void remove_variable(std::string_view name, std::vector<std::string>& environment) {
  std::erase_if(environment, [&](const std::string& variable) {
    return os::name_of_variable(variable) == name;
  });
}

/// Takes the options of a wrapper, and what they change.
class WrapperCall {
 public:
  WrapperCall(const Wrapper& wrapper, FinalProgram& program)
      : wrapper_(wrapper), program_(program) {}

  /// Leaves the words of the program that the wrapper runs. Returns false if they are not known.
  bool unwrap() {
    std::vector<std::string>& words = program_.words;
    while (next_ < words.size() && words[next_].starts_with('-') && !are_options_over_)
      if (!take_option(words[next_++])) return false;

    if (is_env())
      while (next_ < words.size() && words[next_].find('=') != std::string::npos)
        set_variable(words[next_++]);

    next_ += wrapper_.operands;
    if (next_ >= words.size()) return false;
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(next_));
    return true;
  }

 private:
  bool is_env() const { return wrapper_.name == "env"; }

  void set_variable(const std::string& variable) {
    remove_variable(os::name_of_variable(variable), program_.environment);
    program_.environment.push_back(variable);
  }

  /// Applies a word with options, which begins with a dash. For env, such words are "-i", "-iuHOME"
  /// and "--unset=HOME". Returns false if one cannot know which program the wrapper runs with these
  /// options.
  bool take_option(const std::string& word) {
    if (word == "--") {
      are_options_over_ = true;
      return true;
    }

    // env takes a lone "-" as -i.
    constexpr const char* no_value = "";
    if (word == "-") return apply('i', no_value);

    // nice takes "-5" as "-n 5", which does not change what is run.
    const bool is_number = is_digit(word[1]);
    if (is_number) return true;
    if (word.starts_with("--")) return take_long_option(std::string_view(word).substr(2));

    // Letters without a value may share a word. A letter with a value comes last: the rest of the
    // word is the value or, if nothing is left, the next word.
    for (std::size_t i = 1; i < word.size(); ++i) {
      const char letter = word[i];
      if (has_value(letter)) {
        const std::string value = word.substr(i + 1);
        return value.empty() ? take_next_word_as_value_of(letter) : apply(letter, value);
      }
      if (!apply(letter, no_value)) return false;
    }
    return true;
  }

  bool has_value(char letter) const {
    return wrapper_.letters_with_value.find(letter) != std::string_view::npos;
  }

  bool take_long_option(std::string_view option) {
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string_view name = option.substr(0, equals);
    const char letter = letter_of(name);
    if (equals < option.size()) return apply(letter, std::string(option.substr(equals + 1)));
    return has_word(wrapper_.names_with_value, name) ? take_next_word_as_value_of(letter)
                                                     : apply(letter, "");
  }

  /// Returns the letter of a long option of env; 0 for others, which change nothing that is read
  /// here.
  char letter_of(std::string_view name) const {
    if (!is_env()) return 0;
    if (name == "ignore-environment") return 'i';
    if (name == "unset") return 'u';
    if (name == "chdir") return 'C';
    return name == "split-string" ? 'S' : '\0';
  }

  /// Takes the next word, and applies the option with it. Returns false as apply() does, or if
  /// there is no next word.
  bool take_next_word_as_value_of(char letter) {
    if (next_ >= program_.words.size()) return false;
    return apply(letter, program_.words[next_++]);
  }

  /// Returns false if the option makes the rest of the words unknown.
  bool apply(char letter, const std::string& value) {
    if (!is_env()) return true;
    if (letter == 'S') return false;  // its value is split into words by rules of its own
    if (letter == 'i') program_.environment.clear();
    if (letter == 'u') remove_variable(value, program_.environment);
    if (letter == 'C') program_.folder = path_seen_from(program_.folder, value);
    return true;
  }

  const Wrapper& wrapper_;
  FinalProgram& program_;
  std::size_t next_ = 1;  // index of the first word that was not taken yet
  bool are_options_over_ = false;
};

os::ProgramSpec make_spec(const FinalProgram& program, const ReadContext& reader) {
  os::ProgramSpec spec{.words = program.words, .folder = program.folder, .user = reader.user};

  // A program of this user in this folder gets the other variables without being told.
  const std::vector<std::string> inherited = os::program_environment(spec, "");
  const std::set<std::string_view> unchanged(inherited.begin(), inherited.end());
  for (const std::string& variable : program.environment)
    if (!unchanged.contains(variable)) spec.environment_changes.push_back(variable);
  return spec;
}

FileReader make_file_reader(const os::TextFile& file) {
  return [&file](std::uint64_t from, std::span<char> into) { return file.read(from, into); };
}

std::optional<ElfFacts> read_elf_at(const std::string& path, const ReadContext& reader) {
  const auto file = os::TextFile::open(path, reader.user);
  return file ? read_elf(make_file_reader(*file)) : std::nullopt;
}

/// Makes the interpreter of a script the program. Returns false if the file at `path` is none.
bool enter_interpreter(const std::string& path, const ReadContext& reader, FinalProgram& program) {
  const auto file = os::TextFile::open(path, reader.user);
  if (!file) return false;
  std::array<char, 256> bytes;
  std::string_view line(bytes.data(), file->read(0, bytes));
  if (!line.starts_with("#!")) return false;

  line = trimmed(
      line.substr(2, line.find('\n') == std::string_view::npos ? line.npos : line.find('\n') - 2));
  const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  std::vector<std::string> words = {std::string(line.substr(0, blank))};
  if (blank < line.size()) words.emplace_back(trimmed(line.substr(blank)));
  words.push_back(path);
  words.insert(words.end(), program.words.begin() + 1, program.words.end());
  program.words = std::move(words);
  return true;
}

/// Returns the path of the native program that is finally run; nullopt if it is not known.
std::optional<std::string> find_native_program(FinalProgram& program, const ReadContext& reader) {
  for (int step = 0; step < kMaxSteps; ++step) {
    auto inner = find_final_program(std::move(program));
    if (!inner) return std::nullopt;
    program = *std::move(inner);

    const auto found = os::find_program(make_spec(program, reader));
    if (!found) return std::nullopt;
    std::string path = path_seen_from(program.folder, *found);
    if (!enter_interpreter(path, reader, program)) return path;
  }
  return std::nullopt;
}

/// Returns what identifies the build of a library: its build-id, or else a part of the file's hash.
/// Empty if it cannot be read.
std::string identify_build(const std::string& path, const ReadContext& reader) {
  constexpr std::size_t digits = 40;
  if (const auto elf = read_elf_at(path, reader); elf && !elf->build_id.empty())
    return elf->build_id;
  return hash_file(path, reader).value_or("").substr(0, digits);
}

/// Returns the variables of lauka's environment that a program does not have, each set to nothing.
std::vector<std::string> list_variables_to_empty(const FinalProgram& program) {
  std::set<std::string_view> names;
  for (const std::string& variable : program.environment)
    names.insert(os::name_of_variable(variable));

  std::vector<std::string> emptied;
  for (const std::string& variable : os::program_environment({}, "")) {
    const std::string_view name = os::name_of_variable(variable);
    if (!names.contains(name)) emptied.push_back(std::string(name) + "=");
  }
  return emptied;
}

/// Returns a call of the dynamic loader that lists the libraries of the program at `path`. With
/// --list, the loader finds the libraries as it would for a run, but does not run the program.
os::ProgramSpec make_loader_call(const std::string& loader, const std::string& path,
                                 const FinalProgram& program, const ReadContext& reader) {
  // A relative path begins with the program's folder. The loader runs in this folder, so the path
  // must be relative to it.
  const bool begins_with_folder = !path.starts_with('/') && !program.folder.empty();
  const std::string path_in_folder =
      begins_with_folder ? path.substr(program.folder.size() + 1) : path;
  os::ProgramSpec spec = make_spec(program, reader);
  spec.words = {loader, "--list", path_in_folder};

  // The loader inherits lauka's environment, where a variable such as LD_PRELOAD would change the
  // list.
  for (std::string& variable : list_variables_to_empty(program))
    spec.environment_changes.push_back(std::move(variable));
  return spec;
}

/// Returns the list of libraries that the dynamic loader prints for the program at `path`; nullopt
/// if it is no loader, or if it fails.
std::optional<std::string> list_libraries(const std::string& loader, const std::string& path,
                                          const FinalProgram& program, const ReadContext& reader) {
  // A program that is no loader could do anything when it is called with --list.
  const bool has_name_of_loader = file_name_of(loader).starts_with("ld");
  if (!has_name_of_loader) return std::nullopt;

  const os::ProgramSpec spec = make_loader_call(loader, path, program, reader);
  os::HelperProgram helper;
  helper.begin(spec, kListTime);
  auto answer = helper.wait(kMaxListBytes);
  if (!succeeded(answer.outcome)) return std::nullopt;
  return std::move(answer.output);
}

/// Returns the libraries as a setting's value: each name with the build of its file. nullopt if the
/// loader does not list them.
std::optional<std::string> describe_libraries(const ElfFacts& elf, const std::string& path,
                                              const FinalProgram& program,
                                              const ReadContext& reader) {
  if (elf.interpreter.empty()) return std::string(kNoSetting);
  const auto listed = list_libraries(elf.interpreter, path, program, reader);
  if (!listed) return std::nullopt;

  std::vector<std::string> entries;
  for (const auto& [name, file] : parse_libraries(*listed))
    entries.push_back(name + "=" + identify_build(file, reader));
  return shell_quoted(entries);
}

/// Returns what is known of the native program at `path`; nothing if it is none.
SettingValues look_at_native_program(const std::string& path, const FinalProgram& program,
                                     const ReadContext& reader) {
  const auto elf = read_elf_at(path, reader);
  if (!elf) return {};

  SettingValues values;
  values[SettingKind::Libraries] = describe_libraries(*elf, path, program, reader);
  values.set_if_known(SettingKind::Compiler, shell_quoted(elf->compilers));
  values.set_if_known(SettingKind::CompilerFlags, shell_quoted(elf->compiler_flags));
  if (elf->text_bytes) values[SettingKind::TextSize] = fmt::format("{} bytes", *elf->text_bytes);
  return values;
}

void add_program(FinalProgram program, const ReadContext& reader, KnownPrograms& known,
                 SettingValues& values) {
  const auto path = find_native_program(program, reader);
  if (!path) return;
  const auto [entry, is_new] =
      known.try_emplace({*path, program.folder, program.environment}, SettingValues{});
  if (is_new) entry->second = look_at_native_program(*path, program, reader);
  values.add(entry->second);
}

void add_environment(const std::vector<std::string>& environment, SettingValues& values) {
  std::set<std::string> names;
  std::set<std::string> variables;
  for (const std::string& variable : environment) {
    const std::string_view name = os::name_of_variable(variable);
    // These are lauka's own, and differ by what is measured.
    if (name.starts_with("LAUKA_")) continue;
    if (is_value_stored(name))
      variables.insert(variable);
    else
      names.emplace(name);
  }

  const auto text = [](const std::set<std::string>& all) {
    return shell_quoted(std::vector<std::string>(all.begin(), all.end()));
  };
  values.set_or_none(SettingKind::VariableNames, text(names));
  values.set_or_none(SettingKind::Variables, text(variables));
}

}  // namespace

std::optional<FinalProgram> find_final_program(FinalProgram program) {
  for (int step = 0; step < kMaxSteps && !program.words.empty(); ++step) {
    const auto wrapper =
        std::ranges::find(kWrappers, file_name_of(program.words.front()), &Wrapper::name);
    if (wrapper == kWrappers.end()) return program;
    if (!WrapperCall(*wrapper, program).unwrap()) return std::nullopt;
  }
  return std::nullopt;
}

std::map<std::string, std::string> parse_libraries(std::string_view listed) {
  constexpr std::string_view arrow = " => ";
  std::map<std::string, std::string> libraries;
  for (std::string_view line : split(listed, '\n')) {
    // The address at the end of "libm.so.6 => /lib/libm.so.6 (0x00007f12)".
    line = trimmed(line.substr(0, line.rfind(" (0x")));
    const std::size_t at = line.find(arrow);
    const std::string_view path =
        at == std::string_view::npos ? line : line.substr(at + arrow.size());
    const std::string_view name = at == std::string_view::npos ? line : line.substr(0, at);
    if (path.starts_with('/')) libraries.emplace(file_name_of(name), path);
  }
  return libraries;
}

bool is_value_stored(std::string_view variable_name) {
  constexpr auto beginnings = std::to_array<std::string_view>({"LD_", "MALLOC_", "OMP_", "LC_"});
  return variable_name == "GLIBC_TUNABLES" || variable_name == "LANG" ||
         std::ranges::any_of(beginnings, [&](std::string_view beginning) {
           return variable_name.starts_with(beginning);
         });
}

SettingValues look_at_program(const Plan& plan, std::size_t command, const ReadContext& reader,
                              KnownPrograms& known) {
  const auto built = command_in_layout(plan, command, 0);
  const os::ProgramSpec spec = make_program(plan, *built, reader.user);
  FinalProgram first{spec.words, os::program_environment(spec, ""), spec.folder};

  SettingValues values;
  if (plan.shell) {
    add_environment(first.environment, values);
    return values;
  }

  const auto last = find_final_program(std::move(first));
  if (!last) return values;
  add_environment(last->environment, values);
  add_program(*last, reader, known, values);
  return values;
}

SettingValues settings_of_process(const os::ProcessState& state) {
  SettingValues values;
  values[SettingKind::Nice] = std::to_string(state.nice);
  values.set_if_known(SettingKind::SchedulingPolicy, state.scheduling_policy);
  values.set_if_known(SettingKind::Affinity, cpu_list_text(state.cpus));

  std::vector<std::string> limits;
  for (const os::ProcessState::Limit& limit : state.limits)
    limits.push_back(
        fmt::format("{}={}", limit.name, limit.value ? std::to_string(*limit.value) : "unlimited"));
  values.set_if_known(SettingKind::Limits, shell_quoted(limits));
  return values;
}

}  // namespace lauka
