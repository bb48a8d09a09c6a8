// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/model_files.hpp>

#include <cstdint>

namespace atelier::gpu {

/// The activation between the two matrices of a BERT layer.
enum class bert_activation : uint8_t {
  /// x * Phi(x), by the error function.
  gelu,
  /// The approximation of gelu by tanh.
  gelu_tanh,
  relu,
};

/// Shape of a BERT encoder.
struct bert_config {
  int64_t vocab_size = 30522;
  int64_t hidden_size = 768;
  int64_t intermediate_size = 3072;
  int64_t layers = 12;
  int64_t heads = 12;
  int64_t max_position_embeddings = 512;
  /// Number of sentence types; every token here is of the first.
  int64_t types = 2;
  bert_activation activation = bert_activation::gelu;
  double layer_norm_eps = 1e-12;
};

/// Reads the configuration of a BertModel as transformers 4 and 5 write it.
/// Missing keys have transformers' defaults. Keys that do not affect inference
/// are ignored.
/// Errors: ec::bad_config; the text names the file, the key and its value.
/// Threads: any.
/// Source: transformers, models/bert/configuration_bert.py.
core::result<bert_config> read_bert_config(const component& from);

} // namespace atelier::gpu
