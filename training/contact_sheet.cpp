// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/gpu/bitmap_font.hpp>
#include <atelier/gpu/canvas.hpp>
#include <atelier/training/contact_sheet.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace atelier::gpu {

namespace {

constexpr uint32_t margin_px = 4;
constexpr uint32_t column_px = detail::glyph_width + 1;
constexpr uint32_t line_px = detail::glyph_height + 3;

// Breaks lines at spaces; words longer than `width` are split.
std::vector<std::string_view> wrapped(std::string_view text, size_t width) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    auto end = text.size();
    if (end > width) {
      end = text.rfind(' ', width);
      if (end == std::string_view::npos || end == 0)
        end = width;
    }
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ', end)));
  }
  return out;
}

void copy_scaled(const image::bitmap& from, uint32_t scale, uint32_t left,
                 uint32_t top, image::bitmap& to) {
  for (auto y = 0u; y < from.px.height * scale; ++y)
    for (auto x = 0u; x < from.px.width * scale; ++x) {
      const auto source = (size_t{y / scale} * from.px.width + x / scale) * 3;
      const auto target = (size_t{top + y} * to.px.width + left + x) * 3;
      std::copy_n(from.bytes.begin() + static_cast<ptrdiff_t>(source), 3,
                  to.bytes.begin() + static_cast<ptrdiff_t>(target));
    }
}

} // namespace

image::bitmap contact_sheet(std::span<const sheet_cell> cells,
                            const sheet_options& how) {
  ATELIER_EXPECTS(how.columns >= 1 && how.scale >= 1, "a grid of images");
  if (cells.empty())
    return {};
  const auto px = cells.front().image.px;
  const auto width = px.width * how.scale + 2 * margin_px;
  const auto height =
    px.height * how.scale + 2 * margin_px + how.text_lines * line_px;
  const auto columns = std::min<size_t>(how.columns, cells.size());
  const auto rows = (cells.size() + columns - 1) / columns;
  image::bitmap out;
  out.px = {static_cast<uint32_t>(columns) * width,
            static_cast<uint32_t>(rows) * height};
  out.bytes.assign(image::bytes_of(out.px, 3), 255);
  detail::canvas text{std::as_writable_bytes(std::span{out.bytes}), out.px};
  for (auto i = size_t{0}; i < cells.size(); ++i) {
    const auto& cell = cells[i];
    ATELIER_EXPECTS(cell.image.px == px && cell.image.channels == 3,
                    "images of one extent");
    const auto left = static_cast<uint32_t>(i % columns) * width + margin_px;
    const auto top = static_cast<uint32_t>(i / columns) * height + margin_px;
    copy_scaled(cell.image, how.scale, left, top, out);
    auto y = top + px.height * how.scale + 3;
    auto left_over = how.text_lines;
    for (const auto line :
         wrapped(cell.text, (width - 2 * margin_px) / column_px)) {
      if (left_over-- == 0)
        break;
      text.write(static_cast<int>(left), static_cast<int>(y), 1, {0, 0, 0},
                 line);
      y += line_px;
    }
  }
  return out;
}

} // namespace atelier::gpu
