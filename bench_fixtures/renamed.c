// renamed TURNS: `aliased`, but its function has only the first of its names.

#define LAUKA_HAS_ONE_NAME
#include "aliased.c"  // NOLINT(bugprone-suspicious-include): the same program
