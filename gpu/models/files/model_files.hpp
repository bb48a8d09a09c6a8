// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/known_words.hpp>
#include <atelier/gpu/models/files/model_traits.hpp>
#include <atelier/gpu/models/files/tensor_source.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::gpu {

struct family;
struct model_pipeline;

/// One network: its configuration as diffusers writes it, and its weights.
struct component {
  /// Text of config.json; inferred from the shapes if the model is one file.
  std::string config;
  /// Location of `config`, for messages.
  std::string config_file;
  /// The class that the model names, such as "UNet2DConditionModel".
  std::string class_name;
  std::shared_ptr<const tensor_source> weights;
  /// The files that hold the weights.
  std::vector<std::filesystem::path> files;
};

/// The location of a tokenizer's vocabulary: either `tokenizer_json`, or both
/// others. If a folder has all of them, `tokenizer_json` is read, as in
/// transformers.
struct tokenizer_files {
  std::filesystem::path vocab;
  std::filesystem::path merges;
  std::filesystem::path tokenizer_json;

  /// The file with the tokens.
  const std::filesystem::path& words() const {
    return tokenizer_json.empty() ? vocab : tokenizer_json;
  }

  /// Text of tokenizer_config.json and special_tokens_map.json; may be empty.
  std::string config;
  std::string special_tokens;
};

/// A model on disk, opened: every part found, nothing computed yet.
struct model_files {
  std::filesystem::path from;
  /// Not null in the result of open_model (catalog/open_model.hpp).
  const struct family* family = nullptr;
  const model_pipeline* pipeline = nullptr;
  /// The class in model_index.json, and the parts that it names; empty without
  /// that file.
  std::string class_name;
  std::vector<std::string> named_parts;
  component denoiser;
  component vae;
  /// An AutoencoderTiny for the same latents, used for previews: vae_preview/
  /// beside the other parts.
  std::optional<component> preview;
  std::optional<component> text_encoder;
  std::optional<component> text_encoder_2;
  std::optional<tokenizer_files> tokenizer;
  std::optional<tokenizer_files> tokenizer_2;
  /// Text of scheduler_config.json, and its location.
  std::string scheduler;
  std::string scheduler_file;
  /// Settings of the family that differ from their defaults.
  std::map<std::string, bool, std::less<>> settings;
  /// Words that the model was trained on (known_words.txt); empty: unknown.
  known_words words;
  /// Its recommended use (atelier.json).
  model_traits traits;
  /// Known parts that are not used, such as "safety_checker" in a folder and
  /// "model_ema" in a file.
  std::vector<std::string> not_loaded;
};

struct model_file_options {
  /// A folder or file whose autoencoder replaces the model's.
  std::optional<std::filesystem::path> vae;
  /// A model that lends the parts which this one lacks, for example if this is
  /// only a denoiser.
  std::optional<std::filesystem::path> parts_from;
  /// The prediction of the denoiser: "epsilon", "v_prediction" or "sample". If
  /// empty, the model's own setting is used, or otherwise the default of
  /// diffusers for its kind.
  std::string prediction_type;
  /// The spacing of the steps: "leading", "trailing" or "linspace"; empty as
  /// above.
  std::string timestep_spacing;
  /// Folder with CLIP's own vocab.json and merges.txt, for models without them.
  std::filesystem::path vocabulary;
  /// The preferred variant of weight files, if a folder has several (diffusers'
  /// variants): "fp16" prefers *.fp16.safetensors; empty prefers files without
  /// a variant.
  std::string variant;
  /// Whether links in a folder may lead anywhere: see
  /// catalog/detail/folder_links.hpp.
  bool links_anywhere = false;
};

} // namespace atelier::gpu
