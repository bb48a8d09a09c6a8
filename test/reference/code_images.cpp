// SPDX-License-Identifier: Apache-2.0
// code_images write FORMAT QUALITY WIDTH HEIGHT CHANNELS TEXT
//   reads pixels, writes the file.
// code_images read
//   reads a file, writes a line "WIDTH HEIGHT CHANNELS TEXT_BYTES", the text
//   and the pixels.
// code_images scale WIDTH HEIGHT FILTER
//   reads a file, writes its image upright and scaled by the filter (lanczos,
//   bicubic or bilinear), as three channels.
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/geometry.hpp>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

using namespace atelier;

namespace {

std::vector<uint8_t> read_input() {
  const std::istreambuf_iterator<char> begin{std::cin};
  return {begin, {}};
}

template <class Bytes>
void write_output(const Bytes& x) {
  std::fwrite(x.data(), 1, x.size(), stdout);
}

int fail(const core::error& what) {
  std::fprintf(stderr, "%s\n", to_string(what).c_str());
  return 1;
}

int write_file(char** args) {
  const auto number = [&](int i) {
    return static_cast<uint32_t>(std::stoul(args[i]));
  };
  const auto pixels = read_input();
  const image::pixel_view view{{number(2), number(3)}, number(4), pixels};
  const core::encoding how{*core::parse_image_format(args[0]), number(1)};
  const auto file = image::encode(view, how, args[5]);
  if (!file)
    return fail(file.why());
  write_output(*file);
  return 0;
}

int read_file() {
  const auto file = read_input();
  const auto pixels = image::decode(file);
  if (!pixels)
    return fail(pixels.why());
  const auto text = image::read_text(file).value_or("");
  std::printf("%u %u %u %zu\n", pixels->px.width, pixels->px.height,
              pixels->channels, text.size());
  write_output(text);
  write_output(pixels->bytes);
  return 0;
}

int scale_file(char** args) {
  const auto file = read_input();
  const auto head = image::read_header(file);
  auto pixels = image::decode(file);
  if (!head || !pixels)
    return fail(head ? pixels.why() : head.why());
  const auto whole =
    image::opaque(image::upright(*std::move(pixels), head->orientation));
  if (whole.px != head->upright_px())
    return fail(
      core::fail(core::ec::internal, "the header tells another size"));
  const core::extent to{static_cast<uint32_t>(std::stoul(args[0])),
                        static_cast<uint32_t>(std::stoul(args[1]))};
  const std::string by = args[2];
  const auto scaled =
    image::resize(whole.view(), to, {},
                  by == "bicubic"    ? image::scaling_filter::bicubic
                  : by == "bilinear" ? image::scaling_filter::bilinear
                                     : image::scaling_filter::lanczos);
  if (!scaled)
    return fail(scaled.why());
  write_output(scaled->bytes);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 8 && std::string{argv[1]} == "write")
    return write_file(argv + 2);
  if (argc == 2 && std::string{argv[1]} == "read")
    return read_file();
  if (argc == 5 && std::string{argv[1]} == "scale")
    return scale_file(argv + 2);
  return 2;
}
