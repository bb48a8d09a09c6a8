// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace atelier::gpu {

/// The content of a trained network's card.
struct model_card {
  std::string name;
  /// These two are the keys that model hubs sort by; empty ones are omitted.
  std::string library = "diffusers";
  std::string task = "text-to-image";
  /// These three are one Markdown paragraph each.
  std::string what_it_is;
  std::string data;
  std::string recipe;
  /// Paragraphs about what the network cannot do.
  std::string limits;
  double minutes = 0;
  uint64_t seed = 0;
  /// Measured figures, with their names and how they were measured, in the
  /// order of the table.
  std::vector<std::pair<std::string, std::string>> figures;
  /// The command that reproduces the network.
  std::string command;
};

/// Returns the card in Markdown, with the metadata header that model hubs read.
/// Empty parts are omitted.
std::string to_markdown(const model_card& x);

} // namespace atelier::gpu
