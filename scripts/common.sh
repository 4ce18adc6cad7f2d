# Sourced by shell scripts that run in the repository's root, with their name in SCRIPT: those of check.d and bench.d, build, demo, test.
set -euo pipefail
say() { echo "$SCRIPT: $*"; }
give_up() { say "$*" >&2; exit 1; }
skip() { say "skipped: $*"; exit 0; }
usage() { sed -n '2,/^[^#]/s/^#   //p' "$0" >&2; exit 2; }

# Seconds as people say them.
duration() {
  if [ "$1" -lt 100 ]; then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi
}

# Shows how far ninja or ctest is, whose output it reads: on a terminal by one line, which each compiled file and each test program
# updates; elsewhere by a line for each test program, and by one for each tenth of the compiled files. All else is passed on, among
# it what compilers and failed tests say.
#   NAME_OF_COMMAND ... | show_progress "what is done"
show_progress() {
  local doing=$1 line what count all="" running="" tenth=-1 width=80 began=$SECONDS terminal=false passed='(Passed|\*\*\*Skipped)'
  if [ -t 1 ] && [ "${TERM-dumb}" != dumb ]; then
    terminal=true
    { width=$(stty size <&3 2>/dev/null || true); } 3>&1
    width=${width#* }
    [ "${width:-0}" -gt 0 ] || width=80
  fi
  while IFS= read -r line || [ -n "$line" ]; do
    what=""
    if [[ $line == "[0/"* ]]; then
      continue  # ninja looks for new files
    elif [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*)$ ]]; then
      count=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} what=${BASH_REMATCH[3]}
      if [[ $what =~ ([A-Za-z0-9_-]+)\.dir/(.*)\.o$ ]]; then
        what="${BASH_REMATCH[1]}: ${BASH_REMATCH[2]##*/}"
      fi
      $terminal || [ $((count * 10 / all)) -ne $tenth ] || continue
      tenth=$((count * 10 / all))
    elif [[ $line =~ ^\ +Start\ +[0-9]+:\ (.*)$ ]]; then
      running+=" ${BASH_REMATCH[1]}"
      $terminal && [ -n "$all" ] || continue
    elif [[ $line =~ ^\ *([0-9]+)/([0-9]+)\ Test\ +#[0-9]+:\ ([^ ]+)\ [.\ ]*(.*)$ ]]; then
      count=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} what=${BASH_REMATCH[3]}
      running+=" "
      running=${running/ $what / }
      running=${running% }
      what="$what: ${BASH_REMATCH[4]}"
      if $terminal && ! [[ $line =~ $passed ]]; then
        printf '\r\033[K%s\n' "$line"
      fi
    else
      if $terminal; then printf '\r\033[K'; fi
      printf '%s\n' "$line"
      continue
    fi
    if $terminal; then
      [ -z "$running" ] || what="running:$running"
    fi
    line="$doing: $count of $all, after $(duration $((SECONDS - began)))"
    # Steps differ, so what is left is a rough figure, and none before there are some.
    if [ "$count" -ge 5 ] && [ "$count" -lt "$all" ]; then
      line+=", about $(duration $(((SECONDS - began) * (all - count) / count))) left"
    fi
    line+=" ($what)"
    if $terminal; then
      printf '\r\033[K%s' "${line:0:$((width - 1))}"
    else
      printf '%s\n' "$line"
    fi
  done
  if $terminal && [ -n "$all" ]; then printf '\r\033[K'; fi
  if [ -n "$all" ]; then
    line="done, $all"
    [ "$count" -eq "$all" ] || line="stopped at $count of $all"
    printf '%s: %s, after %s\n' "$doing" "$line" "$(duration $((SECONDS - began)))"
  fi
}
