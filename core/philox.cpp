// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/error.hpp>
#include <atelier/core/philox.hpp>
#include <atelier/core/portable_math.hpp>

#include <cmath>

namespace atelier::core {

namespace {

constexpr uint32_t low(uint64_t x) {
  return static_cast<uint32_t>(x);
}

constexpr uint32_t high(uint64_t x) {
  return static_cast<uint32_t>(x >> 32);
}

} // namespace

philox_block philox4x32(philox_block c, philox_key key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {high(b) ^ c[1] ^ key[0], low(b), high(a) ^ c[3] ^ key[1], low(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

philox::philox(uint64_t seed, purpose why, request_id whose)
  : key_{low(seed), high(seed)}, request_(whose.value), why_(why), block_{} {}

philox_block philox::block_at(uint64_t index) const {
  // The counter holds, without overlap, 56 bits of the block's number, 8 bits
  // of the purpose and 64 bits of the request.
  const uint64_t number = index / 4;
  return philox4x32({low(number),
                     high(number) | uint32_t{static_cast<uint8_t>(why_)} << 24,
                     low(request_), high(request_)},
                    key_);
}

void philox::seek(uint64_t index) {
  ATELIER_EXPECTS(index < 1ull << 58, "the stream has 2^58 words");
  index_ = index;
  if (index_ % 4 != 0)
    block_ = block_at(index_);
}

uint32_t philox::next_u32() {
  // A block is made when its first word is taken: most decisions draw nothing.
  if (index_ % 4 == 0)
    block_ = block_at(index_);
  return block_[index_++ % 4];
}

uint64_t philox::next_u64() {
  const uint64_t first = next_u32();
  return first | uint64_t{next_u32()} << 32;
}

double philox::uniform() {
  return static_cast<double>(next_u64() >> 11) * 0x1p-53;
}

uint64_t philox::below(uint64_t n) {
  // This is Lemire's multiplication: the upper half of x * n is the value, and
  // the few lower halves that would make some values likelier are drawn again.
  using wide = unsigned __int128;
  if (n == 0)
    return 0;
  wide product = wide{next_u64()} * n;
  if (static_cast<uint64_t>(product) < n) {
    const uint64_t refused = (0 - n) % n;
    while (static_cast<uint64_t>(product) < refused)
      product = wide{next_u64()} * n;
  }
  return static_cast<uint64_t>(product >> 64);
}

double philox::normal() {
  const double u = 1 - uniform();
  const double radius = std::sqrt(-2 * portable_log(u));
  return radius * portable_turn(uniform()).cosine;
}

double philox::exponential(double mean) {
  return -mean * portable_log(1 - uniform());
}

} // namespace atelier::core
