# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # root and logs: see common.sh
# LibTorch: the one that ATELIER_TORCH names, or a wheel in build/torch.
torch_version=2.13.0
torch=

# ensure_torch: set `torch` to a folder for the build's ATELIER_TORCH.
ensure_torch() {
  if [[ -n ${ATELIER_TORCH:-} ]]; then
    torch=$(realpath -m -- "$ATELIER_TORCH")
    [[ -d $torch ]] \
      || fail 3 "ATELIER_TORCH is '$ATELIER_TORCH', which is not a folder"
    return
  fi
  torch=$root/build/torch
  # Written last: without it the folder is a half-made one.
  local stamp=$torch/.complete
  if [[ -f $stamp && $(< "$stamp") == "$torch_version" ]]; then
    return
  fi
  make_torch_environment "$torch"
  printf '%s\n' "$torch_version" > "$stamp"
}

# make_torch_environment DIR: a virtual environment with the wheel. What was
# downloaded before an interruption is used again.
make_torch_environment() {
  local dir=$1 log=$logs/torch.log work=$root/build/.torch-download
  local python=/usr/bin/python3
  # A python3 of pyenv's or the like may lack what Debian's has.
  [[ -x $python ]] || python=python3

  rm -rf -- "$dir"
  mkdir -p "$work/tmp"
  "$python" -m venv "$dir" > "$log" 2>&1 < /dev/null \
    || fail_with_log "$log" "python3 -m venv failed"
  check_torch_space "$dir"

  local watcher=
  if [[ -t 2 ]]; then
    watch_torch_size "$dir" "$work" &
    watcher=$!
    # shellcheck disable=SC2064  # the number is known now
    trap "kill $watcher 2> /dev/null || true" EXIT
  fi
  local status=0
  TMPDIR=$work/tmp PIP_CACHE_DIR=$work/cache \
    "$dir/bin/python" -m pip install --disable-pip-version-check \
    "torch==$torch_version" >> "$log" 2>&1 < /dev/null || status=$?
  if [[ -n $watcher ]]; then
    kill "$watcher" 2> /dev/null || true
    wait "$watcher" 2> /dev/null || true
    trap - EXIT
    printf '\r\033[K' >&2
  fi
  ((status == 0)) || fail_with_log "$log" \
    "installing LibTorch failed (ATELIER_TORCH=DIR uses one that you have)"
  rm -rf -- "$work"
}

# check_torch_space DIR: say how much will be downloaded; stop if it, and what
# is built on it, does not fit. Sizes measured for 2.13.0 on x86-64.
check_torch_space() {
  local dir=$1 download='200 MB' kind='CPU' needed_mib=6000 found
  found=$("$dir/bin/python" -m pip index versions torch 2> /dev/null || true)
  if [[ $(uname -m) == x86_64 && $found != *"$torch_version+cpu"* ]]; then
    download='2.7 GB' kind='CUDA' needed_mib=14000
  fi
  local free
  free=$(free_mib "$dir")
  say "getting LibTorch $torch_version ($kind): a download of about $download"
  if ((free < needed_mib)); then
    fail 1 "only $free MiB are free in $root/build;" \
      "LibTorch and the build need $needed_mib"
  fi
}

# watch_torch_size DIR...: show how much is there by now, until killed.
watch_torch_size() {
  local mib
  while sleep 1; do
    mib=$(du -cms "$@" 2> /dev/null | awk 'END { print $1 }')
    printf '\r\033[K  %s MiB on disk' "$mib" >&2
  done
}
