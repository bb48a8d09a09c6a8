# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # root and logs: see common.sh
# What a run of ./check took, phase by phase, and the seed of its tests.

phases=()
phase_began=$SECONDS
phase_used=0

# processor_seconds: set `used` to what the children that this shell has waited for
# have used. Only the shell itself can tell, no shell below it.
processor_seconds() {
  times > "$logs/times"
  used=$(awk 'NR == 2 {
    split($1, user, /[ms]/)
    split($2, kernel, /[ms]/)
    print int(60 * (user[1] + kernel[1]) + user[2] + kernel[2]) }' "$logs/times")
}

# phase_line WALL PROCESSOR NAME, both in seconds.
phase_line() {
  awk -v wall="$1" -v used="$2" -v name="$3" 'BEGIN {
    printf "%7d s  %5.1f min  %s\n", wall, used / 60, name }'
}

# end_phase NAME: what was done since the phase before ended. What a program uses
# counts in the phase in which it ends. The line is printed at once too: a run that a
# time limit ends still tells what it took until then.
end_phase() {
  local used line
  processor_seconds
  line=$(phase_line "$((SECONDS - phase_began))" "$((used - phase_used))" "$1")
  printf '%s\n' "$line"
  phases+=("$line")
  phase_began=$SECONDS
  phase_used=$used
}

# print_phases: time and processor time of each, and of all.
print_phases() {
  local used
  processor_seconds
  printf '%s\n' 'time and processor time by phase:' "${phases[@]}" \
    "$(phase_line "$SECONDS" "$used" 'in all')"
}

# commit_seed: a number of the commit, so that whoever checks a commit checks the
# same; a random one without Git.
commit_seed() {
  local commit
  if commit=$(git -C "$root" rev-parse --verify --quiet HEAD 2> /dev/null); then
    printf '%d\n' "0x${commit:0:12}"
  else
    od -An -N6 -tu8 /dev/urandom | tr -d ' '
  fi
}
