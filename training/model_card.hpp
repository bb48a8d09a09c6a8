// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu {

/// What a trained network's card says.
struct model_card {
  std::string name;
  /// What model hubs sort by; empty: left out.
  std::string library = "diffusers";
  std::string task = "text-to-image";
  /// One paragraph each, in Markdown.
  std::string what_it_is;
  std::string data;
  std::string recipe;
  /// Paragraphs on what it cannot do.
  std::string limits;
  double minutes = 0;
  uint64_t seed = 0;
  /// Measured figures, with their names and how they were measured, in the
  /// order of the table.
  std::vector<std::pair<std::string, std::string>> figures;
  /// The command that makes it again.
  std::string command;
};

/// Return the card in Markdown, with the head that model hubs read. Parts that
/// are empty are left out.
std::string to_markdown(const model_card& x);

} // namespace atelier::gpu
