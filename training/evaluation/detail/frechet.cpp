// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/evaluation/detail/frechet.hpp>

namespace atelier::gpu::detail {

namespace {

torch::Tensor covariance(const torch::Tensor& x) {
  const auto centred = x - x.mean(0, true);
  return centred.t().matmul(centred) / (x.size(0) - 1);
}

// Returns the square root of a symmetric matrix whose eigenvalues are negative
// only through rounding.
torch::Tensor root(const torch::Tensor& x) {
  const auto [values, vectors] = at::linalg_eigh(x);
  return (vectors * values.clamp_min(0).sqrt()).matmul(vectors.t());
}

} // namespace

double frechet_distance(const torch::Tensor& a, const torch::Tensor& b) {
  const auto x = a.to(torch::kCPU, torch::kFloat64);
  const auto y = b.to(torch::kCPU, torch::kFloat64);
  const auto of_x = covariance(x);
  const auto of_y = covariance(y);
  // The root of the product of both covariances has the same trace as the root
  // of this symmetric matrix.
  const auto half = root(of_x);
  const auto common = at::linalg_eigvalsh(half.matmul(of_y).matmul(half))
                        .clamp_min(0)
                        .sqrt()
                        .sum();
  return ((x.mean(0) - y.mean(0)).square().sum() + of_x.trace() + of_y.trace()
          - 2 * common)
    .item<double>();
}

} // namespace atelier::gpu::detail
