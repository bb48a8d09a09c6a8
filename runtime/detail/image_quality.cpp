// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/image_scorer.hpp>
#include <atelier/runtime/detail/image_quality.hpp>
#include <atelier/runtime/measure_reuse.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

namespace atelier::runtime::detail {

double likeness(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  ATELIER_EXPECTS(a.size() == b.size(), "both images have one size");
  const auto n = static_cast<double>(a.size());
  double sum_a = 0, sum_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum_a += a[i];
    sum_b += b[i];
  }
  double aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = a[i] - sum_a / n;
    const auto y = b[i] - sum_b / n;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  if (aa <= 0 || bb <= 0)
    return std::ranges::equal(a, b) ? 1 : 0;
  return std::clamp(ab / std::sqrt(aa * bb), 0.0, 1.0);
}

core::result<image_quality> quality_for(const config::settings& settings,
                                        bool draws_scenes) {
#ifdef ATELIER_WITH_TORCH
  const auto folder = std::filesystem::path{settings.policy.judges} / "scorer";
  std::error_code ignored;
  if (draws_scenes && !settings.policy.judges.empty()
      && std::filesystem::exists(folder / "config.json", ignored)) {
    auto scorer = gpu::load_image_scorer(folder);
    if (!scorer)
      return core::fail(scorer.why().code, "policy.judges: {}",
                        scorer.why().text);
    return image_quality{
      scorer_measure,
      [scorer = std::move(*scorer)](
        std::span<const uint8_t> rgb, std::span<const uint8_t>, core::extent px,
        std::string_view prompt) { return scorer->score(rgb, px, prompt); }};
  }
#else
  static_cast<void>(settings);
  static_cast<void>(draws_scenes);
#endif
  return image_quality{likeness_measure,
                       [](std::span<const uint8_t> rgb,
                          std::span<const uint8_t> full, core::extent,
                          std::string_view) -> core::result<double> {
                         return likeness(rgb, full);
                       }};
}

} // namespace atelier::runtime::detail
