// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/gpu/bitmap_font.hpp>
#include <atelier/gpu/canvas.hpp>
#include <atelier/gpu/test_card.hpp>
#include <atelier/ipc/checksum.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>

namespace atelier::gpu {

namespace {

using detail::box;
using detail::canvas;
using detail::colour;
using detail::disc;

/// Mixes 64 bits, one to one.
/// Source: Stafford's "Mix13", the finaliser of SplitMix64.
constexpr uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

constexpr uint64_t fold(uint64_t key, uint64_t next) {
  return mix((key ^ next) + 0x9E3779B97F4A7C15ull);
}

uint64_t fold(uint64_t key, std::string_view text) {
  for (const auto c : text)
    key = (key ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return fold(key, text.size());
}

constexpr colour black{12, 12, 14};
constexpr colour white{236, 236, 232};
constexpr colour ground{62, 67, 78};
constexpr colour line{126, 132, 144};

constexpr auto bars = std::to_array<colour>({{204, 204, 204},
                                             {204, 204, 16},
                                             {16, 204, 204},
                                             {16, 204, 16},
                                             {204, 16, 204},
                                             {204, 16, 16},
                                             {16, 16, 204},
                                             {16, 16, 16}});

/// Divides `area` into `n` columns and fills each with what `with` returns.
template <class F>
void columns(canvas& on, const box& area, int n, F with) {
  const auto width = area.right - area.left;
  for (auto i = 0; i < n; ++i)
    on.fill({area.left + i * width / n, area.top,
             area.left + (i + 1) * width / n, area.bottom},
            with(i));
}

/// A rectangle of the latent's plane, with all channels.
struct patch {
  uint32_t column = 0;
  uint32_t row = 0;
  uint32_t columns = 1;
  uint32_t rows = 1;
};

/// Colours a patch by the elements under it: teal on the left to amber on the
/// right, each channel offset by -64..63, seven bits of the elements' hash.
colour colour_of(std::span<const float> latent, core::latent_shape shape,
                 const patch& p) {
  const auto begin = [](uint32_t i, uint32_t n, uint32_t side) {
    return static_cast<uint32_t>(uint64_t{i} * side / n);
  };
  const auto left = begin(p.column, p.columns, shape.width);
  const auto right =
    std::max(begin(p.column + 1, p.columns, shape.width), left + 1);
  const auto top = begin(p.row, p.rows, shape.height);
  const auto bottom = std::max(begin(p.row + 1, p.rows, shape.height), top + 1);
  auto hash = uint64_t{0};
  for (auto c = 0u; c < shape.channels; ++c)
    for (auto y = top; y < bottom; ++y)
      for (auto x = left; x < right; ++x) {
        const auto at = (size_t{c} * shape.height + y) * shape.width + x;
        hash = fold(hash, std::bit_cast<uint32_t>(latent[at]));
      }
  const auto along =
    static_cast<int>(p.columns > 1 ? 255 * p.column / (p.columns - 1) : 128);
  const auto channel = [&](int from, int to, int shift) {
    const auto jitter = static_cast<int>(hash >> shift & 127) - 64;
    return static_cast<uint8_t>(
      std::clamp(from + (to - from) * along / 255 + jitter, 0, 255));
  };
  return {channel(70, 190, 57), channel(128, 120, 50), channel(150, 70, 43)};
}

void draw_patches(canvas& on, const box& area, int side,
                  std::span<const float> latent, core::latent_shape shape) {
  const auto count = [&](int length) {
    return static_cast<uint32_t>(std::max(length / side, 1));
  };
  const auto n = count(area.right - area.left);
  const auto m = count(area.bottom - area.top);
  const auto height = area.bottom - area.top;
  for (auto row = 0u; row < m; ++row) {
    const auto edge = [&](uint32_t i) {
      return area.top + static_cast<int>(i) * height / static_cast<int>(m);
    };
    columns(on, {area.left, edge(row), area.right, edge(row + 1)},
            static_cast<int>(n), [&](int column) {
              return colour_of(latent, shape,
                               {static_cast<uint32_t>(column), row, n, m});
            });
  }
}

void draw_ground(canvas& on) {
  const auto w = on.width();
  const auto h = on.height();
  on.fill({0, 0, w, h}, ground);
  const auto cell = std::max(std::min(w, h) / 14, 8);
  const auto thick = std::max(cell / 24, 1);
  for (auto x = w / 2 % cell; x < w; x += cell)
    on.fill({x - thick / 2, 0, x - thick / 2 + thick, h}, line);
  for (auto y = h / 2 % cell; y < h; y += cell)
    on.fill({0, y - thick / 2, w, y - thick / 2 + thick}, line);
  // Battlements make it visible at a glance whether an edge is cut off.
  const auto deep = std::max(cell / 3, 2);
  const auto shade = [](int i) { return i % 2 == 0 ? white : black; };
  const auto across = w / cell | 1;
  const auto down = h / cell | 1;
  columns(on, {0, 0, w, deep}, across, shade);
  columns(on, {0, h - deep, w, h}, across, shade);
  for (auto i = 0; i < down; ++i)
    for (const auto left : {0, w - deep})
      on.fill({left, i * h / down, left + deep, (i + 1) * h / down}, shade(i));
}

/// Returns the start of `text` as the font can show it: one sign for each UTF-8
/// character.
std::string signs_of(std::string_view text) {
  constexpr size_t most = 80;
  std::string signs;
  for (const auto c : text.substr(0, 4 * most))
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
      signs += c;
  return signs.substr(0, most);
}

/// Writes as much of `text` as the row allows, centred in the disc, with whole
/// words if possible; returns the length written.
size_t write_in(canvas& on, const disc& in, int top, int scale, colour with,
                std::string_view text) {
  const auto bottom = top + static_cast<int>(detail::glyph_height) * scale;
  const auto half =
    std::min(in.half_width(top), in.half_width(bottom)) - 2 * scale;
  const auto advance = static_cast<int>(detail::glyph_width + 1) * scale;
  const auto room = static_cast<size_t>(std::max(2 * half / advance, 0));
  auto shown = text.substr(0, std::min(room, text.size()));
  if (shown.size() < text.size())
    if (const auto space = shown.rfind(' ');
        space != 0 && space != std::string_view::npos)
      shown = shown.substr(0, space);
  if (shown.empty())
    return 0;
  const auto width = static_cast<int>(shown.size()) * advance - scale;
  on.write(in.x - width / 2, top, scale, with, shown);
  return shown.size();
}

void draw_caption(canvas& on, const disc& in, int top, int scale,
                  const core::recipe& how, std::string_view prompt) {
  const auto pitch = static_cast<int>(detail::glyph_height + 3) * scale;
  top += 2 * scale;
  const auto signs = signs_of(prompt);
  const auto shown = write_in(on, in, top, scale, white, signs);
  const auto next = signs.find_first_not_of(' ', shown);
  if (shown > 0 && next != std::string::npos)
    write_in(on, in, top + pitch, scale, white,
             std::string_view{signs}.substr(next));
  write_in(on, in, top + 2 * pitch, scale, {240, 190, 90},
           "seed " + std::to_string(how.seed));
  write_in(on, in, top + 3 * pitch, scale, {240, 190, 90},
           std::to_string(how.steps) + " steps");
  write_in(on, in, top + 4 * pitch, scale, {240, 190, 90},
           std::to_string(how.px.width) + "x" + std::to_string(how.px.height));
}

void draw_card(std::span<const float> latent, core::latent_shape shape,
               const core::recipe& how, const core::prompt_pair& text,
               std::span<std::byte> rgb) {
  canvas on{rgb, how.px};
  const auto w = on.width();
  const auto h = on.height();
  const auto bar = [](int i) { return bars[static_cast<size_t>(i)]; };
  if (std::min(w, h) < 48) {
    const auto split = std::max(h / 4, 1);
    columns(on, {0, 0, w, split}, static_cast<int>(bars.size()), bar);
    draw_patches(on, {0, split, w, h}, std::max(std::min(w, h) / 8, 1), latent,
                 shape);
    return;
  }
  draw_ground(on);
  const auto r = std::min(w, h) * 46 / 100;
  const disc in{w / 2, h / 2, r};
  const auto left = in.x - r;
  const auto right = in.x + r;
  // Heights are in hundredths of the disc's.
  const auto level = [&](int hundredths) {
    return in.y - r + 2 * r * hundredths / 100;
  };
  const auto scale = std::max(r / 110, 1);
  on.clip(in);
  on.fill({left, level(0), right, level(100)}, black);
  write_in(on, in, level(10) - static_cast<int>(detail::glyph_height) * scale,
           2 * scale, white, r >= 55 ? "ATELIER" : "");
  columns(on, {left, level(19), right, level(35)},
          static_cast<int>(bars.size()), bar);
  // Narrow enough that the circle cuts off no patch.
  draw_patches(on,
               {in.x - r * 92 / 100, level(36), in.x + r * 92 / 100, level(60)},
               std::max(r / 12, 2), latent, shape);
  columns(on, {left, level(61), right, level(67)}, 11, [](int i) {
    const auto grey = static_cast<uint8_t>(i * 23 + 12);
    return colour{grey, grey, grey};
  });
  draw_caption(on, in, level(68), scale, how, text.positive);
  on.unclip();
  on.ring(in, std::max(r / 48, 1), white);
}

/// The maximum opacity of the card over a source, of 256: some of the source is
/// always visible, so that a wrong one is noticed.
constexpr int most_of_card = 224;

/// Blends the card in `rgb` over the source; where the mask is 0, only the
/// source is visible.
void lay_over(const source_parts& source, float strength,
              std::span<std::byte> rgb) {
  const auto of_card =
    std::clamp(static_cast<int>(strength * 256), 0, most_of_card);
  for (auto i = size_t{0}; i < rgb.size(); ++i) {
    const auto share =
      source.mask.empty() || source.mask[i / 3] != 0 ? of_card : 0;
    const auto card = std::to_integer<int>(rgb[i]);
    const int under = source.pixels[i];
    rgb[i] = static_cast<std::byte>((card * share + under * (256 - share) + 128)
                                    / 256);
  }
}

} // namespace

void test_card_step(std::span<float> latent, const core::recipe& how,
                    const core::prompt_pair& text, uint32_t step,
                    uint64_t source) {
  auto key = fold(step, how.steps);
  key = fold(key, uint64_t{how.variant.value} << 8
                    | static_cast<uint64_t>(how.sampler));
  key = fold(key, std::bit_cast<uint32_t>(how.guidance));
  key = fold(key, uint64_t{how.px.width} << 32 | how.px.height);
  if (how.guidance_rescale != 0 || how.eta != 0 || how.karras) {
    key = fold(key, std::bit_cast<uint32_t>(how.guidance_rescale));
    key = fold(key, std::bit_cast<uint32_t>(how.eta));
    key = fold(key, how.karras ? 1 : 2);
  }
  if (how.spacing != core::step_spacing::model)
    key = fold(key, static_cast<uint64_t>(how.spacing));
  if (source != 0)
    key = fold(fold(key, source), std::bit_cast<uint32_t>(how.strength));
  key = fold(fold(key, text.positive), text.negative);
  for (auto i = size_t{0}; i < latent.size(); ++i) {
    const auto bits = std::bit_cast<uint32_t>(latent[i]);
    const auto hash = fold(key + i, bits);
    // 24 bits fit a float exactly, and so does their multiple of 2^-21.
    const auto whole = static_cast<int32_t>(hash >> 40) - (1 << 23);
    latent[i] = static_cast<float>(whole) * 0x1p-21f;
  }
}

uint64_t test_card_sum(const source_parts& source) {
  auto key = fold(source.px.width, source.px.height);
  key = fold(key, ipc::xxh3(std::as_bytes(source.pixels)));
  key = fold(key, ipc::xxh3(std::as_bytes(source.mask)));
  return key | 1;
}

void test_card_decode(std::span<const float> latent, core::latent_shape shape,
                      const core::recipe& how, const core::prompt_pair& text,
                      std::span<std::byte> rgb, const source_parts* source) {
  ATELIER_EXPECTS(latent.size() == shape.elements(), "a latent of its shape");
  ATELIER_EXPECTS(rgb.size() == test_card_bytes(how.px), "a whole image");
  draw_card(latent, shape, how, text, rgb);
  if (source != nullptr) {
    ATELIER_EXPECTS(source->px == how.px, "a source of the image's size");
    lay_over(*source, how.strength, rgb);
  }
}

double test_card_score(const core::recipe& how) {
  return core::philox{how.seed, core::purpose::test}.uniform();
}

void test_card_preview(std::span<const float> latent, core::latent_shape shape,
                       std::span<std::byte> rgb) {
  const auto places = size_t{shape.height} * shape.width;
  for (size_t i = 0; i < places; ++i)
    for (size_t c = 0; c < 3; ++c) {
      const auto channel = std::min<size_t>(c, shape.channels - 1);
      const auto x = std::clamp(latent[channel * places + i], -4.0f, 3.96875f);
      rgb[3 * i + c] = static_cast<std::byte>((x + 4) * 32);
    }
}

} // namespace atelier::gpu
