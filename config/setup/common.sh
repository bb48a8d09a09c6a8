# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # root: see below
# What the pieces of the set-up share. The script that sources this has set
# `root`, the top of the repository, and `set -euo pipefail`.
logs=$root/build/log
# A message starts with the name of the command that the user gave.
command_name=${0##*/}

# say TEXT...: one line for the user, on standard error.
say() { printf '%s: %s\n' "$command_name" "$*" >&2; }

# fail STATUS TEXT...: say why, and stop.
fail() {
  local status=$1
  shift
  say "$@"
  exit "$status"
}

# fail_with_log LOG TEXT...: show the end of a log, say why, and stop.
fail_with_log() {
  local log=$1
  shift
  tail -n 25 "$log" >&2
  fail 1 "$*; the whole log is $log"
}

# lock NAME: keep other set-ups of this clone out until unlock.
lock() {
  mkdir -p "$root/build" "$logs"
  exec 9> "$root/build/.$1.lock"
  if ! flock -n 9; then
    say "waiting for another set-up in this folder"
    flock 9
  fi
}

unlock() { exec 9>&-; }

# free_mib DIR: free disk space there.
free_mib() { df -Pm "$1" | awk 'NR == 2 { print $4 }'; }

trap 'exit 130' INT
