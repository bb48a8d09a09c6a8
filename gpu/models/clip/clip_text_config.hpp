// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <cstdint>
#include <memory>

namespace atelier::gpu {

class tokenizer;

namespace detail {
struct tensor_table;
} // namespace detail

/// The activation between the two matrices of an encoder's layer.
enum class clip_activation : uint8_t {
  /// x * sigmoid(1.702 x): CLIP as first published.
  quick_gelu,
  /// x * Phi(x), by the error function.
  gelu,
  /// The approximation of gelu by tanh.
  gelu_tanh,
};

/// The token whose state represents the whole prompt.
enum class clip_pooling : uint8_t {
  /// The largest id, which is the end token in CLIP's own vocabulary.
  largest_id,
  /// The first `eos_token_id`.
  first_end,
};

/// Shape of a CLIP text encoder.
struct clip_text_config {
  int64_t vocab_size = 49408;
  int64_t hidden_size = 512;
  int64_t intermediate_size = 2048;
  int64_t layers = 12;
  int64_t heads = 8;
  int64_t max_position_embeddings = 77;
  clip_activation activation = clip_activation::quick_gelu;
  double layer_norm_eps = 1e-5;
  clip_pooling pooling = clip_pooling::first_end;
  int64_t eos_token_id = 49407;
  /// 0 for CLIPTextModel, whose pooled state is not projected.
  int64_t projection_dim = 0;
};

/// Reads the configuration of CLIPTextModel or CLIPTextModelWithProjection as
/// transformers 4 and 5 write it. Missing keys have the defaults of
/// transformers 5. Keys that do not affect inference are ignored.
/// Errors: ec::bad_config; the text names the file, the key and its value.
/// Threads: any.
/// Source: transformers, models/clip/configuration_clip.py.
core::result<clip_text_config> read_clip_text_config(const component& from);

/// Adds the tensors of an encoder of that shape. All names begin with
/// "text_model.", except the projection.
/// Source: transformers, models/clip/modeling_clip.py.
void expect_clip_text(const clip_text_config& config, detail::tensor_table& to);

/// Loads a text encoder's vocabulary and checks that the encoder has a vector
/// for each of its ids. If `encoder` is null, nothing is compared.
/// Errors: those of tokenizer::load and read_clip_text_config;
///         ec::bad_payload.
core::result<std::shared_ptr<const tokenizer>> load_words(
  const tokenizer_files& from, const component* encoder);

} // namespace atelier::gpu
