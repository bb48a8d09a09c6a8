// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What sets one family of models apart, without its networks: how its folders
// and files are read, and what planning must know of them. LibTorch is not
// needed here; a family's networks stand behind `model` (model.hpp). Functions
// of a host's family may throw: who calls them has a border.

namespace atelier::gpu {

struct component;
class model;
struct model_files;
struct model_file_options;
struct placement;
class safetensors_file;

namespace detail {
struct tensor_table;
} // namespace detail

/// One of diffusers' pipelines: how a family's parts are put together.
/// A pipeline is known by its address.
struct model_pipeline {
  /// What users are told, such as "stable_diffusion_xl".
  std::string_view name;
  /// Classes in model_index.json; an import writes the first.
  std::span<const std::string_view> classes;
  /// The text encoders without which it draws nothing.
  bool text_encoder = true;
  bool text_encoder_2 = false;
  /// A missing text encoder is written to model_index.json as null.
  bool writes_missing_text = false;
  /// Settings of its family that an import writes.
  std::span<const std::string_view> written_settings = {};
  /// What else an import writes to model_index.json: a JSON object.
  std::string_view written_index = "{}";
  /// What diffusers takes where nobody says otherwise.
  float guidance = 7.5f;
  uint32_t steps = 50;
  /// Another pipeline whose models lend parts to this one's; may be null.
  const model_pipeline* teacher = nullptr;
};

/// A boolean of model_index.json that bears on the image.
struct model_setting {
  std::string_view name;
  bool otherwise = false;
};

/// What a denoiser's configuration says to planning.
struct denoiser_facts {
  /// A side of the latents that it was made for.
  int64_t latent_side = 64;
  /// Channels of its latents; 0: not checked, as some take a mask besides.
  int64_t latent_channels = 0;
};

struct family {
  /// Messages name it so: "unet".
  std::string_view name;
  std::span<const model_pipeline* const> pipelines;
  /// The denoiser's folder in a model, and its class in diffusers.
  std::string_view denoiser_part;
  std::string_view denoiser_class;
  /// Settings in model_index.json.
  std::span<const model_setting> settings;

  /// Adds the tensors that the denoiser's configuration asks for.
  /// Errors: ec::bad_config.
  core::result<void> (*expect)(const component& denoiser,
                               detail::tensor_table& to);
  /// Returns what the denoiser's configuration says; checks that text encoders,
  /// where they are there, fit it.
  /// Errors: ec::bad_config.
  core::result<denoiser_facts> (*facts)(const model_files& model);
  /// Sets what all parts together tell, such as the pipeline of a denoiser
  /// that stands alone; `pipeline` is null there. May be null.
  /// Errors: ec::bad_payload.
  core::result<void> (*settle)(model_files& model) = nullptr;

  /// Tells by its tensors' sorted names whether a single file is one of the
  /// family's models; null: the family reads folders alone.
  bool (*knows_file)(std::span<const std::string> names) = nullptr;
  /// Opens such a file; told one of no family, it says what it looks like.
  /// `path`: where the file stands.
  core::result<model_files> (*open_file)(
    std::shared_ptr<const safetensors_file> file,
    const std::filesystem::path& path,
    const model_file_options& options) = nullptr;

  /// Loads the networks of a host's family; null: nothing does. Those of
  /// Atelier's own stand in family_loaders.cpp.
  core::result<std::shared_ptr<const model>> (*load)(
    const model_files& from, const placement& where) = nullptr;
};

/// Every family, in the order in which users are told of them: Atelier's own,
/// then the added ones.
/// Threads: any; what was returned stays valid.
std::span<const family* const> families();

/// Adds a host's family to those of this process, for good; one that is there
/// already is not added again. The row must live as long as the process.
/// Errors: ec::bad_config where it is null, lacks a name, pipelines, a part, a
///         class, `expect` or `facts`, or has the name, or a pipeline's class,
///         of another; ec::out_of_resources where there are too many.
/// Threads: any.
core::result<void> add_family(const family* x);

/// Returns the family and the pipeline of a class in model_index.json; the
/// pipeline is null where there is none.
struct found_pipeline {
  const family* of = nullptr;
  const model_pipeline* pipeline = nullptr;
};

found_pipeline find_pipeline(std::string_view class_name);

/// Returns the family whose denoisers have that class; null: none.
const family* find_denoiser(std::string_view class_name);

} // namespace atelier::gpu
