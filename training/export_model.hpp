// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/captions/vocabulary.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/training/family.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atelier::gpu {

/// One network of an exported model.
struct exported_network {
  /// Text of its config.json.
  std::string config;
  /// Null if the network is that of `same_as`.
  std::shared_ptr<const tensor_source> weights;
  /// The folder of an existing copy of the network, relative to the model's
  /// folder, such as "../base/vae"; a symbolic link to it is made.
  std::filesystem::path same_as;
};

/// The contents of a trained model's folder.
struct model_export {
  exported_network unet;
  exported_network vae;
  exported_network text_encoder;
  /// AutoencoderTiny, in vae_preview/.
  std::optional<exported_network> preview;
  /// Text of scheduler_config.json.
  std::string scheduler;
  /// Files of the tokenizer by name.
  std::map<std::string, std::string> tokenizer;
  known_words words;
  model_traits traits;
  /// Text of README.md; see model_card.hpp.
  std::string card;
  /// The type of all weights.
  tensor_type as = tensor_type::float16;
  /// Replaces an existing model of the same name.
  bool replace = false;
};

/// Writes a folder that diffusers' StableDiffusionPipeline and open_model load
/// unchanged: model_index.json, unet/, vae/, text_encoder/, tokenizer/ and
/// scheduler/, and also vae_preview/, known_words.txt, atelier.json, README.md
/// and SHA256SUMS, which sha256sum --check reads. The folder appears whole or
/// not at all. Every network's tensors are compared with its configuration
/// first.
/// Errors: ec::bad_config, ec::bad_payload (a tensor is missing, extra or of
///         another shape), ec::invalid_argument (`to` exists, or a number does
///         not fit the type), ec::io_failed. After an error nothing is left
///         behind.
/// Threads: any.
core::result<void> export_model(const model_export& what,
                                const std::filesystem::path& to);

/// A single exported network, such as the scorer.
struct network_export {
  /// Text of its config.json.
  std::string config;
  std::shared_ptr<const tensor_source> weights;
  /// Other files by name: README.md and the tokenizer's files.
  std::map<std::string, std::string> texts;
  /// The type of all weights.
  tensor_type as = tensor_type::float16;
  /// Replaces an existing network of the same name.
  bool replace = false;
};

/// Writes config.json, model.safetensors, `what.texts` and SHA256SUMS to one
/// folder, which appears whole or not at all.
/// Errors: those of export_model, except that tensors are not compared with a
///         configuration.
/// Threads: any.
core::result<void> export_network(const network_export& what,
                                  const std::filesystem::path& to);

/// Returns an export with the parts that need no training: the tokenizer, the
/// words, the noise levels, and the member's preferred settings.
model_export family_export(family_member x = family_member::base);

/// Compares a folder's files with its SHA256SUMS.
/// Errors: ec::not_found (no such file), ec::io_failed, ec::bad_payload (a file
///         has changed; the text names it).
core::result<void> check_sums(const std::filesystem::path& folder);

} // namespace atelier::gpu
