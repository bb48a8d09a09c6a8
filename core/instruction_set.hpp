// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace atelier::core {

/// The instruction sets that parts of the program are compiled for. Of two that
/// one processor has, the later one is faster and includes the earlier one.
enum class instruction_set : uint8_t {
  /// What the program is built for, and every processor that runs it has.
  portable,
  /// AVX2, FMA, BMI and BMI2.
  avx2,
  /// `avx2`, and AVX-512 F, BW, CD, DQ and VL.
  avx512,
  /// `avx512`, and AVX-512 BF16.
  avx512_bf16,
};

/// Returns the name of a set, which is that of its enumerator.
std::string_view to_string(instruction_set x);

/// Returns the set of that name, or nothing for other names.
std::optional<instruction_set> parse_instruction_set(std::string_view name);

/// Returns the sets that this processor has and the program is compiled for,
/// the slowest first. `portable` is always one of them.
/// Threads: any.
const std::vector<instruction_set>& available_instruction_sets();

/// Returns the set by which the program chooses its code: the fastest available
/// one, or the one that limits it.
/// Threads: any.
instruction_set instruction_set_in_use();

/// Checks that a processor with the `available` sets has `x`.
/// Errors:  ec::bad_config; the text names `x` and the available sets.
/// Threads: any.
result<void> check_available(instruction_set x,
                             std::span<const instruction_set> available);

/// Use no faster set than `most` in this process from now on. The fastest
/// available one removes the limit.
/// Errors:  those of check_available for this processor; the set in use then
///          stays as it was.
/// Threads: any; work that runs meanwhile may use both sets.
result<void> limit_instruction_set(instruction_set most);

/// Returns the fastest of some code that is compiled for several sets, as far
/// as the set in use includes it; null if the set includes none of it.
/// @param compiled for one set each, its member `set`; the slowest first
/// Threads: any.
template <class Compiled>
const Compiled* fastest_in_use(std::span<const Compiled* const> compiled) {
  const auto most = instruction_set_in_use();
  const Compiled* found = nullptr;
  for (const auto* x : compiled)
    if (x->set <= most)
      found = x;
  return found;
}

} // namespace atelier::core
