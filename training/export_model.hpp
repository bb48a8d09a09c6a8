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

/// One network of a model that is written.
struct exported_network {
  /// Text of its config.json.
  std::string config;
  /// Null: it is that of `same_as`.
  std::shared_ptr<const tensor_source> weights;
  /// Where the same network lies already, relative to the model's folder, such
  /// as "../base/vae": a symbolic link is made to it.
  std::filesystem::path same_as;
};

/// What a trained model's folder is made of.
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
  /// Text of README.md, see model_card.hpp.
  std::string card;
  /// The type of all weights.
  tensor_type as = tensor_type::float16;
  /// Replace a model that has the name already.
  bool replace = false;
};

/// Write a folder that diffusers' StableDiffusionPipeline and open_model load
/// as it is: model_index.json, unet/, vae/, text_encoder/, tokenizer/,
/// scheduler/, and beside them vae_preview/, known_words.txt, atelier.json,
/// README.md and SHA256SUMS, which sha256sum --check reads. The folder appears
/// whole or not at all. Every network's tensors are compared with its
/// configuration first. Errors: ec::bad_config, ec::bad_payload (a tensor
/// missing, extra or of
///         another shape); ec::invalid_argument (`to` is taken, a number does
///         not fit the type); ec::io_failed. Nothing is left behind then.
/// Threads: any.
core::result<void> export_model(const model_export& what,
                                const std::filesystem::path& to);

/// A network alone that is written, such as the scorer.
struct network_export {
  /// Text of its config.json.
  std::string config;
  std::shared_ptr<const tensor_source> weights;
  /// Other files by name: README.md, those of the tokenizer.
  std::map<std::string, std::string> texts;
  /// The type of all weights.
  tensor_type as = tensor_type::float16;
  /// Replace a network that has the name already.
  bool replace = false;
};

/// Write config.json, model.safetensors, `what.texts` and SHA256SUMS to one
/// folder, which appears whole or not at all.
/// Errors: as export_model, but tensors are compared with nothing.
/// Threads: any.
core::result<void> export_network(const network_export& what,
                                  const std::filesystem::path& to);

/// Return an export with what needs no training: the tokenizer, the words, the
/// noise levels, and how the member wants to be used.
model_export family_export(family_member x = family_member::base);

/// Compare a folder's files with its SHA256SUMS.
/// Errors: ec::not_found (no such file), ec::io_failed, ec::bad_payload (a file
///         is not what it was; the text names it).
core::result<void> check_sums(const std::filesystem::path& folder);

} // namespace atelier::gpu
