// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>

namespace atelier::runtime::http::detail {

/// Returns the parameters of an image that ComfyUI or NovelAI made, as the web
/// UI writes its own, from the texts of the file with their keywords. Empty if
/// the texts hold no such parameters. A graph of ComfyUI has those of its first
/// sampler.
/// Threads: any.
std::string foreign_infotext(
  std::span<const std::pair<std::string, std::string>> texts);

} // namespace atelier::runtime::http::detail
