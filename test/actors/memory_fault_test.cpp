// SPDX-License-Identifier: Apache-2.0

// Devices that run out of memory in the middle of a row, as executors report
// it. It is not a death, and another attempt resumes from the published state.

#include "actors/requests_rig.hpp"
#include "support/scale.hpp"

#include <map>
#include <vector>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using core::ec;

size_t requests() {
  return 20 + test::scaled(500);
}

core::error out_of_memory() {
  return core::fail(ec::out_of_resources, "a step: out of memory");
}

} // namespace

BOOST_AUTO_TEST_SUITE(memory_fault_test)

BOOST_AUTO_TEST_CASE(rows_that_found_no_memory_are_drawn_by_a_later_attempt) {
  const auto count = requests();
  const auto calm = test::calm_images(count);
  test::requests_rig rig;
  std::map<core::request_id, uint32_t> tried;
  uint64_t failed = 0;
  // Three of four rows fail, up to three times, at any step.
  rig.on_denoise([&](const actors::denoise& x) {
    const auto before = tried[x.ticket.id]++;
    if (before >= x.ticket.id.value % 4)
      return;
    rig.fail_step(x.ticket, static_cast<uint32_t>(x.ticket.id.value / 4 % 3),
                  out_of_memory());
    ++failed;
  });
  std::vector<core::request_id> all;
  while (all.size() < count) {
    // Some requests share batches.
    for (int i = 0; i < 7 && all.size() < count; ++i)
      all.push_back(rig.submit());
    rig.settle();
  }
  BOOST_TEST(failed > count / 2);
  for (const auto id : all) {
    BOOST_TEST((rig.code_of(id) == ec::none), core::to_string(rig.code_of(id)));
    BOOST_TEST((rig.image_of(id) == calm.at(id)), "request " << id.value);
  }
  BOOST_TEST(rig.workers_lost() == 0u);
  BOOST_TEST(rig.resumed() > 0u);
  rig.expect_rest();
  BOOST_TEST_MESSAGE(failed << " steps without memory, " << rig.resumed()
                            << " rows went on");
}

BOOST_AUTO_TEST_CASE(a_row_that_never_finds_memory_fails_and_says_so) {
  test::requests_rig rig;
  std::vector<core::request_id> all;
  rig.on_denoise([&](const actors::denoise& x) {
    if (x.ticket.id.value % 5 == 0)
      rig.fail_step(x.ticket, 0, out_of_memory());
  });
  const auto count = requests();
  while (all.size() < count) {
    for (int i = 0; i < 7 && all.size() < count; ++i)
      all.push_back(rig.submit());
    rig.settle();
  }
  for (const auto id : all) {
    const auto wanted = id.value % 5 == 0 ? ec::out_of_resources : ec::none;
    BOOST_TEST((rig.code_of(id) == wanted), core::to_string(rig.code_of(id)));
  }
  BOOST_TEST(rig.workers_lost() == 0u);
  rig.expect_rest();
}

BOOST_AUTO_TEST_SUITE_END()
