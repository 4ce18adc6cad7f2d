#pragma once

#include "core/command.h"

#include <string_view>
#include <vector>

namespace lauka {

/// commit, branch and dirty (yes, no) by what `git status --porcelain=v2 --branch` writes; no
/// branch where none is checked out, and nothing where there is no commit and no branch.
std::vector<Label> labels_of_git(std::string_view status);

/// Those of a session: what is given, and what was found besides. Sorted by key, as a reader of the
/// JSON has them, so that what is exported again is the same.
std::vector<Label> with_given(std::vector<Label> given, const std::vector<Label>& found);

}  // namespace lauka
