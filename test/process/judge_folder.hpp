// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace atelier::test {

/// Writes a judge of images that has learned nothing, as `atelier train
/// export` writes the family's.
void write_judge(const std::filesystem::path& folder);

} // namespace atelier::test
