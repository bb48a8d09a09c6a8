// SPDX-License-Identifier: Apache-2.0
// libjpeg reports errors by longjmp. Each function that calls setjmp therefore
// holds nothing that needs a destructor; memory belongs to the caller's object.
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

// clang-format off
#include <jpeglib.h> // needs <cstdio>
#include <jerror.h>  // needs <jpeglib.h>
// clang-format on

#include <atelier/core/image/detail/exif.hpp>
#include <atelier/core/image/detail/formats.hpp>
#include <atelier/core/image/detail/text_codes.hpp>

#include <fmt/format.h>

namespace atelier::image::detail {

namespace {

using namespace std::string_view_literals;
using core::ec;
using core::image_format;

constexpr uint8_t marker_app1 = 0xE1;
constexpr uint8_t marker_comment = 0xFE;
constexpr auto exif_prefix = "Exif\0\0"sv;

/// A marker's length field counts itself and has 16 bits.
constexpr size_t most_marker_bytes = 65'533;

/// From this quality on, colours keep their full resolution.
constexpr uint32_t full_colour_quality = 90;

/// Maximum number of scans of a progressive file that are decoded. Each scan
/// costs time for the whole image. Encoders write about ten.
constexpr int most_scans = 100;

struct error_state {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};

struct progress_state {
  jpeg_progress_mgr manager{};
  const decode_limits* within = nullptr;
  bool too_many_scans = false;
  bool stopped = false;
};

static_assert(offsetof(progress_state, manager) == 0);

extern "C" {

static void atelier_jpeg_fail(j_common_ptr codec) {
  auto* state = reinterpret_cast<error_state*>(codec->err);
  codec->err->format_message(codec, state->text);
  std::longjmp(state->back, 1);
}

/// Treats warnings about damaged data as failures. Ignores other warnings, such
/// as those about odd headers.
static void atelier_jpeg_message(j_common_ptr codec, int level) {
  const int code = codec->err->msg_code;
  if (level < 0
      && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER
          || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC))
    atelier_jpeg_fail(codec);
}

/// Called for every row of blocks of every scan, and for every row of pixels.
static void atelier_jpeg_progress(j_common_ptr codec) {
  auto* state = reinterpret_cast<progress_state*>(codec->progress);
  auto* decoder = reinterpret_cast<j_decompress_ptr>(codec);
  state->too_many_scans = decoder->input_scan_number > most_scans;
  state->stopped = state->within->stopped();
  if (state->too_many_scans || state->stopped)
    ERREXIT(codec, JERR_BAD_PROGRESSION);
}

} // extern "C"

void set_errors(error_state& state) {
  jpeg_std_error(&state.manager);
  state.manager.error_exit = atelier_jpeg_fail;
  state.manager.emit_message = atelier_jpeg_message;
  state.text[0] = '\0';
}

struct encoder {
  jpeg_compress_struct codec{};
  error_state errors{};
  unsigned char* out = nullptr;
  unsigned long out_bytes = 0;

  encoder() {
    set_errors(errors);
    codec.err = &errors.manager;
  }

  ~encoder() {
    jpeg_destroy_compress(&codec);
    std::free(out);
  }

  encoder(const encoder&) = delete;
  encoder& operator=(const encoder&) = delete;
};

struct decoder {
  jpeg_decompress_struct codec{};
  progress_state progress{};
  error_state errors{};

  explicit decoder(const decode_limits& within) {
    set_errors(errors);
    codec.err = &errors.manager;
    progress.manager.progress_monitor = atelier_jpeg_progress;
    progress.within = &within;
  }

  ~decoder() {
    jpeg_destroy_decompress(&codec);
  }

  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;
};

struct marker {
  uint8_t code;
  bytes_view data;
};

void write_rows(jpeg_compress_struct& codec, const pixel_view& pixels) {
  const size_t stride = size_t{pixels.px.width} * pixels.channels;
  while (codec.next_scanline < codec.image_height) {
    // libjpeg does not write through this pointer.
    auto* row =
      const_cast<JSAMPROW>(pixels.bytes.data()) + codec.next_scanline * stride;
    jpeg_write_scanlines(&codec, &row, 1);
  }
}

bool run(encoder& jpeg, const pixel_view& pixels, uint32_t quality,
         std::span<const marker> markers) {
  if (setjmp(jpeg.errors.back) != 0)
    return false;
  jpeg_compress_struct& codec = jpeg.codec;
  jpeg_create_compress(&codec);
  jpeg_mem_dest(&codec, &jpeg.out, &jpeg.out_bytes);
  codec.image_width = pixels.px.width;
  codec.image_height = pixels.px.height;
  codec.input_components = static_cast<int>(pixels.channels);
  // The fourth channel is skipped: JPEG has no transparency.
  codec.in_color_space = pixels.channels == 4 ? JCS_EXT_RGBX : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, static_cast<int>(quality), TRUE);
  codec.optimize_coding = TRUE;
  if (quality >= full_colour_quality)
    codec.comp_info[0].h_samp_factor = codec.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&codec, TRUE);
  for (const auto& [code, data] : markers)
    jpeg_write_marker(&codec, code, data.data(),
                      static_cast<unsigned>(data.size()));
  write_rows(codec, pixels);
  jpeg_finish_compress(&codec);
  return true;
}

bool read_header(decoder& jpeg, bytes_view file) {
  if (setjmp(jpeg.errors.back) != 0)
    return false;
  jpeg_create_decompress(&jpeg.codec);
  jpeg.codec.progress = &jpeg.progress.manager;
  jpeg_mem_src(&jpeg.codec, file.data(), file.size());
  jpeg_read_header(&jpeg.codec, TRUE);
  return true;
}

/// Reads rows of pixels in the colour space `as`, `stride` bytes apart. Refuses
/// a progressive file whose scans together need more than `working_bytes`,
/// because libjpeg has no other place for them.
bool read_rows(decoder& jpeg, J_COLOR_SPACE as, uint8_t* out, size_t stride,
               uint64_t working_bytes) {
  if (setjmp(jpeg.errors.back) != 0)
    return false;
  jpeg_decompress_struct& codec = jpeg.codec;
  codec.out_color_space = as;
  codec.mem->max_memory_to_use = static_cast<long>(working_bytes);
  jpeg_start_decompress(&codec);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = out + codec.output_scanline * stride;
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
  return true;
}

/// Returns whether a marker begins a frame: SOF0..15 except for three other
/// markers between them.
constexpr bool is_frame(uint8_t code) {
  return code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8
      && code != 0xCC;
}

/// Calls `use(code, data)` with each marker up to the first scan, until it
/// returns false.
template <class F>
void for_each_marker(bytes_view file, F use) {
  bytes_view rest = part(file, 2);
  // A marker consists of 0xFF, a code, a length (including itself) and data.
  while (rest.size() >= 4 && rest[0] == 0xFF) {
    const uint8_t code = rest[1];
    if (code == 0xFF) { // a fill byte
      rest = part(rest, 1);
      continue;
    }
    constexpr uint8_t start_of_scan = 0xDA;
    const size_t length = be16(rest.subspan(2));
    if (code == start_of_scan || length < 2 || length > rest.size() - 2
        || !use(code, rest.subspan(4, length - 2)))
      return;
    rest = part(rest, 2 + length);
  }
}

/// Turns inks into light in place. Adobe's files hold inverted inks, and nearly
/// all files with four channels are Adobe's.
void turn_to_rgb(bytes& inks, bool inverted) {
  const auto light = [&](uint8_t ink) -> unsigned {
    return inverted ? ink : 255u - ink;
  };
  size_t to = 0;
  for (size_t i = 0; i + 4 <= inks.size(); i += 4) {
    const auto black = light(inks[i + 3]);
    for (size_t k = 0; k < 3; ++k)
      inks[to++] =
        static_cast<uint8_t>((light(inks[i + k]) * black + 127) / 255);
  }
  inks.resize(to);
}

core::error why_not(const decoder& jpeg) {
  if (jpeg.progress.stopped)
    return stopped(image_format::jpeg);
  if (jpeg.progress.too_many_scans)
    return broken(image_format::jpeg,
                  fmt::format("it has more than {} scans", most_scans));
  if (jpeg.errors.manager.msg_code == JERR_NO_BACKING_STORE)
    return broken(image_format::jpeg,
                  "its scans need more memory than they may: it is "
                  "progressive, and large");
  return broken(image_format::jpeg, jpeg.errors.text);
}

} // namespace

core::result<bytes> encode_jpeg(const pixel_view& pixels, uint32_t quality,
                                std::string_view text) {
  bytes exif;
  std::vector<marker> markers;
  if (!text.empty()) {
    append(exif, as_bytes(exif_prefix));
    append(exif, make_exif(text));
    if (exif.size() <= most_marker_bytes) {
      markers.push_back({marker_app1, exif});
    } else {
      // The text is too long for the only marker that EXIF may use, so it is
      // written as comments.
      for (bytes_view rest = as_bytes(text); !rest.empty();
           rest = part(rest, most_marker_bytes))
        markers.push_back({marker_comment, part(rest, 0, most_marker_bytes)});
    }
  }
  encoder jpeg;
  if (!run(jpeg, pixels, quality, markers))
    return core::fail(jpeg.errors.manager.msg_code == JERR_OUT_OF_MEMORY
                        ? ec::out_of_resources
                        : ec::internal,
                      "jpeg image of {}x{} cannot be written: {}",
                      pixels.px.width, pixels.px.height, jpeg.errors.text);
  return bytes{jpeg.out, jpeg.out + jpeg.out_bytes};
}

core::result<bitmap> decode_jpeg(bytes_view file, const decode_limits& within) {
  decoder jpeg{within};
  if (!read_header(jpeg, file))
    return why_not(jpeg);
  const core::extent px{jpeg.codec.image_width, jpeg.codec.image_height};
  if (auto ok = check_extent(px, within, image_format::jpeg, file.size()); !ok)
    return ok.why();
  const bool inks = jpeg.codec.jpeg_color_space == JCS_CMYK
                 || jpeg.codec.jpeg_color_space == JCS_YCCK;
  const uint32_t channels = inks ? 4 : 3;
  bitmap result{px, 3, bytes(bytes_of(px, channels))};
  const auto working = within.working_bytes + (4 - channels) * px.pixels();
  if (!read_rows(jpeg, inks ? JCS_CMYK : JCS_RGB, result.bytes.data(),
                 size_t{px.width} * channels, working))
    return why_not(jpeg);
  if (inks)
    turn_to_rgb(result.bytes, jpeg.codec.saw_Adobe_marker != FALSE);
  return result;
}

std::optional<header> read_jpeg_header(bytes_view file) {
  std::optional<header> found;
  uint32_t orientation = 1;
  for_each_marker(file, [&](uint8_t code, bytes_view data) {
    if (code == marker_app1 && starts_with(data, exif_prefix))
      orientation =
        read_orientation(part(data, exif_prefix.size())).value_or(1);
    if (!is_frame(code))
      return true;
    // The frame's data begin with the precision, the height and the width.
    if (data.size() >= 5)
      found = {
        image_format::jpeg, {be16(data.subspan(3)), be16(data.subspan(1))}, 1};
    return false;
  });
  if (found)
    found->orientation = orientation;
  return found;
}

std::optional<std::string> read_jpeg_text(bytes_view file) {
  bytes comments;
  std::optional<std::string> text;
  for_each_marker(file, [&](uint8_t code, bytes_view data) {
    if (code == marker_app1 && starts_with(data, exif_prefix))
      text = read_exif(part(data, exif_prefix.size()));
    if (code == marker_comment)
      append(comments, part(data, 0, most_text_bytes + 1 - comments.size()));
    return !text;
  });
  if (text || comments.empty() || comments.size() > most_text_bytes)
    return text;
  return utf8_or_latin1(comments);
}

} // namespace atelier::image::detail
