// SPDX-License-Identifier: Apache-2.0
// Draws one image, in as little code as possible: first_image [FILE] [PROMPT]

#include <atelier/atelier.hpp>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

int main(int argc, char** argv) {
  try {
    const std::string file = argc > 1 ? argv[1] : "first_image.png";

    // The defaults are one process, one device and the shipped models.
    const auto engine = atelier::engine::start({}).value();

    atelier::generation wanted;
    wanted.prompt = argc > 2 ? argv[2] : "a red circle above a blue square";
    auto submitted = engine->submit(wanted).value();

    const auto image = submitted.result.get().value();
    std::ofstream out{file, std::ios::binary};
    out.write(reinterpret_cast<const char*>(image.bytes.data()),
              static_cast<std::streamsize>(image.bytes.size()));
    out.close();
    if (!out)
      throw std::runtime_error{"cannot write " + file};
    std::cout << file << ": " << image.width << " x " << image.height
              << ", seed " << image.seed << ", " << image.steps << " steps of "
              << image.variant << '\n';
  } catch (const std::exception& e) {
    std::cerr << "first_image: " << e.what() << '\n';
    return 1;
  }
}
