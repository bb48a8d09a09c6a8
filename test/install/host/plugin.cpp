// SPDX-License-Identifier: Apache-2.0
// A shared library that contains the engine.
#include <atelier/atelier.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <variant>

extern "C" bool draws_an_image(const char* mode) {
  const auto complain = [&](const atelier::failure& why) {
    std::cerr << mode << ": " << why.code << ": " << why.text << '\n';
    return false;
  };
  atelier::engine_options options;
  options.set = {std::string{"processes.mode = \""} + mode + "\"",
                 "arena.image_slots = 4", "arena.state_slots = 4"};
  auto started = atelier::engine::start(options);
  if (const auto* why = std::get_if<atelier::failure>(&started))
    return complain(*why);
  auto& engine = *std::get<std::unique_ptr<atelier::engine>>(started);
  atelier::generation wanted;
  wanted.prompt = "a red circle";
  auto handed_in = engine.submit(wanted);
  if (const auto* why = std::get_if<atelier::failure>(&handed_in))
    return complain(*why);
  const auto answer = std::get<atelier::submission>(handed_in).result.get();
  if (const auto* why = std::get_if<atelier::failure>(&answer))
    return complain(*why);
  return engine.stop(std::chrono::seconds{10});
}
