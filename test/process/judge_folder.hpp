// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace atelier::test {

/// Writes an untrained judge of images in the format of `atelier train export`.
void write_judge(const std::filesystem::path& folder);

} // namespace atelier::test
