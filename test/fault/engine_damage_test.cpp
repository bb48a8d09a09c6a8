// SPDX-License-Identifier: Apache-2.0

// A device process dies after it wrote where it should not: the image is that
// of an undisturbed run all the same.

#include <atelier/ipc/layout.hpp>

#include <boost/test/unit_test.hpp>
#include <fault/watched.hpp>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

using namespace atelier;
using namespace std::chrono_literals;
using ipc::slot_kind;
using test::mode;

namespace {

/// The arena of this process's engine, found by its header.
struct open_arena {
  open_arena() {
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; at == nullptr && std::getline(maps, line);) {
      uintptr_t begin = 0;
      uintptr_t end = 0;
      char may[5] = {};
      if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, may) != 3
          || std::string{may} != "rw-s"
          || end - begin < sizeof(ipc::arena_header))
        continue;
      auto* header = reinterpret_cast<ipc::arena_header*>(begin);
      if (header->magic != ipc::arena_magic)
        continue;
      const auto sizes = ipc::check_header(*header, header->total_bytes);
      BOOST_TEST_REQUIRE(static_cast<bool>(sizes));
      state_slots = sizes->slots[static_cast<size_t>(slot_kind::state)];
      state_bytes = sizes->slot_bytes[static_cast<size_t>(slot_kind::state)];
      places = *ipc::lay_out(*sizes);
      at = reinterpret_cast<std::byte*>(begin);
    }
    BOOST_TEST_REQUIRE(at != nullptr);
  }

  /// Calls f with every state slot in which something is published.
  void each_state(
    const std::function<void(ipc::slot_header&, uint32_t)>& f) const {
    auto* headers = reinterpret_cast<ipc::slot_header*>(
      at + places.headers[static_cast<size_t>(slot_kind::state)]);
    for (uint32_t i = 0; i < state_slots; ++i)
      if (headers[i].published != 0)
        f(headers[i], i);
  }

  std::byte* buffer(uint32_t slot, uint32_t index) const {
    return at + places.buffers[static_cast<size_t>(slot_kind::state)]
         + (uint64_t{slot} * 2 + index) * state_bytes;
  }

  std::byte* at = nullptr;
  uint32_t state_slots = 0;
  uint64_t state_bytes = 0;
  ipc::arena_offsets places;
};

void expect_the_image(const std::function<void(const open_arena&)>& damage) {
  const auto wanted = test::wanted_image(12);
  const auto expected = test::undisturbed(wanted);
  auto sut = test::start(mode::split, test::with_card(test::card(40)));
  test::watched x{*sut, wanted};
  BOOST_TEST_REQUIRE(x.comes_to_step(4));
  test::kill_process(*sut, "cpu:0", SIGSTOP);
  damage(open_arena{});
  test::kill_process(*sut, "cpu:0", SIGKILL);
  const auto a = x.wait();
  test::check_same_image(test::image_in(a), expected);
  // The steps that were lost count, too.
  BOOST_TEST(std::get<generated_image>(a).steps_run >= 12u);
  BOOST_TEST(std::get<generated_image>(a).steps_run <= 24u);
  test::check_at_rest(*sut);
}

} // namespace

BOOST_AUTO_TEST_SUITE(engine_damage_test)

BOOST_AUTO_TEST_CASE(states_with_another_byte_begin_their_leg_anew) {
  expect_the_image([](const open_arena& x) {
    x.each_state([&](ipc::slot_header&, uint32_t slot) {
      for (const uint32_t index : {0u, 1u})
        x.buffer(slot, index)[100] ^= std::byte{1};
    });
  });
}

BOOST_AUTO_TEST_CASE(a_publication_of_nonsense_is_none) {
  expect_the_image([](const open_arena& x) {
    x.each_state(
      [](ipc::slot_header& slot, uint32_t) { slot.published = 0x7fffffffff; });
  });
}

BOOST_AUTO_TEST_CASE(a_publication_of_other_steps_begins_its_leg_anew) {
  expect_the_image([](const open_arena& x) {
    // The same buffer, as if it were after all steps but one.
    x.each_state([](ipc::slot_header& slot, uint32_t) {
      slot.published = 12 << 1 | (slot.published & 1);
    });
  });
}

BOOST_AUTO_TEST_SUITE_END()
