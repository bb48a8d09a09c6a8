// SPDX-License-Identifier: Apache-2.0
// This file uses libpng's progressive reader, which stops when the last row is
// complete; libpng's other readers continue to inflate the data after it. Only
// the chunks that make pixels are passed to it, so that no text, profile or
// unknown chunk is unpacked or kept.
//
// libpng reports errors by longjmp. The function that calls setjmp therefore
// holds nothing that needs a destructor; memory belongs to the caller's object.
#include <atelier/core/image/detail/formats.hpp>
#include <atelier/core/image/detail/png_text.hpp>

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>
#include <vector>

namespace atelier::image::detail {

namespace {

using core::image_format;

/// Number of bytes of pixels that are decoded between two checks for a stop.
constexpr size_t bytes_between_stops = 1 << 16;

/// Maximum memory of a chunk other than IDAT. The chunks that are read have at
/// most 768 bytes.
constexpr png_alloc_size_t most_chunk_bytes = 1 << 16;

/// Chunks other than the pixels' that affect how the pixels look. The gamma is
/// not among them: Pillow, with which diffusers and the web UI read, ignores
/// it.
constexpr std::string_view looks[] = {"tRNS"};

struct reader {
  explicit reader(const decode_limits& limits) : within(&limits) {}

  ~reader() {
    png_destroy_read_struct(&png, &info, nullptr);
  }

  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  png_structp png = nullptr;
  png_infop info = nullptr;
  const decode_limits* within;
  bitmap made;
  size_t since_stop = 0;
  bool excess = false;
  bool stopped = false;
  char text[128] = {};
};

reader& of(png_structp png) {
  return *static_cast<reader*>(png_get_progressive_ptr(png));
}

extern "C" {

[[noreturn]] static void atelier_png_fail(png_structp png,
                                          png_const_charp why) {
  auto* state = static_cast<reader*>(png_get_error_ptr(png));
  std::snprintf(state->text, sizeof(state->text), "%s", why);
  png_longjmp(png, 1);
}

/// Records the only libpng warning that is a fault. libpng has then stopped.
static void atelier_png_warn(png_structp png, png_const_charp what) {
  if (std::strcmp(what, "Extra compressed data in IDAT") == 0)
    static_cast<reader*>(png_get_error_ptr(png))->excess = true;
}

/// Requests eight bits a channel, R, G, B and perhaps A, in sRGB, as libpng's
/// simplified interface does for those formats (png_image_read_direct).
static void atelier_png_begin(png_structp png, png_infop info) {
  const auto& state = of(png);
  png_set_expand(png);
  if ((png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR) == 0)
    png_set_gray_to_rgb(png);
  // The file is sRGB, even with sixteen bits.
  png_set_alpha_mode_fixed(png, PNG_ALPHA_PNG, PNG_DEFAULT_sRGB);
  if (png_get_bit_depth(png, info) == 16)
    png_set_scale_16(png);
  png_set_alpha_mode_fixed(png, PNG_ALPHA_PNG, PNG_DEFAULT_sRGB);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info)
      != size_t{state.made.px.width} * state.made.channels)
    png_error(png, "its rows have another length than its header says");
}

/// Takes a row of a pass. `row` is null if the pass has no data for it.
static void atelier_png_row(png_structp png, png_bytep row, png_uint_32 y,
                            int) {
  auto& state = of(png);
  const size_t stride = size_t{state.made.px.width} * state.made.channels;
  if (row != nullptr)
    png_progressive_combine_row(png, state.made.bytes.data() + y * stride, row);
  state.since_stop += stride;
  if (state.since_stop >= bytes_between_stops) {
    state.since_stop = 0;
    state.stopped = state.within->stopped();
    if (state.stopped)
      png_error(png, "stopped");
  }
}

} // extern "C"

bool open(reader& to) {
  to.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &to, atelier_png_fail,
                                  atelier_png_warn);
  if (to.png == nullptr)
    throw std::bad_alloc{};
  to.info = png_create_info_struct(to.png);
  if (to.info == nullptr)
    throw std::bad_alloc{};
  if (setjmp(png_jmpbuf(to.png)) != 0)
    return false;
  png_set_benign_errors(to.png, 1);
  png_set_chunk_malloc_max(to.png, most_chunk_bytes);
  png_set_chunk_cache_max(to.png, std::size(looks));
  png_set_progressive_read_fn(to.png, &to, atelier_png_begin, atelier_png_row,
                              nullptr);
  return true;
}

/// Passes bytes to libpng. Returns false if libpng fails; `to` holds its
/// message.
bool feed(reader& to, bytes_view piece) {
  if (setjmp(png_jmpbuf(to.png)) != 0)
    return false;
  // libpng does not write through this pointer.
  png_process_data(to.png, to.info, const_cast<png_bytep>(piece.data()),
                   piece.size());
  return true;
}

/// Returns whether the last row of the last pass is complete.
bool is_complete(const reader& x) {
  constexpr int last_pass = 6;
  return png_get_current_pass_number(x.png) > last_pass
      || png_get_current_row_number(x.png) >= x.made.px.height;
}

/// Returns the whole chunk with this data, including its length, type and
/// checksum.
bytes_view whole_chunk(bytes_view data) {
  return {data.data() - 8, data.size() + 12};
}

constexpr bool is_critical(std::string_view type) {
  return (static_cast<uint8_t>(type[0]) & 0x20) == 0;
}

/// The chunks of a file that make its pixels.
struct pixel_chunks {
  std::vector<bytes_view> before;
  std::vector<bytes_view> pixels;
  bool strange = false;
};

pixel_chunks find_chunks(bytes_view file) {
  pixel_chunks found;
  std::vector<std::string_view> seen;
  for_each_png_chunk(file, [&](std::string_view type, bytes_view data) {
    if (type == "IDAT") {
      found.pixels.push_back(whole_chunk(data));
      return true;
    }
    // The chunks of the pixels follow each other.
    if (!found.pixels.empty())
      return false;
    const bool look = std::ranges::find(looks, type) != std::end(looks);
    if (type == "IHDR" || type == "PLTE" || look) {
      const bool again = std::ranges::find(seen, type) != seen.end();
      if (!again) {
        seen.push_back(type);
        found.before.push_back(whole_chunk(data));
      }
      found.strange = found.strange || (again && !look);
    } else {
      found.strange = found.strange || is_critical(type);
    }
    return !found.strange;
  });
  return found;
}

} // namespace

core::result<bitmap> decode_png(bytes_view file, const decode_limits& within) {
  const auto head = read_png_size(file);
  if (!head)
    return broken(image_format::png, "no valid header");
  if (auto ok = check_extent(*head, within, image_format::png, file.size());
      !ok)
    return ok.why();
  const auto chunks = find_chunks(file);
  if (chunks.strange)
    return broken(image_format::png,
                  "a critical chunk is unknown or occurs twice");
  reader png{within};
  if (!open(png) || !feed(png, part(file, 0, 8)))
    return broken(image_format::png, png.text);
  for (const auto& x : chunks.before)
    if (!feed(png, x))
      return broken(image_format::png, png.text);
  const bool alpha =
    (png_get_color_type(png.png, png.info) & PNG_COLOR_MASK_ALPHA) != 0
    || png_get_valid(png.png, png.info, PNG_INFO_tRNS) != 0;
  png.made.px = *head;
  png.made.channels = alpha ? 4 : 3;
  png.made.bytes.resize(bytes_of(png.made.px, png.made.channels));
  for (const auto& x : chunks.pixels) {
    // After the last row, only more pixels are a fault.
    if (!feed(png, x) && !is_complete(png))
      return png.stopped ? stopped(image_format::png)
                         : broken(image_format::png, png.text);
    if (png.excess)
      return broken(image_format::png,
                    "its data continue after the last row that its header "
                    "declares");
  }
  if (!is_complete(png))
    return broken(image_format::png, "its data are broken or cut short");
  return std::move(png.made);
}

} // namespace atelier::image::detail
