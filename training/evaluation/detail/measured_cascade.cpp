// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox.hpp>
#include <atelier/training/evaluation/detail/frechet.hpp>
#include <atelier/training/evaluation/detail/measured_cascade.hpp>

#include <cmath>

namespace atelier::gpu::detail {

namespace {

constexpr int intervals = 40;
constexpr int resamples = 32;

/// Returns bootstrap samples of the captions: as many rows as there are
/// captions, drawn with replacement.
std::vector<torch::Tensor> resampled(int64_t n, uint64_t seed) {
  core::philox random{seed, core::purpose::sampling};
  std::vector<torch::Tensor> out;
  for (int k = 0; k < resamples; ++k) {
    auto rows = torch::empty({n}, torch::kInt64);
    for (int64_t i = 0; i < n; ++i)
      rows[i] = static_cast<int64_t>(random.below(static_cast<uint64_t>(n)));
    out.push_back(std::move(rows));
  }
  return out;
}

/// Measures the points of one cascade.
class measuring {
public:
  measuring(const judged_images& light, const judged_images& heavy,
            const torch::Tensor& renders, uint64_t seed)
    : light_(light), heavy_(heavy), renders_(renders) {
    const auto n = static_cast<int64_t>(light.objects.size());
    if (!renders.defined() || n < 2)
      return;
    samples_ = resampled(n, seed);
    for (const auto& rows : samples_)
      alone_.push_back(distance(heavy_.features, rows));
  }

  evaluated_cascade_point at(double threshold) {
    const auto n = light_.objects.size();
    evaluated_cascade_point out;
    out.threshold = threshold;
    auto features = renders_.defined() ? light_.features.clone() : renders_;
    size_t again = 0;
    for (size_t i = 0; i < n; ++i) {
      const auto passes = light_.confidences[i] >= threshold;
      const auto& from = passes ? light_ : heavy_;
      again += passes ? 0 : 1;
      out.objects += from.objects[i] / static_cast<double>(n);
      if (!passes && features.defined())
        features[static_cast<int64_t>(i)] =
          heavy_.features[static_cast<int64_t>(i)];
    }
    out.deferred = static_cast<double>(again) / static_cast<double>(n);
    if (!samples_.empty()) {
      // An equal share of deferred images means the same images.
      if (!last_.distance || last_.deferred != out.deferred) {
        out.distance = frechet_distance(features, renders_);
        out.distance_error = error(features);
        last_ = out;
      }
      out.distance = last_.distance;
      out.distance_error = last_.distance_error;
    }
    return out;
  }

private:
  double distance(const torch::Tensor& features,
                  const torch::Tensor& rows) const {
    return frechet_distance(features.index_select(0, rows),
                            renders_.index_select(0, rows));
  }

  /// Returns the standard error of the difference from the heavy variant's
  /// distance, where both are measured on the same captions.
  double error(const torch::Tensor& features) const {
    double sum = 0;
    double squares = 0;
    for (size_t k = 0; k < samples_.size(); ++k) {
      const double apart = distance(features, samples_[k]) - alone_[k];
      sum += apart;
      squares += apart * apart;
    }
    return std::sqrt(std::max(0.0, squares - sum * sum / resamples)
                     / (resamples - 1));
  }

  const judged_images& light_;
  const judged_images& heavy_;
  const torch::Tensor& renders_;
  std::vector<torch::Tensor> samples_;
  std::vector<double> alone_;
  evaluated_cascade_point last_;
};

} // namespace

std::vector<evaluated_cascade_point> measure_cascade(
  const judged_images& light, const judged_images& heavy,
  const torch::Tensor& renders, uint64_t seed) {
  measuring of{light, heavy, renders, seed};
  std::vector<evaluated_cascade_point> out;
  for (int i = 0; i <= intervals; ++i)
    out.push_back(of.at(static_cast<double>(i) / intervals));
  return out;
}

} // namespace atelier::gpu::detail
