// SPDX-License-Identifier: Apache-2.0
#pragma once

// Draws one image with an engine of this process.
#include <atelier/atelier.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

inline bool is_png(const std::vector<uint8_t>& bytes) {
  constexpr std::array<uint8_t, 8> signature{0x89, 'P',  'N',  'G',
                                             '\r', '\n', 0x1a, '\n'};
  return bytes.size() > signature.size()
      && std::equal(signature.begin(), signature.end(), bytes.begin());
}

inline bool complain(const atelier::failure& why) {
  std::cerr << why.code << ": " << why.text << '\n';
  return false;
}

inline bool makes_a_image(const std::string& mode, size_t processes) {
  atelier::engine_options options;
  options.set = {"processes.mode = \"" + mode + "\"", "arena.image_slots = 4",
                 "arena.state_slots = 4"};
  auto started = atelier::engine::start(options);
  if (const auto* why = std::get_if<atelier::failure>(&started))
    return complain(*why);
  auto& engine = *std::get<std::unique_ptr<atelier::engine>>(started);
  const auto status = engine.status();
  if (status.processes.size() != processes) {
    std::cerr << mode << ": " << status.processes.size() << " processes\n";
    return false;
  }
  atelier::generation wanted;
  wanted.prompt = "a red circle";
  auto handed_in = engine.submit(wanted);
  if (const auto* why = std::get_if<atelier::failure>(&handed_in))
    return complain(*why);
  const auto answer = std::get<atelier::submission>(handed_in).result.get();
  if (const auto* why = std::get_if<atelier::failure>(&answer))
    return complain(*why);
  if (!is_png(std::get<atelier::generated_image>(answer).bytes)) {
    std::cerr << mode << ": no PNG signature\n";
    return false;
  }
  return engine.stop(std::chrono::seconds{10});
}
