// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/tensor_source.hpp>

#include <memory>

namespace atelier::gpu::detail {

/// Returns the tensors of the BertModel in a file, under its own names. Its
/// pooler, heads for training and constants are left out. Older files call the
/// weight and bias of a norm gamma and beta. If the file is of a larger model,
/// the names begin with "bert.".
/// Source: transformers, models/bert/modeling_bert.py.
std::shared_ptr<const tensor_source> name_bert_text(
  std::shared_ptr<const tensor_source> from);

} // namespace atelier::gpu::detail
