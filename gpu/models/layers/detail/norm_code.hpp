// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/instruction_set.hpp>
#include <atelier/gpu/models/layers/norm_kernels.hpp>

#include <cstddef>

namespace atelier::gpu::detail {

/// The functions of norm_kernels.hpp for one type of element.
template <class T>
struct norm_loops {
  void (*add_moments)(const T* x, size_t places, size_t channels,
                      const float* pivot, double* sum, double* squares);
  void (*scale)(const T* x, T* out, size_t places, size_t channels,
                const float* factor, const float* offset, after_scaling then);
  void (*scale_alike)(const T* x, T* out, size_t count, float factor,
                      float offset, after_scaling then);
};

/// All of them, compiled for one instruction set.
struct norm_code {
  core::instruction_set set;
  norm_loops<float> of_float;
  norm_loops<bfloat16_bits> of_bfloat16;
};

} // namespace atelier::gpu::detail
