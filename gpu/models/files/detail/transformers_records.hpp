// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/files/detail/network_fields.hpp>

namespace atelier::gpu::detail {

/// Ignores keys that every transformers configuration may have for generating
/// text, training or its own records.
void ignore_records(network_fields& in);

} // namespace atelier::gpu::detail
