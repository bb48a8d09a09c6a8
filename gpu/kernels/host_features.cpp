// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/host_features.hpp>

namespace atelier::gpu::host {

#ifdef ATELIER_HOST_KERNELS

bool runs_float32() {
  return __builtin_cpu_supports("avx512f") != 0
      && __builtin_cpu_supports("avx512bw") != 0
      && __builtin_cpu_supports("avx512dq") != 0
      && __builtin_cpu_supports("avx512vl") != 0;
}

bool runs_bfloat16() {
  return runs_float32() && __builtin_cpu_supports("avx512bf16") != 0;
}

#else

bool runs_float32() {
  return false;
}

bool runs_bfloat16() {
  return false;
}

#endif

} // namespace atelier::gpu::host
