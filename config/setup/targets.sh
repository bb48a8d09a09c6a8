# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What is built before a command runs.

# names_comparison ARGUMENT...: whether one of the arguments names a policy that
# only the papers' program may have, or a plan, which may be of such a policy.
names_comparison() {
  local name rows words="$*"
  rows=$(dirname "${BASH_SOURCE[0]}")/../../planning/policies/list.cpp
  for name in $(sed -n 's/^  {\(baseline\|ablation\), "\([^"]*\)".*/\2/p' \
    "$rows"); do
    [[ ",${words//[ =]/,}," != *",$name,"* ]] || return 0
  done
  [[ " $words" == *" --plan"* ]]
}

# targets_of ARGUMENT...: the programs that generating and serving need, and the
# one that the command has of its own, a line each. The command is the first
# argument that is neither an option of all commands nor the value of one.
targets_of() {
  local arguments=" $* "
  printf '%s\n' atelier atelier-process
  while (($# > 0)); do
    case $1 in
      --config | --set | --data | --log)
        shift
        (($# == 0)) || shift
        ;;
      -*) shift ;;
      *) break ;;
    esac
  done
  case ${1:-} in
    train | evaluate) printf '%s\n' atelier-training ;;
    simulate | plan)
      if [[ $arguments == *" --reproduce"* ]] || names_comparison "$@"; then
        printf '%s\n' atelier-papers
      fi
      ;;
  esac
}
