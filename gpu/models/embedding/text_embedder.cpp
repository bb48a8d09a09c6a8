// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/bert/sentence_folder.hpp>
#include <atelier/gpu/models/embedding/detail/embedders.hpp>
#include <atelier/gpu/models/embedding/text_embedder.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/printable.hpp>

#include <cmath>
#include <utility>

namespace atelier::gpu {

namespace detail {

std::vector<std::vector<float>> unit_vectors(const torch::Tensor& rows) {
  std::vector<std::vector<float>> out;
  const auto states = rows.to(torch::kCPU, torch::kFloat32);
  for (int64_t i = 0; i < states.size(0); ++i) {
    const auto length = states[i].norm().item<double>();
    TORCH_CHECK(std::isfinite(length) && length > 0, "a vector has the length ",
                length);
    const auto vector = (states[i] / length).contiguous();
    const auto* const first = vector.const_data_ptr<float>();
    out.emplace_back(first, first + vector.numel());
  }
  return out;
}

} // namespace detail

core::result<std::vector<float>> text_embedder::embed(
  std::string_view prompt) const {
  auto all = embed_all({&prompt, 1});
  if (!all)
    return all.why();
  return std::move(all->front());
}

core::result<std::shared_ptr<const text_embedder>> load_text_embedder(
  const std::filesystem::path& folder) {
  const auto network = network_folder(folder);
  if (!network)
    return network.why();
  const auto file = *network / "config.json";
  const auto config = detail::read_object(file);
  if (!config)
    return config.why();
  const auto type = detail::text_at(*config, "model_type");
  if (type == "bert")
    return detail::load_bert_embedder(folder);
  // The oldest CLIP folders name no type.
  if (type.empty() || type == "clip" || type == "clip_text_model")
    return detail::load_clip_embedder(folder);
  return core::fail(core::ec::bad_config,
                    "{}: model_type: '{}' is not supported as a text encoder; "
                    "these are: bert, clip, clip_text_model",
                    file.string(), detail::printable(type));
}

} // namespace atelier::gpu
