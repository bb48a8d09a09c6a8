// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_encoder.hpp>
#include <atelier/gpu/models/embedding/detail/embedders.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/part_folder.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/files/tensor_collection.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <torch/torch.h>

#include <utility>

namespace atelier::gpu::detail {

namespace {

constexpr std::string_view tower_name = "the text tower";

class clip_embedder final : public text_embedder {
public:
  explicit clip_embedder(std::unique_ptr<clip_encoder> tower)
    : tower_(std::move(tower)) {}

  size_t dimensions() const override {
    return static_cast<size_t>(tower_->config().projection_dim);
  }

  core::result<std::vector<std::vector<float>>> embed_all(
    std::span<const std::string_view> prompts) const override {
    return with_model_border(tower_name, [&] {
      const c10::InferenceMode guard;
      return unit_vectors(tower_->encode_all(prompts).pooled);
    });
  }

private:
  std::unique_ptr<clip_encoder> tower_;
};

/// Returns the text tower's tensors: a whole CLIP has its image tower in the
/// same file.
std::shared_ptr<const tensor_source> text_tensors(
  std::shared_ptr<const tensor_source> all) {
  auto out = std::make_shared<tensor_collection>(all->where());
  for (const auto& name : all->names())
    if (!name.starts_with("vision_model.") && name != "visual_projection.weight"
        && name != "logit_scale")
      out->add(name, *all->find(name));
  out->keep(std::move(all));
  return out;
}

} // namespace

core::result<std::shared_ptr<const text_embedder>> load_clip_embedder(
  const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  auto text = read_text(file, most_config_bytes);
  if (!text)
    return text.why();
  const auto words = find_tokenizer(folder);
  if (!words)
    return words.why();
  auto weights = safetensors_file::open(folder / "model.safetensors");
  if (!weights)
    return weights.why();
  component tower;
  tower.config = std::move(*text);
  tower.config_file = file.string();
  // Its vectors are comparable only after the projection.
  tower.class_name = "CLIPTextModelWithProjection";
  tower.weights = text_tensors(std::move(*weights));
  model_files from;
  from.from = folder;
  auto loaded = clip_encoder::load(from, tower_name, tower, *words, {});
  if (!loaded)
    return loaded.why();
  return std::shared_ptr<const text_embedder>{
    std::make_shared<clip_embedder>(std::move(*loaded))};
}

} // namespace atelier::gpu::detail
