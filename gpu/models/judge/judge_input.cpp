// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/judge/judge_input.hpp>

#include <algorithm>

namespace atelier::gpu {

torch::Tensor judge_pixels(const torch::Tensor& pixels, torch::Device where,
                           int64_t side) {
  auto x = pixels.to(where, torch::kFloat32).div(127.5).sub(1).unsqueeze(0);
  if (x.size(2) != side || x.size(3) != side)
    x = torch::adaptive_avg_pool2d(x, {side, side});
  return x;
}

torch::Tensor judge_tokens(const tokenizer& words, std::string_view prompt,
                           uint32_t most) {
  const auto tokens = words.encode(prompt, most);
  auto ids =
    torch::empty({1, static_cast<int64_t>(tokens.ids.size())}, torch::kInt64);
  std::ranges::copy(tokens.ids, ids.data_ptr<int64_t>());
  return ids;
}

} // namespace atelier::gpu
