// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/detail/exif.hpp>
#include <atelier/core/image/detail/formats.hpp>
#include <atelier/core/image/detail/webp_lossless.hpp>

#include <fmt/format.h>
#include <webp/decode.h>
#include <webp/encode.h>

#include <algorithm>
#include <memory>
#include <new>

namespace atelier::image::detail {

namespace {

using namespace std::string_view_literals;
using core::ec;
using core::image_format;

constexpr uint8_t flag_exif = 0x08;
constexpr uint8_t flag_alpha = 0x10;

/// libwebp's image and the file that it writes, which the destructor frees in
/// every case.
struct writer {
  WebPPicture image;
  WebPMemoryWriter memory;

  writer() {
    if (WebPPictureInit(&image) == 0)
      throw std::bad_alloc{};
    WebPMemoryWriterInit(&memory);
    image.writer = WebPMemoryWrite;
    image.custom_ptr = &memory;
  }

  ~writer() {
    WebPPictureFree(&image);
    WebPMemoryWriterClear(&memory);
  }

  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
};

WebPConfig configure(uint32_t quality) {
  WebPConfig config;
  WebPConfigInit(&config);
  if (quality == 100) {
    // Level 1 of 9 is used: higher levels take seconds to save a few per cent.
    WebPConfigLosslessPreset(&config, 1);
    config.exact = 1;
  } else {
    config.quality = static_cast<float>(quality);
    config.method = 4;
  }
  config.thread_level = 0;
  return config;
}

void append_chunk(bytes& to, std::string_view type, bytes_view data) {
  append(to, as_bytes(type));
  append_le32(to, static_cast<uint32_t>(data.size()));
  append(to, data);
  if (data.size() % 2 != 0)
    to.push_back(0);
}

/// Calls `use(type, data)` with each chunk of a WebP file until it returns
/// false. Ignores a last chunk that is cut short.
template <class F>
void for_each_chunk(bytes_view file, F use) {
  bytes_view rest = part(file, 12);
  while (rest.size() >= 8) {
    const size_t length = le32(rest.subspan(4));
    if (length > rest.size() - 8)
      return;
    if (!use(as_text(rest.first(4)), rest.subspan(8, length)))
      return;
    rest = part(rest, 8 + length + length % 2);
  }
}

/// Returns the EXIF block of a WebP file, if it has one.
std::optional<bytes_view> find_exif(bytes_view file) {
  std::optional<bytes_view> found;
  for_each_chunk(file, [&](std::string_view type, bytes_view data) {
    if (type != "EXIF")
      return true;
    // Some writers keep JPEG's prefix.
    found = starts_with(data, "Exif\0\0"sv) ? part(data, 6) : data;
    return false;
  });
  return found;
}

/// Rebuilds a plain file in the extended form, with an EXIF chunk at its end.
bytes with_exif(bytes_view plain, const pixel_view& pixels,
                std::string_view text) {
  uint8_t flags = flag_exif;
  bytes chunks;
  for_each_chunk(plain, [&](std::string_view type, bytes_view data) {
    if (type == "VP8X") {
      flags = static_cast<uint8_t>(flags | data[0]);
      return true;
    }
    // Bit 28 of a lossless stream, after its signature byte, means alpha.
    if (type == "VP8L" && data.size() >= 5 && (data[4] & 0x10) != 0)
      flags |= flag_alpha;
    append_chunk(chunks, type, data);
    return true;
  });
  bytes header = {flags, 0, 0, 0};
  for (uint32_t side : {pixels.px.width, pixels.px.height})
    for (unsigned shift : {0u, 8u, 16u})
      header.push_back(static_cast<uint8_t>((side - 1) >> shift));
  bytes body;
  append(body, as_bytes("WEBP"));
  append_chunk(body, "VP8X", header);
  append(body, chunks);
  append_chunk(body, "EXIF", make_exif(text));
  bytes file;
  append(file, as_bytes("RIFF"));
  append_le32(file, static_cast<uint32_t>(body.size()));
  append(file, body);
  return file;
}

/// Refuses a lossless stream, of colours or of transparency, that needs too
/// much memory in addition to its pixels.
core::result<void> check_lossless(bytes_view file, const bitmap& made,
                                  const decode_limits& within) {
  // Colours begin with a signature, width, height and flags, transparency with
  // a method and a filter.
  constexpr size_t colours_head = 5;
  constexpr size_t alpha_head = 1;
  core::result<void> verdict;
  for_each_chunk(file, [&](std::string_view type, bytes_view data) {
    const bool colours = type == "VP8L";
    const bool packed_alpha =
      type == "ALPH" && !data.empty() && (data[0] & 3) == 1;
    if (!colours && !packed_alpha)
      return type != "VP8 ";
    const auto need = lossless_working_bytes(
      part(data, colours ? colours_head : alpha_head), made.px);
    const auto spare = (4 - made.channels) * made.px.pixels();
    if (!need)
      verdict = broken(image_format::webp, "its codes are broken or cut short");
    else if (*need > within.working_bytes + spare)
      verdict = broken(
        image_format::webp,
        fmt::format("it needs {} bytes beside its pixels, the most is {}",
                    *need, within.working_bytes + spare));
    return verdict && !colours;
  });
  return verdict;
}

/// Passes a file to the decoder in parts, and checks between them whether to
/// stop. The codes of a lossless stream are read again with each part, so the
/// parts are few.
core::result<void> decode_into(bytes_view file, bitmap& into,
                               const decode_limits& within) {
  constexpr size_t least_part = 1 << 16;
  constexpr size_t parts = 16;
  WebPDecBuffer out;
  if (WebPInitDecBuffer(&out) == 0)
    throw std::bad_alloc{};
  out.colorspace = into.channels == 4 ? MODE_RGBA : MODE_RGB;
  out.is_external_memory = 1;
  out.u.RGBA.rgba = into.bytes.data();
  out.u.RGBA.stride = static_cast<int>(into.px.width * into.channels);
  out.u.RGBA.size = into.bytes.size();
  const std::unique_ptr<WebPIDecoder, decltype(&WebPIDelete)> decoder{
    WebPINewDecoder(&out), WebPIDelete};
  if (!decoder)
    throw std::bad_alloc{};
  const auto step = std::max(least_part, file.size() / parts + 1);
  auto status = VP8_STATUS_SUSPENDED;
  for (size_t n = 0; n < file.size() && status == VP8_STATUS_SUSPENDED;) {
    if (within.stopped())
      return stopped(image_format::webp);
    n = std::min(n + step, file.size());
    status = WebPIUpdate(decoder.get(), file.data(), n);
  }
  if (status == VP8_STATUS_OUT_OF_MEMORY)
    throw std::bad_alloc{};
  if (status != VP8_STATUS_OK)
    return broken(image_format::webp, "its data is broken or cut short");
  return {};
}

} // namespace

core::result<bytes> encode_webp(const pixel_view& pixels, uint32_t quality,
                                std::string_view text) {
  const WebPConfig config = configure(quality);
  writer webp;
  webp.image.use_argb = config.lossless;
  webp.image.width = static_cast<int>(pixels.px.width);
  webp.image.height = static_cast<int>(pixels.px.height);
  const int stride = static_cast<int>(pixels.px.width * pixels.channels);
  const auto import =
    pixels.channels == 4 ? WebPPictureImportRGBA : WebPPictureImportRGB;
  if (import(&webp.image, pixels.bytes.data(), stride) == 0
      || WebPEncode(&config, &webp.image) == 0)
    return core::fail(webp.image.error_code == VP8_ENC_ERROR_OUT_OF_MEMORY
                        ? ec::out_of_resources
                        : ec::internal,
                      "webp image of {}x{} cannot be written: error {}",
                      pixels.px.width, pixels.px.height,
                      static_cast<int>(webp.image.error_code));
  const bytes_view plain{webp.memory.mem, webp.memory.size};
  if (text.empty())
    return bytes{plain.begin(), plain.end()};
  return with_exif(plain, pixels, text);
}

bool webp_has_alpha(bytes_view file) {
  WebPBitstreamFeatures features;
  return WebPGetFeatures(file.data(), file.size(), &features) == VP8_STATUS_OK
      && features.has_alpha != 0;
}

core::result<bitmap> decode_webp(bytes_view file, const decode_limits& within) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK)
    return broken(image_format::webp, "no valid header");
  if (features.has_animation != 0)
    return broken(image_format::webp, "it is an animation");
  if (uint64_t{le32(file.subspan(4))} + 8 > file.size())
    return broken(image_format::webp, "it is cut short");
  const core::extent px{static_cast<uint32_t>(features.width),
                        static_cast<uint32_t>(features.height)};
  if (auto ok = check_extent(px, within, image_format::webp, file.size()); !ok)
    return ok.why();
  bitmap result{px, features.has_alpha != 0 ? 4u : 3u, {}};
  if (auto ok = check_lossless(file, result, within); !ok)
    return ok.why();
  result.bytes.resize(bytes_of(px, result.channels));
  if (auto ok = decode_into(file, result, within); !ok)
    return ok.why();
  return result;
}

std::optional<header> read_webp_header(bytes_view file) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK)
    return std::nullopt;
  header found{image_format::webp,
               {static_cast<uint32_t>(features.width),
                static_cast<uint32_t>(features.height)},
               1};
  if (const auto block = find_exif(file))
    found.orientation = read_orientation(*block).value_or(1);
  return found;
}

std::optional<std::string> read_webp_text(bytes_view file) {
  const auto block = find_exif(file);
  return block ? read_exif(*block) : std::nullopt;
}

} // namespace atelier::image::detail
