#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Format every tracked C++ source; with --check only say which would change.
# Other versions of clang-format than 14 lay code out differently, hence the
# status 77 (skipped) without that one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

format=
for candidate in clang-format-14 clang-format; do
  if "$candidate" --version 2> /dev/null | grep -q 'version 14\.'; then
    format=$candidate
    break
  fi
done
if [[ -z $format ]]; then
  echo "clang-format 14 is not installed" >&2
  exit 77
fi

# Without git (an unpacked archive) every source there is.
if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
  mapfile -t sources < <(git ls-files '*.cpp' '*.hpp' '*.cu')
else
  mapfile -t sources < <(find . -path ./build -prune -o \
    -name '*.[ch]pp' -print -o -name '*.cu' -print)
fi
((${#sources[@]} > 0)) || exit 0

case ${1:-} in
  --check) "$format" --dry-run -Werror "${sources[@]}" ;;
  '') "$format" -i "${sources[@]}" ;;
  *)
    echo "usage: format.sh [--check]" >&2
    exit 2
    ;;
esac
