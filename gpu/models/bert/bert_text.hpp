// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/bert/bert_config.hpp>
#include <atelier/gpu/models/files/model_files.hpp>
#include <atelier/gpu/models/layers/placement.hpp>

#include <torch/torch.h>

#include <memory>

namespace atelier::gpu {

/// The BertModel of transformers without its pooler. Files of a BertForMaskedLM
/// or BertForPreTraining contain one.
/// Threads: one at a time; records no autograd state.
class bert_text {
public:
  /// Errors: those of read_bert_config; ec::bad_payload (a tensor is missing,
  ///         unknown or of another shape), ec::out_of_resources, ec::internal.
  static core::result<std::unique_ptr<bert_text>> load(const component& from,
                                                       const placement& where);

  ~bert_text();
  bert_text(const bert_text&) = delete;
  bert_text& operator=(const bert_text&) = delete;

  /// Returns the states after the last layer, [n, tokens, hidden_size].
  /// @param ids [n, tokens], int64; at most max_position_embeddings tokens
  /// @param present [n, tokens], bool: false for padding, which no token sees;
  ///        each row has a token
  /// Throws c10::Error.
  torch::Tensor forward(const torch::Tensor& ids,
                        const torch::Tensor& present) const;

  const bert_config& config() const;

private:
  struct impl;
  explicit bert_text(std::unique_ptr<impl> x);
  std::unique_ptr<impl> impl_;
};

} // namespace atelier::gpu
