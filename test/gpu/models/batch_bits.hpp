// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for tests that torch.cmake lists.

#include "gpu/models/mutate.hpp"
#include <atelier/gpu/models/model.hpp>

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace atelier::test {

/// The inputs of some places, as a pass of a model takes them.
struct drawn_places {
  torch::Tensor samples;
  std::vector<float> timesteps;
  std::vector<const char*> texts;
  std::vector<core::recipe> recipes;
};

inline drawn_places draw_places(const gpu::model& of, int64_t count,
                                mutator& draw) {
  static constexpr std::array texts{"a", "a a", "a a a", ""};
  const auto side = [&] {
    return 2 * (1 + static_cast<int64_t>(draw.below(6)));
  };
  drawn_places out;
  const auto h = side();
  const auto w = side();
  out.samples = torch::randn({count, of.vae().config().latent_channels, h, w});
  for (int64_t i = 0; i < count; ++i) {
    out.timesteps.push_back(static_cast<float>(draw.below(1000)));
    out.texts.push_back(texts[draw.below(texts.size())]);
    core::recipe how;
    how.guidance = static_cast<float>(1 + draw.below(9));
    how.px = {static_cast<uint32_t>(8 * w), static_cast<uint32_t>(8 * h)};
    out.recipes.push_back(how);
  }
  return out;
}

/// Returns the predictions of the places with these numbers, in one pass.
inline torch::Tensor predict_places(const gpu::model& of, const drawn_places& x,
                                    const std::vector<int64_t>& which) {
  const auto count = static_cast<int64_t>(which.size());
  auto in = of.make_inputs({count, x.samples.size(1), x.samples.size(2),
                            x.samples.size(3), of.encode({"a"}).tokens});
  for (int64_t i = 0; i < count; ++i) {
    const auto from = static_cast<size_t>(which[static_cast<size_t>(i)]);
    in.sample[i].copy_(x.samples[static_cast<int64_t>(from)]);
    in.timestep[i].fill_(x.timesteps[from]);
    of.write(of.encode({x.texts[from]}), x.recipes[from], false, i, in);
  }
  return gpu::predict(of.net(), in);
}

/// Returns whether predictions of drawn places have the same bits in a drawn
/// batch as alone.
inline bool batch_keeps_bits(const gpu::model& of, mutator& draw) {
  const c10::InferenceMode guard;
  const auto count = 2 + static_cast<int64_t>(draw.below(5));
  const auto places = draw_places(of, count, draw);
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[draw.below(i)]);
  order.resize(2 + draw.below(order.size() - 1));
  const auto together = predict_places(of, places, order);
  for (size_t i = 0; i < order.size(); ++i) {
    const auto alone = predict_places(of, places, {order[i]});
    if (!torch::equal(together[static_cast<int64_t>(i)], alone[0]))
      return false;
  }
  return true;
}

} // namespace atelier::test
