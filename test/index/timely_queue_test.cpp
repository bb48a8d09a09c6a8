// SPDX-License-Identifier: Apache-2.0
#include "index/store_rig.hpp"
#include "support/eventually.hpp"
#include <atelier/index/memory.hpp>
#include <atelier/index/timely.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

using namespace atelier;
using namespace std::chrono_literals;
using test::kept_px;
using test::kept_states;
using test::nearest_of;

namespace {

/// Ends no image before it is let go.
class slow_encoder final : public index::image_encoder {
public:
  size_t dimensions() const override {
    return index::words_encoder()->dimensions();
  }

  core::result<std::vector<float>> encode(std::span<const std::byte> rgb,
                                          core::extent) const override {
    begun = true;
    released.wait();
    if (rgb.front() == std::byte{9})
      throw std::bad_alloc{};
    if (rgb.front() == std::byte{8})
      return core::fail(core::ec::internal, "no network");
    return index::words_encoder()->encode("a red fox");
  }

  mutable std::atomic<bool> begun = false;
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
};

index::leftover picture(uint8_t value = 1) {
  index::leftover out;
  out.image.assign(kept_px.pixels() * 3, std::byte{value});
  out.px = kept_px;
  return out;
}

struct queueing {
  std::shared_ptr<slow_encoder> encoder = std::make_shared<slow_encoder>();
  std::shared_ptr<index::memory> kept = std::make_shared<index::memory>(
    index::cache_bounds{1 << 20, 10}, index::words_encoder(), encoder);
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(timely_queue_test, queueing)

BOOST_AUTO_TEST_CASE(nothing_waits_for_the_vector_of_an_image) {
  index::timely_work sut{kept, {2, 60s}};
  BOOST_TEST((sut.compares() == planning::compared::images));
  BOOST_TEST(sut.keep("k", "one", picture()));
  BOOST_TEST(test::eventually([&] { return encoder->begun.load(); }));
  // Both calls return while the image is being encoded.
  BOOST_TEST(nearest_of(sut, "a red fox") == 0u);
  BOOST_TEST(sut.keep("k", "two", picture()));
  BOOST_TEST(sut.counts().pending == 2u);
  BOOST_TEST(sut.counts().entries == 0u);
  // A third one is more than may wait.
  BOOST_TEST(!sut.keep("k", "three", picture()));
  BOOST_TEST(sut.counts().overflowed == 1u);
  BOOST_TEST(sut.counts().failed == 0u);
  encoder->release.set_value();
  BOOST_TEST(test::eventually([&] { return sut.counts().pending == 0; }));
  BOOST_TEST(sut.counts().entries == 2u);
  BOOST_TEST(nearest_of(sut, "a red fox") == 2u);
  BOOST_TEST(bool{sut.image(1, kept_px, 5)});
  BOOST_TEST(sut.list({0, 10, {}})->size() == 2u);
  sut.drop_torn(1);
  BOOST_TEST(sut.counts().dropped_torn == 1u);
}

BOOST_AUTO_TEST_CASE(what_waits_at_the_end_is_kept) {
  std::thread later;
  std::atomic<bool> ends = false;
  {
    index::timely_work sut{kept, {2, 60s}};
    BOOST_TEST(sut.keep("k", "one", picture()));
    BOOST_TEST(sut.keep("k", "two", picture()));
    later = std::thread{[&] {
      test::eventually([&] { return ends.load(); });
      encoder->release.set_value();
    }};
    ends = true;
  }
  later.join();
  BOOST_TEST(kept->counts().entries == 2u);
}

BOOST_AUTO_TEST_CASE(the_end_waits_no_longer_than_it_may) {
  const auto before = std::chrono::steady_clock::now();
  {
    index::timely_work sut{kept, {2, 10ms}};
    // Encoding fails, so that the thread that is left behind keeps nothing
    // while the program ends.
    BOOST_TEST(sut.keep("k", "one", picture(8)));
  }
  BOOST_TEST((std::chrono::steady_clock::now() - before < 30s));
  BOOST_TEST(kept->counts().entries == 0u);
  encoder->release.set_value();
}

// A string cannot hold so long a text: it is as if memory ran out.
BOOST_AUTO_TEST_CASE(what_cannot_be_queued_holds_no_place) {
  index::timely_work sut{kept, {1, 60s}};
  encoder->release.set_value();
  const std::string_view endless{"a red fox", SIZE_MAX};
  BOOST_CHECK_THROW(sut.keep("k", endless, picture()), std::length_error);
  BOOST_TEST(sut.counts().pending == 0u);
  BOOST_TEST(sut.keep("k", "one", picture()));
}

BOOST_AUTO_TEST_CASE(a_failure_counts_and_keeps_nothing) {
  index::timely_work sut{kept, {}};
  encoder->release.set_value();
  for (const auto value : {uint8_t{8}, uint8_t{9}})
    BOOST_TEST(sut.keep("k", "one", picture(value)));
  BOOST_TEST(sut.keep("k", "one", picture()));
  BOOST_TEST(test::eventually([&] { return sut.counts().pending == 0; }));
  BOOST_TEST(sut.counts().failed == 2u);
  BOOST_TEST(sut.counts().entries == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
