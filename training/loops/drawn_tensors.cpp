// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/philox_noise.hpp>
#include <atelier/training/loops/data_stream.hpp>
#include <atelier/training/loops/drawn_tensors.hpp>
#include <atelier/training/render.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

std::span<float> elements(const torch::Tensor& x) {
  return {x.mutable_data_ptr<float>(), static_cast<size_t>(x.numel())};
}

} // namespace

torch::Tensor draw_noise(torch::IntArrayRef shape, core::philox& from) {
  auto out = torch::empty(shape, torch::kFloat32);
  core::philox_randn(from.next_u64(), elements(out));
  return out;
}

torch::Tensor draw_noise(torch::IntArrayRef shape, uint64_t seed,
                         const std::vector<uint64_t>& numbers) {
  std::vector<torch::Tensor> out;
  for (const auto x : numbers) {
    auto from = data_stream(seed, data_use::noise, x);
    out.push_back(draw_noise(shape, from));
  }
  return torch::cat(out);
}

torch::Tensor draw_scenes(std::span<const scene> scenes, uint32_t side_px) {
  const auto side = static_cast<int64_t>(side_px);
  auto out = torch::empty({static_cast<int64_t>(scenes.size()), 3, side, side},
                          torch::kFloat32);
  render_batch(scenes, side_px, elements(out));
  return out;
}

torch::Tensor to_tensor(const image_batch& x) {
  const auto side = static_cast<int64_t>(x.side);
  auto out = torch::empty({x.count, 3, side, side}, torch::kFloat32);
  std::ranges::copy(x.pixels, out.mutable_data_ptr<float>());
  return out;
}

image::bitmap to_image(const torch::Tensor& planes) {
  const auto bytes = ((planes.clamp(-1, 1) + 1) * 127.5)
                       .round()
                       .to(torch::kUInt8)
                       .permute({1, 2, 0})
                       .contiguous();
  image::bitmap out;
  out.px = {static_cast<uint32_t>(bytes.size(1)),
            static_cast<uint32_t>(bytes.size(0))};
  out.bytes.assign(bytes.const_data_ptr<uint8_t>(),
                   bytes.const_data_ptr<uint8_t>() + bytes.numel());
  return out;
}

torch::Tensor part_of(const torch::Tensor& x, size_t part, size_t parts) {
  const auto n = static_cast<size_t>(x.size(0));
  const auto begin = n * part / parts;
  const auto end = n * (part + 1) / parts;
  return x.narrow(0, static_cast<int64_t>(begin),
                  static_cast<int64_t>(end - begin));
}

} // namespace atelier::gpu
