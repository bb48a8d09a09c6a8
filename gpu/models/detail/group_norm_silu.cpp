// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/detail/group_norm_silu.hpp>

namespace atelier::gpu::detail {

torch::Tensor group_norm_silu(const torch::Tensor& x, int64_t groups,
                              const torch::Tensor& weight,
                              const torch::Tensor& bias, double eps) {
  auto y = at::group_norm(x, groups, weight, bias, eps);
  return at::silu_(y);
}

} // namespace atelier::gpu::detail
