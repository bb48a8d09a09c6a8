// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/vae/coder_memory.hpp>

#include <algorithm>

namespace atelier::gpu {

namespace {

/// Finds the greatest sum of maps that exist at once, in numbers for each
/// element of the latent's area.
class peak {
public:
  peak(const autoencoder_config& of, const coder_placement& how)
    : striped_(how.in_stripes && of.activation == autoencoder_activation::silu),
      stored_(!how.in_stripes) {}

  /// Notes maps of so many channels, at so many pixels for each element.
  void note(int64_t channels, int64_t pixels) {
    most_ = std::max(most_, static_cast<uint64_t>(channels * pixels));
  }

  void residual(int64_t in, int64_t out, int64_t pixels) {
    const auto shortcut = in == out ? 0 : out;
    // The input, the result of the first convolution, and the sum.
    note(in + out + shortcut, pixels);
    if (striped_)
      return;
    // The normalised map beside them, and a result that is added.
    note(2 * in + out, pixels);
    note(4 * out, pixels);
  }

  /// Notes an enlargement to so many pixels, four times as many as before.
  void enlarge(int64_t channels, int64_t pixels) {
    note(channels + channels / 4 + (stored_ ? channels : 0), pixels);
  }

  /// Notes the attention of every element to every other.
  void attention(int64_t channels) {
    note(7 * channels, 1);
  }

  uint64_t most() const {
    return most_;
  }

private:
  bool striped_;
  bool stored_;
  uint64_t most_ = 0;
};

int64_t area_of(const autoencoder_config& x) {
  const auto factor = static_cast<int64_t>(x.factor());
  return factor * factor;
}

void middle(const autoencoder_config& of, peak& to) {
  const auto channels = of.block_out_channels.back();
  to.residual(channels, channels, 1);
  if (of.mid_block_add_attention)
    to.attention(channels);
}

/// A library's own buffers are at most about an eighth of the maps.
uint64_t with_buffers(uint64_t numbers, const coder_placement& how) {
  return (numbers + numbers / 8) * how.element_bytes;
}

} // namespace

uint64_t decode_bytes(const autoencoder_config& of,
                      const coder_placement& how) {
  peak out{of, how};
  if (of.kind == autoencoder_kind::tiny) {
    out.note(3 * of.decoder_channels, area_of(of));
    return with_buffers(out.most(), how);
  }
  middle(of, out);
  int64_t pixels = 1;
  auto channels = of.block_out_channels.back();
  const auto count = of.block_out_channels.size();
  for (size_t i = 0; i < count; ++i) {
    const auto width = of.block_out_channels[count - 1 - i];
    out.residual(channels, width, pixels);
    out.residual(width, width, pixels);
    channels = width;
    if (i + 1 < count) {
      pixels *= 4;
      out.enlarge(channels, pixels);
    }
  }
  return with_buffers(out.most(), how);
}

uint64_t encode_bytes(const autoencoder_config& of,
                      const coder_placement& how) {
  peak out{of, how};
  auto pixels = area_of(of);
  if (of.kind == autoencoder_kind::tiny) {
    out.note(3 * of.encoder_channels, pixels);
    return with_buffers(out.most(), how);
  }
  middle(of, out);
  auto channels = of.block_out_channels.front();
  for (const auto width : of.block_out_channels) {
    out.residual(channels, width, pixels);
    out.residual(width, width, pixels);
    channels = width;
    // The map with its border, and the map before.
    out.note(2 * channels + channels / 4, pixels);
    pixels /= 4;
  }
  return with_buffers(out.most(), how);
}

} // namespace atelier::gpu
