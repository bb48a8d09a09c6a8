// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/core/samplers.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The properties of a family of models that do not involve its networks: how
// its folders and files are read, and the facts that planning needs. LibTorch
// is not needed here; a family's networks are behind `model` (model.hpp).
// Functions of a host's family may throw, so callers guard them.

namespace atelier::gpu {

class model;
struct placement;
class safetensors_file;

namespace detail {
struct tensor_table;
} // namespace detail

/// A diffusers pipeline: how a family's parts are put together. A pipeline is
/// identified by its address.
struct model_pipeline {
  /// The name shown to users, such as "stable_diffusion_xl".
  std::string_view name;
  /// Class names in model_index.json; an import writes the first.
  std::span<const std::string_view> classes;
  /// The text encoders without which it cannot draw.
  bool text_encoder = true;
  bool text_encoder_2 = false;
  /// Whether a missing text encoder is written to model_index.json as null.
  bool writes_missing_text = false;
  /// Settings of its family that an import writes.
  std::span<const std::string_view> written_settings = {};
  /// Further entries that an import writes to model_index.json: a JSON object.
  std::string_view written_index = "{}";
  /// The defaults of diffusers.
  float guidance = 7.5f;
  uint32_t steps = 50;
  /// Whether it obeys the default of its autoencoder's class, which is to
  /// compute in float32 where float16 is requested.
  bool upcasts_vae = false;
  /// What an autoencoder in a single file does not say of itself.
  vae_traits single_file_vae = {};
  /// What a strength does to the steps of LCM.
  core::share_steps lcm_steps = core::share_steps::cut;
  /// Another pipeline whose models lend parts to this one's; may be null.
  const model_pipeline* teacher = nullptr;
};

/// A boolean of model_index.json that affects the image.
struct model_setting {
  std::string_view name;
  bool otherwise = false;
};

/// The facts of a denoiser's configuration that planning needs.
struct denoiser_facts {
  /// Side of the latents that it was made for.
  int64_t latent_side = 64;
  /// Channels of its latents, which the autoencoder's must equal; 0: not
  /// checked.
  int64_t latent_channels = 0;
  /// Guidance is an input of the denoiser, so that a guided row needs no second
  /// prediction.
  bool embeds_guidance = false;
};

struct family {
  /// The name in messages, such as "unet".
  std::string_view name;
  std::span<const model_pipeline* const> pipelines;
  /// The denoiser's folder in a model, and its class in diffusers.
  std::string_view denoiser_part;
  std::string_view denoiser_class;
  /// The settings in model_index.json.
  std::span<const model_setting> settings;

  /// Adds the tensors that the denoiser's configuration requires.
  /// Errors: ec::bad_config.
  core::result<void> (*expect)(const component& denoiser,
                               detail::tensor_table& to);
  /// Returns the facts of the denoiser's configuration; checks that text
  /// encoders, if present, fit it.
  /// Errors: ec::bad_config.
  core::result<denoiser_facts> (*facts)(const model_files& model);
  /// Sets properties that depend on all parts together, such as the pipeline of
  /// a standalone denoiser, whose `pipeline` is null. May be null.
  /// Errors: ec::bad_payload.
  core::result<void> (*settle)(model_files& model) = nullptr;

  /// Determines from its tensors' sorted names whether a single file is one of
  /// the family's models; null: the family reads only folders.
  bool (*knows_file)(std::span<const std::string> names) = nullptr;
  /// Opens such a file. Given a file of no family, its error says what the file
  /// looks like.
  /// @param path the file's location
  core::result<model_files> (*open_file)(
    std::shared_ptr<const safetensors_file> file,
    const std::filesystem::path& path,
    const model_file_options& options) = nullptr;

  /// Loads the networks of a host's family; null: they cannot be loaded. The
  /// loaders of Atelier's own families are in family_loaders.cpp.
  core::result<std::shared_ptr<const model>> (*load)(
    const model_files& from, const placement& where) = nullptr;
};

/// Returns every family in the order in which users see them: Atelier's own,
/// then the added ones.
/// Threads: any; a returned span stays valid.
std::span<const family* const> families();

/// Adds a host's family to those of this process, permanently. Adding the same
/// family again has no effect. The object must live as long as the process.
/// Errors: ec::bad_config if it is null, lacks a name, pipelines, a part, a
///         class, `expect` or `facts`, or shares its name, or a pipeline's
///         class, with another; ec::out_of_resources if too many were added.
/// Threads: any.
core::result<void> add_family(const family* x);

/// The family and the pipeline of a class in model_index.json; both are null if
/// no family has that class.
struct found_pipeline {
  const family* of = nullptr;
  const model_pipeline* pipeline = nullptr;
};

found_pipeline find_pipeline(std::string_view class_name);

/// Returns the family whose denoisers have that class; null if none has.
const family* find_denoiser(std::string_view class_name);

/// Returns a setting of the model's family.
/// @pre the family has a setting of that name
bool setting_of(const model_files& x, std::string_view name);

/// Returns the image size that a denoiser was made for.
/// @param factor pixels of a side per element of the latent's side
core::extent native_extent(const denoiser_facts& denoiser, uint32_t factor);

/// Returns the facts of a model's denoiser, as reported by its family, and
/// checks that its parts fit each other.
/// Errors: those of family::facts; ec::internal if it threw; ec::bad_config if
///         the autoencoder's latents have other channels.
core::result<denoiser_facts> facts_by_family(const model_files& model);

} // namespace atelier::gpu
