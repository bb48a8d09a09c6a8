// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/kernels/host_activation.hpp>
#include <atelier/gpu/kernels/host_attention.hpp>
#include <atelier/gpu/kernels/host_dense.hpp>
#include <atelier/gpu/kernels/host_norm.hpp>

#include <cstdint>
#include <span>

namespace atelier::gpu::host::detail {

/// The kernels of this folder, compiled for one instruction set. The functions
/// are those of the same names in the public headers. Packed weights have the
/// same layout on all targets.
struct kernel_target {
  const char* name;
  /// Returns whether this processor has the instructions.
  bool (*runs)();
  void (*run_dense)(const dense_job& job, int64_t first, int64_t last);
  void (*pack_dense)(element type, const dense_source& from, int64_t columns,
                     int64_t at, void* to);
  void (*run_attention)(const attention_job& job, int64_t first, int64_t last);
  void (*sum_blocks)(const group_norm_job& job, int64_t first, int64_t last);
  void (*find_factors)(const group_norm_job& job, int64_t first, int64_t last);
  void (*apply_factors)(const group_norm_job& job, int64_t first, int64_t last);
  void (*run_activation)(const activation_job& job, int64_t first,
                         int64_t last);
};

/// Return whether this processor has a target's instructions.
bool has_avx2();
bool has_avx512();
bool has_avx512_bf16();

/// Returns the compiled targets, the slowest first: "avx2", "avx512" and
/// "avx512_bf16", or nothing on other processors than x86. Not every processor
/// runs all of them.
std::span<const kernel_target* const> compiled_targets();

/// Returns the fastest target that this processor runs, or the forced one.
/// Threads: any.
/// @pre runs_kernels()
const kernel_target& chosen_target();

/// Make the public functions use `target`, which this processor must run, or
/// again the fastest if it is nullptr. For tests.
/// Threads: none may run a kernel meanwhile.
void force_target(const kernel_target* target);

} // namespace atelier::gpu::host::detail
