// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace atelier::gpu {

/// How the states of a text's tokens become one vector.
enum class sentence_pooling : uint8_t {
  /// Their mean.
  mean,
  /// The state of the first token.
  first,
};

/// A sentence encoder on disk: BERT, its tokenizer, and the vector of a text.
struct sentence_folder {
  component network;
  tokenizer_files words;
  sentence_pooling pooling = sentence_pooling::mean;
  /// The longest sequence; empty: as the network and the tokenizer allow.
  std::optional<uint32_t> most_tokens;
};

/// Opens a folder as sentence-transformers writes it (modules.json,
/// sentence_bert_config.json, the folder of a Pooling) or as transformers does
/// (without them, which means the mean of all tokens).
/// Errors: ec::not_found, ec::io_failed, ec::bad_config, ec::bad_payload; the
///         text names the file, and the key with its value.
/// Threads: any.
/// Source: sentence_transformers, models/Transformer.py and models/Pooling.py.
core::result<sentence_folder> open_sentence_folder(
  const std::filesystem::path& folder);

/// Returns the folder of the network in `folder`: for sentence-transformers the
/// one that modules.json names, otherwise `folder` itself.
/// Errors: as open_sentence_folder.
core::result<std::filesystem::path> network_folder(
  const std::filesystem::path& folder);

} // namespace atelier::gpu
