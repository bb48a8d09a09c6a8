# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # root and logs: see common.sh
# System packages: packages.txt says which.

# How long apt-get waits for the locks of another package manager, and how often
# it looks.
package_wait_s=600
package_poll_s=2
# What apt-get and dpkg write where another process has a lock.
held_lock='Could not get lock|another process using it|by another process'

# wanted_packages PURPOSE...: the names of what everything needs, and of what
# these purposes (run, check, full) need too.
wanted_packages() {
  awk -v also=" $* " '
    /^[^#]/ && NF < 3 && (NF == 1 || index(also, " " $2 " ")) { print $1 }' \
    "$root/config/setup/packages.txt"
}

# optional_packages PURPOSE: the names of what this purpose can do without.
optional_packages() {
  awk -v also="$1" '/^[^#]/ && $2 == also && $3 == "optional" { print $1 }' \
    "$root/config/setup/packages.txt"
}

# missing_packages NAME...: those of them that are not installed.
missing_packages() {
  dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "$@" 2> /dev/null \
    | awk -v wanted="$*" '
        /^.i / { installed[$2] }
        END {
          n = split(wanted, names, " ")
          for (i = 1; i <= n; ++i)
            if (!(names[i] in installed)) print names[i]
        }' || true
}

# apt_get LOG ARGUMENT...: run apt-get, its output behind LOG. While another
# package manager holds a lock, wait. DPkg::Lock::Timeout would cover dpkg's own
# locks only, not that of the package lists.
apt_get() {
  local log=$1 began=$SECONDS before status holder told=
  shift
  touch -- "$log"
  while true; do
    before=$(stat -c %s -- "$log")
    status=0
    LC_ALL=C apt-get -o DPkg::Lock::Timeout=0 "$@" >> "$log" 2>&1 \
      < /dev/null || status=$?
    ((status != 0)) || return 0
    tail -c "+$((before + 1))" -- "$log" \
      | grep -Eq "$held_lock" || return "$status"
    if ((SECONDS - began >= package_wait_s)); then
      say "another package manager still holds its lock;" \
        "run this again when it has ended"
      return "$status"
    fi
    if [[ -z $told ]]; then
      holder=$(sed -n 's/.*held by process \(.*\)$/, process \1/p' "$log" \
        | tail -n 1)
      say "waiting for another package manager$holder," \
        "$((package_wait_s / 60)) minutes at most"
      told=yes
    fi
    sleep "$package_poll_s"
  done
}

# ensure_packages PURPOSE...: install what is missing, or say how.
ensure_packages() {
  local -a wanted missing
  mapfile -t wanted < <(wanted_packages "$@")
  if ! command -v dpkg-query apt-get > /dev/null; then
    # Another system: CMake names whatever is not there.
    return
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  if ((${#missing[@]} == 0)); then
    return
  fi
  local -a install=(install --yes --no-install-recommends "${missing[@]}")
  if ((EUID != 0)); then
    say "system packages are missing; an administrator must run this command:"
    printf "sudo sh -c 'apt-get update && apt-get %s'\n" "${install[*]}" >&2
    exit 3
  fi
  local log=$logs/packages.log
  say "installing ${#missing[@]} system packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  : > "$log"
  apt_get "$log" update || fail_with_log "$log" "apt-get update failed"
  apt_get "$log" "${install[@]}" \
    || fail_with_log "$log" "apt-get install failed"
}

# ensure_optional_packages PURPOSE: install what is missing and to be had; a
# failure is tried again after an hour.
ensure_optional_packages() {
  local -a wanted missing
  mapfile -t wanted < <(optional_packages "$1")
  command -v dpkg-query apt-get > /dev/null || return 0
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  ((${#missing[@]} > 0)) || return 0
  local log=$logs/optional-packages.log failed=$root/build/.optional.failed
  [[ -z $(find "$failed" -mmin -60 2> /dev/null) ]] || return 0
  export DEBIAN_FRONTEND=noninteractive
  : > "$log"
  if ((EUID == 0)) && apt_get "$log" install --yes --no-install-recommends \
    "${missing[@]}"; then
    return
  fi
  touch "$failed"
  say "not installed: ${missing[*]}; the tests that need it are skipped"
}
