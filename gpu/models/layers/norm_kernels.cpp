// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/detail/norm_code.hpp>
#include <atelier/gpu/models/layers/norm_kernels.hpp>

namespace atelier::gpu::detail {

extern const norm_code portable_norms;
#ifdef ATELIER_INSTRUCTION_SETS
extern const norm_code avx2_norms;
extern const norm_code avx512_norms;
#endif

namespace {

const norm_code& chosen() {
  static constexpr const norm_code* all[] = {
    &portable_norms,
#ifdef ATELIER_INSTRUCTION_SETS
    &avx2_norms,
    &avx512_norms,
#endif
  };
  return *core::fastest_in_use<norm_code>(all);
}

} // namespace

void add_moments(const float* x, size_t places, size_t channels,
                 const float* pivot, double* sum, double* squares) {
  chosen().of_float.add_moments(x, places, channels, pivot, sum, squares);
}

void add_moments(const bfloat16_bits* x, size_t places, size_t channels,
                 const float* pivot, double* sum, double* squares) {
  chosen().of_bfloat16.add_moments(x, places, channels, pivot, sum, squares);
}

void scale(const float* x, float* out, size_t places, size_t channels,
           const float* factor, const float* offset, after_scaling then) {
  chosen().of_float.scale(x, out, places, channels, factor, offset, then);
}

void scale(const bfloat16_bits* x, bfloat16_bits* out, size_t places,
           size_t channels, const float* factor, const float* offset,
           after_scaling then) {
  chosen().of_bfloat16.scale(x, out, places, channels, factor, offset, then);
}

void scale_alike(const float* x, float* out, size_t count, float factor,
                 float offset, after_scaling then) {
  chosen().of_float.scale_alike(x, out, count, factor, offset, then);
}

void scale_alike(const bfloat16_bits* x, bfloat16_bits* out, size_t count,
                 float factor, float offset, after_scaling then) {
  chosen().of_bfloat16.scale_alike(x, out, count, factor, offset, then);
}

} // namespace atelier::gpu::detail
