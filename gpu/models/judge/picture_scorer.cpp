// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/model_folder.hpp>
#include <atelier/gpu/models/files/detail/part_checks.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/picture_scorer.hpp>
#include <atelier/gpu/models/judge/scorer_net.hpp>
#include <atelier/gpu/models/tokenizer/tokenizer.hpp>
#include <atelier/gpu/models/weights.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace atelier::gpu {

namespace {

constexpr std::string_view scorer_part = "the scorer of pictures";

class loaded_picture_scorer final : public picture_scorer {
public:
  loaded_picture_scorer(std::shared_ptr<const tokenizer> words,
                        std::shared_ptr<scorer_net> network)
    : words_(std::move(words)), network_(std::move(network)) {}

  core::result<double> score(std::span<const uint8_t> rgb, core::extent px,
                             std::string_view prompt) const override {
    return with_model_border(scorer_part, [&] {
      const torch::NoGradGuard guard;
      const auto side = family_scorer().side;
      auto bytes = torch::empty({px.height, px.width, 3}, torch::kUInt8);
      TORCH_CHECK(static_cast<size_t>(bytes.numel()) == rgb.size(),
                  "an image of ", px.width, "x", px.height, " pixels has ",
                  rgb.size(), " bytes");
      std::memcpy(bytes.data_ptr<uint8_t>(), rgb.data(), rgb.size());
      auto pixels = bytes.permute({2, 0, 1})
                      .to(torch::kFloat32)
                      .div(127.5)
                      .sub(1)
                      .unsqueeze(0);
      if (pixels.size(2) != side || pixels.size(3) != side)
        pixels = torch::adaptive_avg_pool2d(pixels, {side, side});
      const auto tokens = words_->encode(prompt, family_tokens);
      auto ids = torch::empty({1, static_cast<int64_t>(tokens.ids.size())},
                              torch::kInt64);
      std::ranges::copy(tokens.ids, ids.data_ptr<int64_t>());
      const auto cosine =
        (network_->embed_pictures(pixels) * network_->embed_texts(ids))
          .sum()
          .item<double>();
      TORCH_CHECK(std::isfinite(cosine), "the score is ", cosine);
      return cosine;
    });
  }

private:
  const std::shared_ptr<const tokenizer> words_;
  const std::shared_ptr<scorer_net> network_;
};

} // namespace

core::result<std::shared_ptr<const picture_scorer>> load_picture_scorer(
  const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  const auto config = detail::read_text(file, detail::most_config_bytes);
  if (!config)
    return config.why();
  if (*config != scorer_config_text())
    return core::fail(core::ec::bad_payload,
                      "{}: not the configuration of the family's scorer",
                      file.string());
  const auto files = detail::find_tokenizer(folder);
  if (!files)
    return files.why();
  if (!*files)
    return core::fail(core::ec::not_found, "{}: there is no tokenizer",
                      folder.string());
  auto words = detail::load_words(**files, nullptr);
  if (!words)
    return words.why();
  const auto weights = safetensors_file::open(folder / "model.safetensors");
  if (!weights)
    return weights.why();
  return with_model_border(scorer_part, [&] {
    auto network = std::make_shared<scorer_net>(family_scorer());
    load_state(*network, **weights);
    network->eval();
    return std::shared_ptr<const picture_scorer>{
      std::make_shared<loaded_picture_scorer>(std::move(*words),
                                              std::move(network))};
  });
}

} // namespace atelier::gpu
