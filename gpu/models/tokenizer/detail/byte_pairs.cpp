// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/tokenizer/detail/byte_pairs.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <unordered_map>

namespace atelier::gpu::detail {

namespace {

constexpr uint64_t no_pair = std::numeric_limits<uint64_t>::max();
constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

// From words of this many bytes on, one list per rank is faster than a heap.
constexpr size_t least_for_lists = 2048;

size_t hash_of(uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15ull;
  return static_cast<size_t>(x ^ (x >> 29));
}

uint64_t pair_of(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32
       | static_cast<uint32_t>(right);
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

byte_pairs::byte_pairs(const vocabulary& from, int32_t unknown)
  : merges_(from.merges) {
  const auto letters = byte_letters();
  const auto id_of = [&](const std::string& token) {
    const auto i = from.ids.find(token);
    return i != from.ids.end() ? i->second : unknown;
  };
  for (size_t byte = 0; byte < letters.size(); ++byte) {
    bytes_[byte] = id_of(letters[byte]);
    last_bytes_[byte] = id_of(letters[byte] + std::string{end_of_word});
  }
  slots_.assign(std::bit_ceil(2 * merges_.size() + 2), slot{no_pair, none});
  uint32_t rank = 0;
  for (const auto& x : merges_) {
    const auto pair = pair_of(x.left, x.right);
    auto i = hash_of(pair) & (slots_.size() - 1);
    while (slots_[i].pair != no_pair && slots_[i].pair != pair)
      i = (i + 1) & (slots_.size() - 1);
    // If a merge occurs twice, the later place is used.
    slots_[i] = {pair, rank++};
  }
  ordered_ = is_ordered();
}

bool byte_pairs::is_ordered() const {
  std::unordered_map<int32_t, size_t> made;
  for (size_t i = 0; i < merges_.size(); ++i)
    made[merges_[i].joined] = i;
  const auto is_made_before = [&](int32_t token, size_t rank) {
    const auto i = made.find(token);
    return i == made.end() || i->second < rank;
  };
  for (size_t i = 0; i < merges_.size(); ++i)
    if (!is_made_before(merges_[i].left, i)
        || !is_made_before(merges_[i].right, i))
      return false;
  return true;
}

uint32_t byte_pairs::rank_of(int32_t left, int32_t right) const {
  const auto pair = pair_of(left, right);
  for (auto i = hash_of(pair) & (slots_.size() - 1);;
       i = (i + 1) & (slots_.size() - 1))
    if (slots_[i].pair == pair || slots_[i].pair == no_pair)
      return slots_[i].rank;
}

void byte_pairs::encode(std::string_view word, workspace& with) const {
  auto& ids = with.ids;
  ids.clear();
  with.ends.clear();
  if (word.empty())
    return;
  ids.reserve(word.size());
  for (const char c : word.substr(0, word.size() - 1))
    ids.push_back(bytes_[static_cast<uint8_t>(c)]);
  ids.push_back(last_bytes_[static_cast<uint8_t>(word.back())]);
  const auto end = static_cast<uint32_t>(ids.size());
  with.before.resize(end);
  with.after.resize(end);
  with.rank.resize(end);
  for (uint32_t i = 0; i < end; ++i) {
    with.before[i] = i - 1;
    with.after[i] = i + 1;
    with.rank[i] = i + 1 < end ? rank_of(ids[i], ids[i + 1]) : none;
  }
  if (ordered_ && word.size() >= least_for_lists)
    join_by_lists(with);
  else
    join_by_heap(with);
  size_t kept = 0;
  for (uint32_t i = 0; i != end; i = with.after[i]) {
    ids[kept++] = ids[i];
    with.ends.push_back(with.after[i]);
  }
  ids.resize(kept);
}

// Joins the token at `at` with the next one, and pushes the new pairs.
template <class Push>
void byte_pairs::join(workspace& in, uint32_t at, const Push& push) const {
  const auto end = static_cast<uint32_t>(in.ids.size());
  const auto gone = in.after[at];
  const auto next = in.after[gone];
  in.ids[at] = merges_[in.rank[at]].joined;
  in.after[at] = next;
  in.rank[gone] = none;
  in.rank[at] = none;
  const auto look = [&](uint32_t i, uint32_t j) {
    in.rank[i] = rank_of(in.ids[i], in.ids[j]);
    if (in.rank[i] != none)
      push(in.rank[i], i);
  };
  if (next != end) {
    in.before[next] = at;
    look(at, next);
  }
  if (at != 0)
    look(in.before[at], at);
}

void byte_pairs::join_by_heap(workspace& in) const {
  auto& heap = in.heap;
  const std::greater<> order;
  const auto key = [](uint32_t rank, uint32_t at) {
    return uint64_t{rank} << 32 | at;
  };
  const auto push = [&](uint32_t rank, uint32_t at) {
    heap.push_back(key(rank, at));
    std::push_heap(heap.begin(), heap.end(), order);
  };
  heap.clear();
  for (uint32_t i = 0; i < in.rank.size(); ++i)
    if (in.rank[i] != none)
      heap.push_back(key(in.rank[i], i));
  std::make_heap(heap.begin(), heap.end(), order);
  while (!heap.empty()) {
    const auto first = heap.front();
    std::pop_heap(heap.begin(), heap.end(), order);
    heap.pop_back();
    const auto at = static_cast<uint32_t>(first);
    if (in.rank[at] == first >> 32)
      join(in, at, push);
  }
}

void byte_pairs::join_by_lists(workspace& in) const {
  // A list ends in `none`; an entry of `places` is a place and the next entry.
  in.lists.assign(merges_.size(), none);
  in.places.clear();
  const auto push = [&](uint32_t rank, uint32_t at) {
    in.places.emplace_back(at, in.lists[rank]);
    in.lists[rank] = static_cast<uint32_t>(in.places.size() - 1);
  };
  // From the right, so that the lists start with the leftmost.
  for (auto i = static_cast<uint32_t>(in.rank.size()); i-- > 0;)
    if (in.rank[i] != none)
      push(in.rank[i], i);
  for (uint32_t rank = 0; rank < in.lists.size(); ++rank) {
    in.turn.clear();
    for (auto i = in.lists[rank]; i != none; i = in.places[i].second)
      in.turn.push_back(in.places[i].first);
    // Only in this case may two pairs of this rank share a token.
    if (merges_[rank].left == merges_[rank].right)
      std::sort(in.turn.begin(), in.turn.end());
    for (const auto at : in.turn)
      if (in.rank[at] == rank)
        join(in, at, push);
  }
}

} // namespace atelier::gpu::detail
