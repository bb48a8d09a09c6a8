// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/clip/clip_vision.hpp>
#include <atelier/gpu/models/clip/image_preparation.hpp>
#include <atelier/gpu/models/embedding/detail/embedders.hpp>
#include <atelier/gpu/models/embedding/image_embedder.hpp>
#include <atelier/gpu/models/files/json_file.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/files/tensor_collection.hpp>
#include <atelier/gpu/models/layers/weights.hpp>

#include <torch/torch.h>

#include <string>
#include <utility>

namespace atelier::gpu {

namespace {

constexpr std::string_view image_tower = "the image tower";

class clip_image_embedder final : public image_embedder {
public:
  clip_image_embedder(image_preparation preparation,
                      std::unique_ptr<clip_vision> tower)
    : preparation_(std::move(preparation)), tower_(std::move(tower)) {}

  size_t dimensions() const override {
    return static_cast<size_t>(tower_->config().projection_dim);
  }

  core::result<std::vector<float>> embed(
    const image::pixel_view& from) const override {
    auto input = prepared(preparation_, from);
    if (!input)
      return input.why();
    return with_model_border(image_tower, [&] {
      const c10::InferenceMode guard;
      const int64_t side = preparation_.side;
      const auto pixels =
        torch::from_blob(input->data(), {1, 3, side, side}, torch::kFloat32);
      return detail::unit_vectors(tower_->forward(pixels)).front();
    });
  }

private:
  image_preparation preparation_;
  std::unique_ptr<clip_vision> tower_;
};

/// Returns the image tower's tensors: the text tower is in the same file.
std::shared_ptr<const tensor_source> image_tensors(
  std::shared_ptr<const tensor_source> all) {
  auto out = std::make_shared<detail::tensor_collection>(all->where());
  for (const auto& name : all->names())
    if (name.starts_with("vision_model.") || name == "visual_projection.weight")
      out->add(name, *all->find(name));
  out->keep(std::move(all));
  return out;
}

} // namespace

core::result<std::shared_ptr<const image_embedder>> load_image_embedder(
  const std::filesystem::path& folder) {
  component tower;
  const auto file = folder / "config.json";
  auto text = detail::read_text(file, detail::most_config_bytes);
  if (!text)
    return text.why();
  const auto config = detail::parse_object(*text, file.string());
  if (!config)
    return config.why();
  if (const auto type = detail::text_at(*config, "model_type");
      !type.empty() && type != "clip")
    return core::fail(core::ec::bad_config,
                      "{}: model_type: '{}' has no image tower that is "
                      "supported; these have: clip",
                      file.string(), detail::printable(type));
  tower.config = std::move(*text);
  tower.config_file = file.string();
  const auto shape = read_clip_vision_config(tower);
  if (!shape)
    return shape.why();
  const auto steps = folder / "preprocessor_config.json";
  const auto told = detail::read_text(steps, detail::most_config_bytes);
  if (!told)
    return told.why();
  auto preparation = read_image_preparation(
    *told, steps.string(), static_cast<uint32_t>(shape->image_size));
  if (!preparation)
    return preparation.why();
  auto weights = safetensors_file::open(folder / "model.safetensors");
  if (!weights)
    return weights.why();
  tower.weights = image_tensors(std::move(*weights));
  auto loaded = clip_vision::load(tower, {});
  if (!loaded)
    return loaded.why();
  return std::shared_ptr<const image_embedder>{
    std::make_shared<clip_image_embedder>(std::move(*preparation),
                                          std::move(*loaded))};
}

} // namespace atelier::gpu
