// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/gpu/models/family.hpp>

#include <string_view>

namespace atelier::test {

/// The class of the family's pipeline in model_index.json.
inline constexpr std::string_view host_pipeline_class = "HostPipeline";

/// Returns a host's family: the U-Net's, under its own pipeline. Its loader
/// throws if the folder contains a file "broken", and ends its process by a
/// signal if it contains a file "deadly".
const gpu::family* host_family();

} // namespace atelier::test
