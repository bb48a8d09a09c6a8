// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/instruction_set.hpp>
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
  core::instruction_set set;
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

/// Returns the compiled targets, the slowest first: those for avx2, avx512 and
/// avx512_bf16, or nothing on other processors than x86. Not every processor
/// runs all of them.
std::span<const kernel_target* const> compiled_targets();

/// Returns the fastest target that the set in use includes.
/// Threads: any.
/// @pre runs_kernels()
const kernel_target& chosen_target();

} // namespace atelier::gpu::host::detail
