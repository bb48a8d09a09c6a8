// SPDX-License-Identifier: Apache-2.0
// The guarantees of every store: the arena in private memory, and the heap.
#include "support/scale.hpp"
#include <atelier/ipc/arena.hpp>
#include <atelier/ipc/heap_store.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

namespace {

using namespace atelier;
using core::ec;
using ipc::slot_kind;
using ipc::slot_ref;

constexpr ipc::arena_sizes sizes = {{2, 2, 1}, {4096, 4096, 64}, 1, 256};

std::vector<std::unique_ptr<ipc::slot_store>> stores() {
  std::vector<std::unique_ptr<ipc::slot_store>> xs;
  xs.push_back(
    std::make_unique<ipc::heap_store>(1, sizes.slots, sizes.slot_bytes));
  xs.push_back(*ipc::arena_owner::make_private(sizes));
  return xs;
}

void fill(ipc::slot_store& x, const slot_ref& slot, std::byte with) {
  auto into = x.buffer(slot);
  BOOST_REQUIRE(into);
  std::memset(into->data(), std::to_integer<int>(with), into->size());
}

template <class T>
ec code_of(const core::result<T>& x) {
  return x ? ec::none : x.why().code;
}

} // namespace

BOOST_AUTO_TEST_SUITE(slot_store_test)

BOOST_AUTO_TEST_CASE(a_state_slot_is_published_in_turn) {
  for (auto& x : stores()) {
    slot_ref slot{1, 1, 5, slot_kind::state};
    std::vector<std::byte> copy;
    x->open(slot);
    BOOST_TEST(*x->published(slot) == 0u);
    BOOST_TEST((code_of(x->read(slot, copy)) == ec::not_found));
    std::byte* last = nullptr;
    for (auto seq : std::array<uint64_t, 4>{1, 2, 3, 7}) {
      auto* buffer = x->buffer(slot)->data();
      BOOST_TEST((buffer != last));
      last = buffer;
      fill(*x, slot, static_cast<std::byte>(seq));
      BOOST_REQUIRE(x->publish(slot, seq, 100 * seq));
      BOOST_TEST(*x->published(slot) == seq);
      // An unfinished publication is not visible.
      fill(*x, slot, std::byte{0xEE});
      BOOST_TEST(*x->read(slot, copy) == seq);
      BOOST_TEST(
        (copy
         == std::vector<std::byte>(100 * seq, static_cast<std::byte>(seq))));
    }
    BOOST_TEST((code_of(x->publish(slot, 7, 1)) == ec::incompatible));
    BOOST_TEST((code_of(x->publish(slot, 8, 4097)) == ec::invalid_argument));
    BOOST_TEST((code_of(x->view(slot)) == ec::invalid_argument));
    BOOST_TEST(*x->published(slot) == 7u);
  }
}

BOOST_AUTO_TEST_CASE(other_slots_are_written_once) {
  for (auto& x : stores()) {
    slot_ref slot{1, 0, 1, slot_kind::image};
    x->open(slot);
    BOOST_TEST((code_of(x->view(slot)) == ec::not_found));
    BOOST_TEST((code_of(x->publish(slot, 2, 1)) == ec::incompatible));
    fill(*x, slot, std::byte{9});
    BOOST_REQUIRE(x->publish(slot, 1, 10));
    auto seen = x->view(slot);
    BOOST_REQUIRE(seen);
    BOOST_TEST(seen->size() == 10u);
    BOOST_TEST((seen->front() == std::byte{9}));
    BOOST_TEST((code_of(x->buffer(slot)) == ec::incompatible));
    BOOST_TEST((code_of(x->publish(slot, 1, 10)) == ec::incompatible));
    BOOST_TEST(*x->published(slot) == 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_stale_reference_is_refused_by_every_call) {
  for (auto& x : stores()) {
    slot_ref slot{1, 0, 4, slot_kind::state};
    x->open(slot);
    BOOST_REQUIRE(x->publish(slot, 1, 8));
    std::vector<std::byte> copy;
    for (auto bad : {slot_ref{1, 0, 3, slot_kind::state},
                     slot_ref{1, 0, 0, slot_kind::state},
                     slot_ref{2, 0, 4, slot_kind::state},
                     slot_ref{1, 2, 4, slot_kind::state},
                     slot_ref{1, 0, 4, slot_kind::capture},
                     slot_ref{1, 0, 4, static_cast<slot_kind>(3)}}) {
      BOOST_TEST((code_of(x->buffer(bad)) == ec::incompatible));
      BOOST_TEST((code_of(x->publish(bad, 2, 8)) == ec::incompatible));
      BOOST_TEST((code_of(x->published(bad)) == ec::incompatible));
      BOOST_TEST((code_of(x->read(bad, copy)) == ec::incompatible));
      BOOST_TEST((code_of(x->view(bad)) == ec::incompatible));
    }
    // After a new grant, nothing of the old one is left.
    slot_ref next{1, 0, 5, slot_kind::state};
    x->open(next);
    BOOST_TEST((code_of(x->published(slot)) == ec::incompatible));
    BOOST_TEST(*x->published(next) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(torn_bytes_are_not_accepted) {
  for (auto& x : stores()) {
    slot_ref slot{1, 0, 1, slot_kind::state};
    x->open(slot);
    fill(*x, slot, std::byte{1});
    auto bytes = *x->buffer(slot);
    BOOST_REQUIRE(x->publish(slot, 1, 1000));
    bytes[999] ^= std::byte{1};
    std::vector<std::byte> copy;
    BOOST_TEST((code_of(x->read(slot, copy)) == ec::io_failed));
    bytes[999] ^= std::byte{1};
    BOOST_TEST(*x->read(slot, copy) == 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_store_without_payload_remembers_publications) {
  ipc::heap_store x{1, {1, 1, 0}};
  slot_ref slot{1, 0, 1, slot_kind::state};
  x.open(slot);
  std::vector<std::byte> copy(3);
  BOOST_TEST(x.capacity(slot_kind::state) == 0u);
  BOOST_TEST(x.buffer(slot)->size() == 0u);
  BOOST_TEST((x.publish(slot, 3, 12'345) ? true : false));
  BOOST_TEST(*x.read(slot, copy) == 3u);
  BOOST_TEST(copy.empty());
}

BOOST_AUTO_TEST_CASE(a_reader_beside_a_fast_writer_sees_whole_states) {
  for (auto& x : stores()) {
    slot_ref slot{1, 0, 1, slot_kind::state};
    x->open(slot);
    fill(*x, slot, std::byte{1});
    BOOST_REQUIRE(x->publish(slot, 1, 4096));
    std::atomic<bool> done = false;
    std::thread writer{[&] {
      for (uint64_t seq = 2, n = test::scaled(200'000); seq < n; ++seq) {
        auto into = x->buffer(slot);
        std::memset(into->data(), static_cast<int>(seq & 0xFF), 4096);
        if (!x->publish(slot, seq, 4096))
          break;
      }
      done = true;
    }};
    size_t torn = 0;
    size_t fell_back = 0;
    size_t reads = 0;
    uint64_t last = 0;
    std::vector<std::byte> copy;
    while (reads == 0 || !done) {
      auto seq = x->read(slot, copy);
      if (!seq)
        continue;
      ++reads;
      fell_back += *seq < last;
      last = *seq;
      for (auto b : copy)
        torn += b != static_cast<std::byte>(*seq & 0xFF);
    }
    writer.join();
    BOOST_TEST(torn == 0u);
    BOOST_TEST(fell_back == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
