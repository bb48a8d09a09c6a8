// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/float_types.hpp>

#include <bit>
#include <cmath>
#include <cstring>

namespace atelier::gpu::detail {

namespace {

// Bytes may be at any address, so they are copied.
template <class T>
T load(const std::byte* from) {
  T out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

template <class Read, class Write>
void convert_all(std::span<const std::byte> from, size_t from_bytes,
                 std::byte* to, size_t to_bytes, Read read, Write write) {
  const auto count = from.size() / from_bytes;
  for (size_t i = 0; i < count; ++i)
    write(to + i * to_bytes, read(from.data() + i * from_bytes));
}

template <class Read>
void convert_from(std::span<const std::byte> from, size_t from_bytes,
                  tensor_type to_type, std::byte* to, Read read) {
  const auto put = [&](auto make) {
    using value = decltype(make(read(from.data())));
    convert_all(from, from_bytes, to, sizeof(value), read,
                [&](std::byte* at, auto x) {
                  const value made = make(x);
                  std::memcpy(at, &made, sizeof made);
                });
  };
  if (to_type == tensor_type::float64)
    put([](auto x) { return static_cast<double>(x); });
  else if (to_type == tensor_type::float32)
    put([](auto x) { return static_cast<float>(x); });
  else if (to_type == tensor_type::float16)
    put([](auto x) { return to_half_bits(static_cast<float>(x)); });
  else
    put([](auto x) { return to_bfloat16_bits(static_cast<float>(x)); });
}

/// Calls `use` with a function that reads one number of that type.
template <class Use>
void with_reader(tensor_type type, Use use) {
  if (type == tensor_type::float64)
    use([](const std::byte* at) { return load<double>(at); });
  else if (type == tensor_type::float32)
    use([](const std::byte* at) { return load<float>(at); });
  else if (type == tensor_type::float16)
    use([](const std::byte* at) { return from_half_bits(load<uint16_t>(at)); });
  else
    use([](const std::byte* at) {
      return from_bfloat16_bits(load<uint16_t>(at));
    });
}

} // namespace

float from_bfloat16_bits(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

float from_half_bits(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1f)
    return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23)
                                | (fraction << 13));
  // Subnormal: the fraction counts steps of 2^-24, exact in float32.
  const float value = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -value : value;
}

uint16_t to_bfloat16_bits(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (std::isnan(x))
    return 0x7fc0;
  // A carry out of the fraction increments the exponent, up to infinity.
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

uint16_t to_half_bits(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u);
  // From 65520 on, the nearest value would be 65536, which is infinity.
  if (magnitude >= 0x477ff000u)
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Below 2^-14: adding 0.5 moves the steps of 2^-24 to the end of the
    // fraction, and the addition rounds.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(
      sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  const uint32_t rounded = magnitude - (uint32_t{112} << 23) + 0xfffu + odd;
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

void convert(tensor_type from_type, std::span<const std::byte> from,
             tensor_type to_type, std::span<std::byte> to) {
  if (from_type == to_type) {
    if (!from.empty())
      std::memcpy(to.data(), from.data(), from.size());
    return;
  }
  with_reader(from_type, [&](auto read) {
    convert_from(from, bytes_of(from_type), to_type, to.data(), read);
  });
}

uint64_t count_non_finite(tensor_type type, std::span<const std::byte> bytes) {
  uint64_t out = 0;
  with_reader(type, [&](auto read) {
    for (size_t i = 0; i < bytes.size(); i += bytes_of(type))
      if (!std::isfinite(read(bytes.data() + i)))
        ++out;
  });
  return out;
}

} // namespace atelier::gpu::detail
