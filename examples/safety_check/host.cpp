// SPDX-License-Identifier: Apache-2.0
// A host that adds its own stage and policy.
//
//   safety_check          runs everything in this process
//   safety_check WORKER   runs WORKER as the program of the other processes
//
// It draws the test card, which is darker the closer it is to a square. To use
// models instead, name them in devices[0].variants, the small one first. Then
// "a red circle on a black background" is refused.

#include "safety_check.hpp"
#include <atelier/atelier.hpp>

#include <chrono>
#include <iostream>
#include <string>

namespace {

atelier::engine_options options_for(const std::string& worker) {
  atelier::engine_options options;
  options.set = {"policy.name = 'by_length'",
                 "devices = [{name = 'cpu:0', executor = 'test_card', "
                 "variants = ['small@2', 'large@8']}]"};
  if (worker.empty()) {
    options.set.emplace_back("processes.mode = 'single'");
  } else {
    options.set.emplace_back("processes.mode = 'split'");
    options.set.push_back("processes.program = '" + worker + "'");
  }
  options.extend = my_extensions();
  return options;
}

void draw(atelier::engine& engine, const std::string& prompt, uint32_t width,
          uint32_t height) {
  atelier::generation wanted;
  wanted.prompt = prompt;
  wanted.width = width;
  wanted.height = height;
  wanted.seed = 7;
  const auto answer = engine.submit(wanted).value().result.get();
  std::cout << prompt << ": "
            << (answer ? answer.value().variant : answer.why().text) << '\n';
}

} // namespace

int main(int count, char** arguments) {
  try {
    const std::string worker = count > 1 ? arguments[1] : "";
    const auto engine = atelier::engine::start(options_for(worker)).value();
    draw(*engine, "a red circle", 384, 96);
    draw(*engine, "a red circle above two blue squares", 384, 96);
    draw(*engine, "a dark night", 128, 128);
    return engine->stop(std::chrono::seconds{10}) ? 0 : 1;
  } catch (const atelier::failed& e) {
    std::cerr << "safety_check: " << e.why().code << ": " << e.what() << '\n';
    return 1;
  }
}
