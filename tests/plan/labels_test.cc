#include "plan/commands.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace lauka {
namespace {

std::string text_of(const std::vector<Label>& labels) {
  std::string text;
  for (const Label& label : labels) text += label.key + "=" + label.value + " ";
  return text;
}

}  // namespace

TEST_CASE("git's status says commit, branch, and whether anything was changed") {
  const std::string head = "# branch.oid 12ab\n# branch.head main\n# branch.upstream origin/main\n";
  CHECK(text_of(labels_of_git(head)) == "commit=12ab branch=main dirty=no ");
  CHECK(text_of(labels_of_git(head + "1 .M N... 100644 100644 100644 1 2 a.cc\n")) ==
        "commit=12ab branch=main dirty=yes ");
  CHECK(text_of(labels_of_git(head + "? new.cc\n")) == "commit=12ab branch=main dirty=yes ");
  CHECK(text_of(labels_of_git("# branch.oid 12ab\n# branch.head (detached)\n")) ==
        "commit=12ab dirty=no ");
  CHECK(text_of(labels_of_git("# branch.oid (initial)\n# branch.head main\n")) ==
        "branch=main dirty=no ");
  CHECK(labels_of_git("").empty());
}

TEST_CASE("a given label wins over what was found, and they are sorted") {
  CHECK(text_of(with_given({{"os", "x"}, {"commit", "mine"}},
                           {{"branch", "b"}, {"commit", "c"}})) == "branch=b commit=mine os=x ");
}

}  // namespace lauka
