// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/model_folder.hpp>
#include <atelier/gpu/models/files/detail/part_checks.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/judge/judge_config.hpp>
#include <atelier/gpu/models/judge/module_state.hpp>
#include <atelier/gpu/models/judge/picture_judge.hpp>
#include <atelier/gpu/models/weights.hpp>

#include <algorithm>
#include <utility>

namespace atelier::gpu {

using core::ec;
using core::fail;

core::result<std::shared_ptr<picture_judge>> picture_judge::load(
  const std::filesystem::path& folder, torch::Device where) {
  const auto file = folder / "config.json";
  const auto config = detail::read_text(file, detail::most_config_bytes);
  if (!config)
    return config.why();
  if (*config != discriminator_config_text())
    return fail(ec::bad_payload,
                "{}: not the configuration of the family's discriminator",
                file.string());
  const auto files = detail::find_tokenizer(folder);
  if (!files)
    return files.why();
  if (!*files)
    return fail(ec::not_found, "{}: no tokenizer was found", folder.string());
  auto words = detail::load_words(**files, nullptr);
  if (!words)
    return words.why();
  const auto weights = safetensors_file::open(folder / "model.safetensors");
  if (!weights)
    return weights.why();
  return with_model_border("a judge of pictures", [&] {
    auto network = std::make_shared<discriminator_net>(family_discriminator());
    load_state(*network, **weights);
    network->to(where);
    network->eval();
    return std::shared_ptr<picture_judge>{
      new picture_judge{std::move(*words), std::move(network), where}};
  });
}

picture_judge::picture_judge(std::shared_ptr<const tokenizer> words,
                             std::shared_ptr<discriminator_net> network,
                             torch::Device where)
  : words_(std::move(words)), network_(std::move(network)), where_(where) {}

double picture_judge::score(const torch::Tensor& pixels,
                            std::string_view prompt) const {
  const torch::NoGradGuard guard;
  const auto side = family_discriminator().towers.side;
  auto x = pixels.to(where_, torch::kFloat32).div(127.5).sub(1).unsqueeze(0);
  if (x.size(2) != side || x.size(3) != side)
    x = torch::adaptive_avg_pool2d(x, {side, side});
  const auto tokens = words_->encode(prompt, family_tokens);
  auto ids =
    torch::empty({1, static_cast<int64_t>(tokens.ids.size())}, torch::kInt64);
  std::ranges::copy(tokens.ids, ids.data_ptr<int64_t>());
  return network_->forward(x, ids.to(where_)).sigmoid().item<double>();
}

} // namespace atelier::gpu
