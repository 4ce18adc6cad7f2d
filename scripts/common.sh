# Sourced by the shell scripts of check.d and bench.d, which run in the repository's root with their name in SCRIPT.
set -euo pipefail
say() { echo "$SCRIPT: $*"; }
give_up() { say "$*" >&2; exit 1; }
skip() { say "skipped: $*"; exit 0; }
usage() { sed -n '2,/^[^#]/s/^#   //p' "$0" >&2; exit 2; }
