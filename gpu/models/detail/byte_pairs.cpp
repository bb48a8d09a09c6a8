// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/detail/byte_pairs.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

namespace atelier::gpu::detail {

namespace {

constexpr uint64_t no_pair = std::numeric_limits<uint64_t>::max();
constexpr uint32_t no_rank = std::numeric_limits<uint32_t>::max();

// Up to here looking at every pair for each merge is faster than a heap.
constexpr size_t longest_short_word = 48;

size_t hash_of(uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15ull;
  return static_cast<size_t>(x ^ (x >> 29));
}

} // namespace

std::array<std::string, 256> byte_letters() {
  std::array<std::string, 256> out;
  char32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable =
      (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    out[byte] = core::to_utf8(printable ? byte : next++);
  }
  return out;
}

byte_pairs::byte_pairs(const vocabulary& from, int32_t unknown) {
  const auto letters = byte_letters();
  const auto id_of = [&](const std::string& token) {
    const auto i = from.ids.find(token);
    return i != from.ids.end() ? i->second : unknown;
  };
  for (size_t byte = 0; byte < letters.size(); ++byte) {
    bytes_[byte] = id_of(letters[byte]);
    last_bytes_[byte] = id_of(letters[byte] + std::string{end_of_word});
  }
  slots_.assign(std::bit_ceil(2 * from.merges.size() + 2), slot{no_pair, 0, 0});
  uint32_t rank = 0;
  for (const auto& x : from.merges) {
    const auto pair = pair_of(x.left, x.right);
    auto i = hash_of(pair) & (slots_.size() - 1);
    while (slots_[i].pair != no_pair && slots_[i].pair != pair)
      i = (i + 1) & (slots_.size() - 1);
    // Of a merge that stands twice the later place counts.
    slots_[i] = {pair, rank++, x.joined};
  }
}

uint64_t byte_pairs::pair_of(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32
       | static_cast<uint32_t>(right);
}

const byte_pairs::slot* byte_pairs::find(int32_t left, int32_t right) const {
  const auto pair = pair_of(left, right);
  for (auto i = hash_of(pair) & (slots_.size() - 1);;
       i = (i + 1) & (slots_.size() - 1)) {
    if (slots_[i].pair == pair)
      return &slots_[i];
    if (slots_[i].pair == no_pair)
      return nullptr;
  }
}

void byte_pairs::encode(std::string_view word,
                        std::vector<int32_t>& ids) const {
  ids.clear();
  if (word.empty())
    return;
  ids.reserve(word.size());
  for (const char c : word.substr(0, word.size() - 1))
    ids.push_back(bytes_[static_cast<uint8_t>(c)]);
  ids.push_back(last_bytes_[static_cast<uint8_t>(word.back())]);
  if (ids.size() <= longest_short_word)
    encode_short(ids);
  else
    encode_long(ids);
}

void byte_pairs::encode_short(std::vector<int32_t>& ids) const {
  std::array<slot, longest_short_word> pairs;
  const auto look_up = [&](size_t i) {
    const auto* found = find(ids[i], ids[i + 1]);
    pairs[i] = found != nullptr ? *found : slot{no_pair, no_rank, 0};
  };
  size_t n = ids.size();
  for (size_t i = 0; i + 1 < n; ++i)
    look_up(i);
  while (n > 1) {
    const auto best = static_cast<size_t>(
      std::min_element(
        pairs.begin(), pairs.begin() + static_cast<ptrdiff_t>(n - 1),
        [](const slot& x, const slot& y) { return x.rank < y.rank; })
      - pairs.begin());
    if (pairs[best].rank == no_rank)
      break;
    ids[best] = pairs[best].joined;
    std::copy(ids.begin() + static_cast<ptrdiff_t>(best + 2),
              ids.begin() + static_cast<ptrdiff_t>(n),
              ids.begin() + static_cast<ptrdiff_t>(best + 1));
    std::copy(pairs.begin() + static_cast<ptrdiff_t>(best + 1),
              pairs.begin() + static_cast<ptrdiff_t>(n - 1),
              pairs.begin() + static_cast<ptrdiff_t>(best));
    --n;
    if (best > 0)
      look_up(best - 1);
    if (best + 1 < n)
      look_up(best);
  }
  ids.resize(n);
}

void byte_pairs::encode_long(std::vector<int32_t>& ids) const {
  const auto end = static_cast<uint32_t>(ids.size());
  // The neighbours of the tokens that are left. A token that went into the one
  // before it has itself as the next.
  std::vector<uint32_t> before(end);
  std::vector<uint32_t> after(end);
  // Rank and place of pairs, the smallest first. A pair that is no more stays
  // in the heap; it is told by its rank when its turn comes.
  std::vector<uint64_t> heap;
  heap.reserve(end);
  const auto found = [&](uint32_t i) { return find(ids[i], ids[after[i]]); };
  const auto key = [](uint32_t rank, uint32_t i) {
    return uint64_t{rank} << 32 | i;
  };
  for (uint32_t i = 0; i < end; ++i) {
    before[i] = i - 1;
    after[i] = i + 1;
    if (i + 1 < end)
      if (const auto* x = found(i))
        heap.push_back(key(x->rank, i));
  }
  const std::greater<> order;
  std::make_heap(heap.begin(), heap.end(), order);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), order);
    const auto rank = static_cast<uint32_t>(heap.back() >> 32);
    const auto i = static_cast<uint32_t>(heap.back());
    heap.pop_back();
    const auto gone = after[i];
    if (gone == i || gone == end)
      continue;
    const auto* x = found(i);
    if (x == nullptr || x->rank != rank)
      continue;
    ids[i] = x->joined;
    after[i] = after[gone];
    after[gone] = gone;
    const auto add = [&](uint32_t at) {
      if (const auto* y = found(at)) {
        heap.push_back(key(y->rank, at));
        std::push_heap(heap.begin(), heap.end(), order);
      }
    };
    if (after[i] != end) {
      before[after[i]] = i;
      add(i);
    }
    if (i != 0)
      add(before[i]);
  }
  size_t kept = 0;
  for (uint32_t i = 0; i != end; i = after[i])
    ids[kept++] = ids[i];
  ids.resize(kept);
}

} // namespace atelier::gpu::detail
