// SPDX-License-Identifier: Apache-2.0
#include "live_executor.hpp"
#include <atelier/gpu/device/detail/loading_device.hpp>

#include <algorithm>
#include <future>
#include <set>

using namespace atelier;

namespace {

using variants = std::vector<core::variant_id>;

/// A device of test cards whose loads wait for the test.
struct fixture : test::live_executor {
  fixture() {
    auto cards = gpu::make_test_card_executor({known, {}, {}, {}, 0}, slots);
    gpu::detail::loading_device::shelf shelf;
    shelf.has = [this](const variants& x) {
      const std::lock_guard guard{mutex};
      return there.count(x.front()) != 0;
    };
    shelf.bring = [this](const variants& x,
                         const variants&) -> gpu::load_report {
      gate.get_future().get();
      const std::lock_guard guard{mutex};
      gate = {};
      if (x.front().value == 7)
        return {core::fail(core::ec::bad_payload, "not a model")};
      there.insert(x.front());
      return {};
    };
    shelf.take_out = [this](const variants& x) {
      const std::lock_guard guard{mutex};
      std::vector<std::shared_ptr<const void>> out;
      for (const auto v : x)
        if (there.erase(v) != 0)
          out.push_back(
            std::shared_ptr<const void>{this, [this](const void*) {
                                          freed.put(std::this_thread::get_id());
                                        }});
      return out;
    };
    sut = std::make_shared<gpu::detail::loading_device>(
      std::move(cards), std::move(shelf), variants{core::variant_id{0}},
      std::vector<gpu::load_failure>{});
    sut->connect({[this](gpu::run_report x) { ran.put(std::move(x)); },
                  [this](gpu::decode_report x) { decoded.put(std::move(x)); },
                  [this](gpu::load_report x) { loaded.put(std::move(x)); }});
  }

  ~fixture() {
    sut.reset();
  }

  std::mutex mutex;
  std::set<core::variant_id> there{core::variant_id{0}};
  std::promise<void> gate;
  test::inbox<gpu::load_report> loaded;
  test::inbox<std::thread::id> freed;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(loading_device, fixture)

BOOST_AUTO_TEST_CASE(rows_run_while_a_model_is_loaded) {
  BOOST_TEST(sut->loads_beside());
  BOOST_TEST((sut->resident() == variants{core::variant_id{0}}));
  BOOST_TEST(!sut->load({core::variant_id{1}}, {core::variant_id{0}}));
  const auto first = job(1, 4);
  sut->open(first);
  BOOST_TEST(run({first.ticket}, 4).steps == 4u);
  BOOST_CHECK(decode(first.ticket).failure.code == core::ec::none);
  BOOST_CHECK(image(first) == expected(first));
  sut->close(first.ticket);
  gate.set_value();
  BOOST_CHECK(loaded.take().failure.code == core::ec::none);
  // A loaded model is reported without a new load.
  BOOST_TEST(!sut->load({core::variant_id{1}}, {}));
  BOOST_CHECK(loaded.take().failure.code == core::ec::none);
}

BOOST_AUTO_TEST_CASE(every_order_is_answered_and_an_overtaken_one_first) {
  sut->load({core::variant_id{1}}, {});
  // The first load may have begun or not. The last one ends last.
  sut->load({core::variant_id{0}}, {});
  sut->load({core::variant_id{0}}, {});
  gate.set_value();
  std::vector<core::ec> codes;
  for (int i = 0; i < 3; ++i)
    codes.push_back(loaded.take().failure.code);
  BOOST_CHECK(codes.back() == core::ec::none);
  BOOST_TEST(std::count(codes.begin(), codes.end(), core::ec::cancelled) >= 1);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_loaded_is_told_and_the_next_is_loaded) {
  sut->load({core::variant_id{7}}, {});
  gate.set_value();
  BOOST_TEST(loaded.take().failure.text == "not a model");
  sut->load({core::variant_id{0}}, {});
  BOOST_CHECK(loaded.take().failure.code == core::ec::none);
}

BOOST_AUTO_TEST_CASE(what_is_forgotten_is_freed_elsewhere_and_loaded_again) {
  sut->forget({core::variant_id{0}, core::variant_id{3}});
  BOOST_CHECK(freed.take() != std::this_thread::get_id());
  sut->load({core::variant_id{0}}, {});
  gate.set_value();
  BOOST_CHECK(loaded.take().failure.code == core::ec::none);
  const std::lock_guard guard{mutex};
  BOOST_TEST(there.count(core::variant_id{0}) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
