# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # root and logs: see common.sh
# System packages: packages.txt says which.

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
  local install="apt-get install --yes --no-install-recommends ${missing[*]}"
  if ((EUID != 0)); then
    say "system packages are missing; an administrator must run this command:"
    printf "sudo sh -c 'apt-get update && %s'\n" "$install" >&2
    exit 3
  fi
  local log=$logs/packages.log
  say "installing ${#missing[@]} system packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update > "$log" 2>&1 < /dev/null \
    || fail_with_log "$log" "apt-get update failed"
  $install >> "$log" 2>&1 < /dev/null \
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
  if ((EUID == 0)) && apt-get install --yes --no-install-recommends \
    "${missing[@]}" > "$log" 2>&1 < /dev/null; then
    return
  fi
  touch "$failed"
  say "not installed: ${missing[*]}; the tests that need it are skipped"
}
