// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/family.hpp>

#include <string_view>

namespace atelier::test {

/// The class in model_index.json of the family's pipeline.
inline constexpr std::string_view host_pipeline_class = "HostPipeline";

/// Returns a family of the host's: the U-Net's, under a pipeline of its own.
/// Its loader throws where the folder has a file "broken".
const gpu::family* host_family();

} // namespace atelier::test
