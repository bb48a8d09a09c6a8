# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # root and logs: see common.sh
# Configure and build a preset, quietly when there is nothing to do.

# build_jobs: as many as there are cores, but 1.5 GiB of memory for each: that
# is what a file that includes LibTorch takes.
build_jobs() {
  local cores memory
  if [[ -n ${CMAKE_BUILD_PARALLEL_LEVEL:-} ]]; then
    printf '%s\n' "$CMAKE_BUILD_PARALLEL_LEVEL"
    return
  fi
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo)
  ((memory < 1)) && memory=1
  printf '%s\n' "$((cores < memory ? cores : memory))"
}

# time_left DONE ALL SECONDS: how long ALL steps may still take after DONE of them
# have taken SECONDS; nothing while that says too little.
time_left() {
  local left
  (($1 < 5 || $3 < 20)) && return
  left=$(($3 * ($2 - $1) / $1))
  ((left == 0)) || printf ', about %s min left' "$(((left + 59) / 60))"
}

# show_progress PRESET: copy ninja's lines to standard output, and show on
# standard error how far it is.
show_progress() {
  local preset=$1 line shown=0 quarter began=$SECONDS
  while IFS= read -r line; do
    printf '%s\n' "$line"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*)$ ]] || continue
    local done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} what=${BASH_REMATCH[3]}
    if [[ -t 2 ]]; then
      printf '\r\033[K%.*s' "$(($(tput cols 2> /dev/null || echo 80) - 1))" \
        "building $preset: $done of $all$(
          time_left "$done" "$all" "$((SECONDS - began))"
        ): $what" >&2
    else
      quarter=$((4 * done / all))
      if ((quarter > shown)); then
        say "building $preset: $done of $all steps$(
          time_left "$done" "$all" "$((SECONDS - began))"
        )"
        shown=$quarter
      fi
    fi
  done
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# has_newer_source FILE: whether a source has changed since FILE.
has_newer_source() {
  [[ -n $(find "$root" -path "$root/build" -prune -o \
    -name '*.[ch]pp' -newer "$1" -print -quit) ]]
}

# configure_preset PRESET [CMAKE-ARGUMENT...]: unless that was done before with
# the same arguments. Ninja itself sees to changed CMake files. Which sources are
# compiled together may change with any source.
configure_preset() {
  local preset=$1
  shift
  local dir=$root/build/$preset log=$logs/$preset.log stamp wanted
  stamp=$dir/.configured
  wanted="$root $* $(cksum < "$root/CMakePresets.json")"
  : > "$log"
  if [[ -f $dir/build.ninja && -f $stamp && $(< "$stamp") == "$wanted" ]]; then
    if grep -q '^ATELIER_UNITY:.*=ON$' "$dir/CMakeCache.txt" \
      && has_newer_source "$stamp"; then
      cmake "$dir" > "$log" 2>&1 < /dev/null \
        || fail_with_log "$log" "configuring $preset failed"
      touch "$stamp"
    fi
    return
  fi
  say "configuring $preset"
  mkdir -p "$dir"
  rm -f -- "$stamp"
  (cd "$root" && cmake --fresh --preset "$preset" "$@") > "$log" 2>&1 \
    < /dev/null || fail_with_log "$log" "configuring $preset failed"
  printf '%s' "$wanted" > "$stamp"
}

# build_preset PRESET [CMAKE-ARGUMENT...]: configure and build all of it, or what
# the array `targets` names.
targets=()
build_preset() {
  local preset=$1 log=$logs/$1.log
  lock "$preset"
  configure_preset "$@"
  cmake --build "$root/build/$preset" --parallel "$(build_jobs)" \
    ${targets[@]+--target "${targets[@]}"} 2>&1 \
    < /dev/null | show_progress "$preset" >> "$log" \
    || fail_with_log "$log" "building $preset failed"
  unlock
}
