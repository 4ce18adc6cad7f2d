#include "bisect/git.h"

#include "core/record.h"
#include "core/text.h"
#include "os/files.h"
#include "os/helper_program.h"
#include "os/process.h"

#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace lauka::bisect {

namespace {

constexpr std::size_t kMaxOutputBytes = std::size_t{1} << 28U;
constexpr auto kForever = std::chrono::hours(24 * 365);

/// What makes git leave the user's repository alone: it runs no hook, starts no monitor, and does
/// not collect garbage.
constexpr std::array<const char*, 8> kSettings{
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0",
    "-c", "maintenance.auto=false"};

/// Variables that would lead git away from the worktree it is called for.
constexpr std::array<const char*, 4> kMisleadingVariables{"GIT_DIR", "GIT_WORK_TREE",
                                                          "GIT_INDEX_FILE", "GIT_COMMON_DIR"};

// Separates the fields of kLogFormat, because it hardly occurs in a subject.
constexpr char kFieldEnd = '\x1f';

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

std::optional<Commit> parse_commit(std::string_view line) {
  const auto fields = split(line, kFieldEnd);
  if (fields.size() < 3) return std::nullopt;
  // A subject may contain the separator itself.
  const std::size_t subject = fields[0].size() + fields[1].size() + 2;
  return Commit{std::string(fields[0]), std::string(fields[1]), std::string(line.substr(subject))};
}

// The id of a commit, its date (YYYY-MM-DD) and its subject.
const std::string kLogFormat = std::string("--format=%H%x1f%cs%x1f%s");

/// Returns an error if a variable would lead git away from the folder it is called in.
std::optional<Error> refuse_misleading_variables() {
  for (const char* name : kMisleadingVariables)
    if (os::read_variable(name))
      return Error{fmt::format("the variable {} is set, so git would use other folders", name),
                   fmt::format("unset {}, and call lauka-bisect in the repository", name)};
  return std::nullopt;
}

/// Returns the error that the line of first parents of `bad` passes `good` by. `first_id`: the
/// commit at which this line begins.
Error make_error_of_merged_branch(const std::string& good, const std::string& bad,
                                  std::string_view first_id) {
  return {fmt::format("{} is on a branch that was merged, and not on the line of first "
                      "parents of {}",
                      cited(good), cited(bad)),
          fmt::format("name {} as GOOD, because this line begins there, or use --no-first-parent",
                      first_id.substr(0, kShortIdDigits))};
}

}  // namespace

bool is_new_enough(std::string_view version_line) {
  constexpr std::uint64_t oldest_major = 2;
  constexpr std::uint64_t oldest_minor = 30;
  constexpr std::string_view prefix = "git version ";
  if (!version_line.starts_with(prefix)) return false;
  const auto parts = split(version_line.substr(prefix.size()), '.');
  if (parts.size() < 2) return false;
  const auto major = parse_number(parts[0]);
  const auto minor = parse_number(parts[1]);
  if (!major || !minor) return false;
  return *major > oldest_major || (*major == oldest_major && *minor >= oldest_minor);
}

/// Returns an error if git cannot be run or is too old.
std::optional<Error> Repository::refuse_old_git() const {
  const Answer version = ask(folder_, {"--version"});
  if (!version.succeeded)
    return Error{"git cannot be run", "install git 2.30 or later, or check your PATH"};
  if (!is_new_enough(first_line(version.output)))
    return Error{fmt::format("{} is too old", one_line(first_line(version.output))),
                 "install git 2.30 or later"};
  return std::nullopt;
}

/// Returns the absolute path of the folder that all worktrees share, usually .git.
Result<std::string> Repository::find_shared_folder() const {
  const Answer shared_folder = ask(folder_, {"rev-parse", "--git-common-dir"});
  if (!shared_folder.succeeded)
    return Error{"there is no git repository that you may use in " +
                     (folder_.empty() ? "this folder" : cited(folder_)),
                 "call lauka-bisect in a checkout; if it belongs to another user, see "
                 "safe.directory in git help config"};

  const std::string path_in_folder(first_line(shared_folder.output));
  return os::resolve(path_seen_from(folder_, path_in_folder)).path;
}

// Refuses at once what would make a search wrong or impossible later.
Result<Repository> Repository::open(const std::string& folder, const std::optional<User>& user) {
  if (auto refusal = refuse_misleading_variables()) return *std::move(refusal);

  Repository repository(folder, user);
  if (auto refusal = repository.refuse_old_git()) return *std::move(refusal);
  auto found = assign_or_error(repository.find_shared_folder(), repository.shared_folder_);
  if (!found) return found.error();

  const Answer shallow = repository.ask(folder, {"rev-parse", "--is-shallow-repository"});
  if (first_line(shallow.output) != "false")
    return Error{"this clone is shallow, so commits between the ends may be missing",
                 "run git fetch --unshallow"};
  return repository;
}

/// Returns the commits that two revisions name. Returns an error if they cannot be the ends of a
/// search.
Result<Repository::Ends> Repository::find_ends(const std::string& good,
                                               const std::string& bad) const {
  auto good_end = find_commit(good);
  if (!good_end) return good_end.error();
  auto bad_end = find_commit(bad);
  if (!bad_end) return bad_end.error();

  if (good_end->id == bad_end->id)
    return Error{fmt::format("{} and {} are the same commit", cited(good), cited(bad)),
                 "name an older commit first, and a newer one after it"};
  if (!is_ancestor(good_end->id, bad_end->id))
    return Error{fmt::format("{} is not an ancestor of {}", cited(good), cited(bad)),
                 "name the older commit first; git merge-base A B finds a common ancestor"};

  // Some commits, such as those with submodules, cannot be checked out.
  for (const Commit& end : {*good_end, *bad_end})
    if (const auto obstacle = find_obstacle(end.id))
      return Error{fmt::format("the commit {} {}", end.short_id(), obstacle->what),
                   obstacle->remedy};
  return Ends{.good = *std::move(good_end), .bad = *std::move(bad_end)};
}

/// Returns the good end, the commits between the ends, and the bad end, the oldest first.
Result<std::vector<Commit>> Repository::read_log(const Ends& ends, Parents parents) const {
  // Git lists the commits after the good end, up to and with the bad end.
  std::vector<std::string> words{"log", "--no-show-signature", "--topo-order", "--reverse",
                                 kLogFormat};
  if (parents == Parents::First) words.emplace_back("--first-parent");
  words.push_back(ends.good.id + ".." + ends.bad.id);
  const Answer log = ask(folder_, words);
  if (!log.succeeded) return Error{"git log failed", "run git fsck to check the repository"};

  std::vector<Commit> commits{ends.good};
  for (const std::string_view line : split(log.output, '\n'))
    if (auto commit = parse_commit(line)) commits.push_back(*std::move(commit));
  return commits;
}

Result<std::vector<Commit>> Repository::list_commits(const std::string& good,
                                                     const std::string& bad,
                                                     Parents parents) const {
  const auto ends = find_ends(good, bad);
  if (!ends) return ends.error();
  auto commits = read_log(*ends, parents);
  if (!commits || parents == Parents::All) return commits;

  // Among first parents, each commit must be the parent of the next one. If the good end is on a
  // branch that was merged, the line of first parents passes it by, and the first commit that git
  // lists has another parent.
  const Commit& first_listed = commits->at(1);
  const Answer parent = ask(folder_, {"rev-parse", "--verify", "-q", first_listed.id + "^1"});
  const std::string_view parent_id = first_line(parent.output);
  if (parent_id != ends->good.id) return make_error_of_merged_branch(good, bad, parent_id);
  return commits;
}

Result<Commit> Repository::find_parent(const std::string& id) const {
  return find_commit(id + "^1");
}

bool Repository::is_ancestor(const std::string& ancestor, const std::string& id) const {
  return ask(folder_, {"merge-base", "--is-ancestor", ancestor, id}).succeeded;
}

Result<std::vector<std::string>> Repository::rank(const std::vector<std::string>& good,
                                                  const std::string& bad) const {
  std::vector<std::string> words{"rev-list", "--bisect-all", bad, "--not"};
  words.insert(words.end(), good.begin(), good.end());
  const Answer list = ask(folder_, words);
  if (!list.succeeded)
    return Error{"git rev-list --bisect-all failed", "run git fsck to check the repository"};

  // A line is "ID (dist=3)".
  std::vector<std::string> ids;
  for (const std::string_view line : split(list.output, '\n'))
    if (const auto id = split(line, ' ').front(); !id.empty() && id != bad) ids.emplace_back(id);
  return ids;
}

Result<void> Repository::check_out(const std::string& path, const std::string& id) const {
  const bool is_there = os::is_regular_file(path + "/.git");
  if (is_there && ask(path, {"checkout", "--detach", "--force", "-q", id}).succeeded) return {};

  // A killed call may have left a half-made worktree, or a lock in it.
  remove_worktree(path);
  const Answer added =
      ask(folder_, {"worktree", "add", "--force", "--detach", "-q", path, id}, Errors::InOutput);
  if (added.succeeded) return {};
  return Error{fmt::format("git cannot make a worktree in {}: {}", cited(path),
                           one_line(trimmed(added.output))),
               "fix the problem that git reports, or use --work DIR with another folder"};
}

Result<void> Repository::clean(const std::string& path) const {
  const Answer cleaned = ask(path, {"clean", "-ffdxq"}, Errors::InOutput);
  if (cleaned.succeeded) return {};
  return Error{fmt::format("git cannot clean {}: {}", cited(path), one_line(cleaned.output)),
               "remove this folder"};
}

void Repository::remove_worktree(const std::string& path) const {
  // The second --force also removes a worktree that git locked while it made it.
  const std::vector<std::string> remove{"worktree", "remove", "--force", "--force", path};
  if (ask(folder_, remove).succeeded || !os::is_there(path)) return;

  // Git refuses a folder that is only a part of a worktree, but forgets a worktree that is gone.
  wait_for({"rm", "-rf", "--", path}, "");
  ask(folder_, remove);
}

Repository::Answer Repository::ask(const std::string& folder, const std::vector<std::string>& words,
                                   Errors errors) const {
  // The shell sends git's errors into its output. "sh" is the shell's own name, $0.
  std::vector<std::string> git{"git"};
  if (errors == Errors::InOutput) git = {"/bin/sh", "-c", "exec 2>&1; exec git \"$@\"", "sh"};
  git.insert(git.end(), kSettings.begin(), kSettings.end());
  git.insert(git.end(), words.begin(), words.end());
  return wait_for(std::move(git), folder);
}

Repository::Answer Repository::wait_for(std::vector<std::string> words,
                                        const std::string& folder) const {
  os::ProgramSpec spec{.words = std::move(words)};
  spec.folder = folder;
  spec.environment_changes = {"GIT_TERMINAL_PROMPT=0"};
  spec.user = user_;

  os::HelperProgram program;
  program.begin(spec, kForever);
  auto answer = program.wait(kMaxOutputBytes);
  return {succeeded(answer.outcome), std::move(answer.output)};
}

Result<Commit> Repository::find_commit(const std::string& revision) const {
  const Answer answer = ask(folder_, {"log", "--no-show-signature", "-1", kLogFormat,
                                      "--end-of-options", revision + "^{commit}", "--"});
  auto commit = answer.succeeded ? parse_commit(first_line(answer.output)) : std::nullopt;
  if (commit) return *std::move(commit);
  return Error{cited(revision) + " is not a commit of this repository",
               "git log lists the commits, and git fetch gets new ones from the server"};
}

std::optional<Error> Repository::find_obstacle(const std::string& id) const {
  if (ask(folder_, {"cat-file", "-e", id + ":.gitmodules"}).succeeded)
    return Error{"has submodules, which lauka-bisect cannot check out",
                 "use git bisect run with lauka --fail-if-slower=PCT --fail-if-inconclusive=125"};

  // Without the filter, git would check out small texts in place of the files. The search may have
  // been called in a subfolder, where git would look for attributes only below it.
  const bool uses_lfs =
      ask(folder_, {"grep", "-q", "filter=lfs", id, "--", ":(top)*.gitattributes"}).succeeded;
  const bool has_lfs =
      ask(folder_, {"config", "--get-regexp", "^filter\\.lfs\\.(smudge|process)$"}).succeeded;
  if (!uses_lfs || has_lfs) return std::nullopt;
  return Error{"has files in LFS, for which git has no filter here",
               "install git-lfs, and run git lfs install"};
}

}  // namespace lauka::bisect
