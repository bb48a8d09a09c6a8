// SPDX-License-Identifier: Apache-2.0
// One picture, the shortest way: first_image [FILE] [PROMPT]

#include <atelier/atelier.hpp>

#include <fstream>
#include <iostream>
#include <string>
#include <variant>

namespace {

int complain(const std::string& what) {
  std::cerr << "first_image: " << what << '\n';
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "first_image.png";

  // Without options: one process, one device, the built-in test card.
  auto started = atelier::engine::start({});
  if (const auto* why = std::get_if<atelier::failure>(&started))
    return complain(why->text);
  auto& engine = *std::get<std::unique_ptr<atelier::engine>>(started);

  atelier::generation wanted;
  wanted.prompt = argc > 2 ? argv[2] : "a red circle above a blue square";
  auto handed_in = engine.submit(wanted);
  if (const auto* why = std::get_if<atelier::failure>(&handed_in))
    return complain(why->text);

  const auto answer = std::get<atelier::submission>(handed_in).result.get();
  if (const auto* why = std::get_if<atelier::failure>(&answer))
    return complain(why->text);
  const auto& picture = std::get<atelier::picture>(answer);

  std::ofstream out{file, std::ios::binary};
  out.write(reinterpret_cast<const char*>(picture.bytes.data()),
            static_cast<std::streamsize>(picture.bytes.size()));
  out.close();
  if (!out)
    return complain("cannot write " + file);
  std::cout << file << ": " << picture.width << " x " << picture.height
            << ", seed " << picture.seed << ", " << picture.steps
            << " steps of " << picture.variant << '\n';
}
