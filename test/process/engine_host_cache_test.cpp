// SPDX-License-Identifier: Apache-2.0

// A cache of the host's own, in both modes.

#include <atelier/index/kept_work.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <process/recall_rig.hpp>
#include <support/eventually.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

using namespace atelier;
using namespace std::chrono_literals;
using test::mode;

namespace {

/// Passes everything on, says nothing of similarity, and throws on demand.
class own_cache final : public index::kept_work {
public:
  explicit own_cache(std::shared_ptr<index::kept_work> inner)
    : inner_(std::move(inner)) {}

  planning::compared compares() const override {
    return by;
  }

  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const index::search_terms& how) override {
    ++searches;
    check();
    auto found = inner_->near(key, text, how);
    for (auto& x : found)
      x.similarity = 0.95;
    return found;
  }

  core::result<index::payload> state(uint64_t entry, uint32_t steps) override {
    if (states_fail)
      throw std::runtime_error{"no states today"};
    return inner_->state(entry, steps);
  }

  core::result<index::payload> image(uint64_t entry, core::extent px,
                                     uint32_t skips) override {
    return inner_->image(entry, px, skips);
  }

  void drop_torn(uint64_t entry) override {
    inner_->drop_torn(entry);
  }

  bool keep(std::string_view key, std::string_view text,
            index::leftover what) override {
    ++kept;
    check();
    stuck.wait(true);
    return inner_->keep(key, text, std::move(what));
  }

  index::kept_counts counts() const override {
    return inner_->counts();
  }

  planning::compared by = planning::compared::prompts;
  std::atomic<bool> fails{false};
  std::atomic<bool> states_fail{false};
  std::atomic<bool> stuck{false};
  std::atomic<uint64_t> searches{0};
  std::atomic<uint64_t> kept{0};

private:
  void check() const {
    if (fails)
      throw std::runtime_error{"no cache today"};
  }

  std::shared_ptr<index::kept_work> inner_;
};

struct fixture : test::recall_rig {
  engine_options options(mode how, const std::string& policy = "nirvana") {
    auto out = test::options_of(how, settings(policy));
    out.extend.cache = [this](std::shared_ptr<index::kept_work> inner) {
      own = std::make_shared<own_cache>(std::move(inner));
      own->by = by;
      return own;
    };
    return out;
  }

  failure refused(const engine_options& x) {
    auto made = engine::start(x);
    BOOST_TEST_REQUIRE(std::holds_alternative<failure>(made));
    return std::get<failure>(made);
  }

  planning::compared by = planning::compared::prompts;
  std::shared_ptr<own_cache> own;
};

const auto cache_modes =
  boost::unit_test::data::make({mode::single, mode::split});

} // namespace

BOOST_FIXTURE_TEST_SUITE(engine_host_cache_test, fixture)

BOOST_DATA_TEST_CASE(it_is_searched_and_keeps, cache_modes, how) {
  auto sut = test::start(options(how));
  const auto x = wanted("a red ball on a table");
  test::answers_to(*sut, {x});
  remembered(*sut);
  const auto again = repeated(*sut, x);
  BOOST_TEST(again.reused.value().similarity == 0.95);
  BOOST_TEST(own->kept >= 1u);
  BOOST_TEST(own->searches >= 2u);
  BOOST_TEST(sut->stop(10s));
}

BOOST_DATA_TEST_CASE(what_it_throws_finds_and_keeps_nothing, cache_modes, how) {
  auto sut = test::start(options(how));
  const auto x = wanted("a red ball on a table");
  own->fails = true;
  for (int i = 0; i < 2; ++i) {
    const auto drawn = test::answers_to(*sut, {x});
    BOOST_TEST(test::image_in(drawn.front()).route == "scratch");
  }
  BOOST_TEST(test::eventually([&] { return own->kept >= 2; }));
  BOOST_TEST(own->searches >= 1u);
  BOOST_TEST(sut->status().cache.value().entries == 0u);
  own->fails = false;
  test::answers_to(*sut, {x});
  remembered(*sut);
  // A found state that cannot be read is drawn over.
  own->states_fail = true;
  for (int i = 0; i < 3; ++i) {
    const auto drawn = test::answers_to(*sut, {x});
    BOOST_TEST(test::image_in(drawn.front()).steps_run == test::recall_steps);
  }
  own->states_fail = false;
  repeated(*sut, x);
  BOOST_TEST(sut->stop(10s));
}

// What is kept waits for a cache that takes long to keep; searches do not.
BOOST_DATA_TEST_CASE(searches_do_not_wait_for_what_is_kept, cache_modes, how) {
  auto sut = test::start(options(how));
  own->stuck = true;
  for (const auto* const prompt :
       {"a red ball on a table", "two green cups", "the old town at night"}) {
    const auto drawn = test::answers_to(*sut, {wanted(prompt)});
    BOOST_TEST(test::image_in(drawn.front()).route == "scratch");
    BOOST_TEST(test::eventually([&] { return own->kept == 1; }));
  }
  BOOST_TEST(own->searches >= 2u);
  BOOST_TEST(own->kept == 1u);
  own->stuck = false;
  own->stuck.notify_all();
  BOOST_TEST(test::eventually([&] { return own->kept == 3; }));
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_CASE(one_that_is_not_made_ends_the_start) {
  auto x = options(mode::single);
  x.extend.cache = [](std::shared_ptr<index::kept_work>) {
    return std::shared_ptr<index::kept_work>{};
  };
  const auto null = refused(x);
  BOOST_TEST(null.code == "bad_config");
  BOOST_TEST(null.text == "extensions::cache: it returned null");
  x.extend.cache = [](std::shared_ptr<index::kept_work> inner) {
    if (inner)
      throw std::runtime_error{"no disk"};
    return inner;
  };
  const auto thrown = refused(x);
  BOOST_TEST(thrown.text.find("no disk") != std::string::npos, thrown.text);
  // Without a configured cache it is not asked.
  x.set.emplace_back("cache.memory_mib=0");
  BOOST_TEST(test::start(x)->stop(10s));
}

BOOST_AUTO_TEST_CASE(a_policy_compares_what_it_compares) {
  by = planning::compared::images;
  const auto why = refused(options(mode::single, "nirvana"));
  BOOST_TEST(why.code == "bad_config");
  BOOST_TEST(why.text.find("extensions::cache: it compares prompts with "
                           "images")
               != std::string::npos,
             why.text);
  // Its similarities are above the threshold of `crs`.
  auto sut = test::start(options(mode::single, "crs"));
  const auto x = wanted("a red ball on a table");
  test::answers_to(*sut, {x});
  remembered(*sut);
  const auto again = test::answers_to(*sut, {x});
  BOOST_TEST(test::image_in(again.front()).route == "picture");
  BOOST_TEST(sut->stop(10s));
}

BOOST_AUTO_TEST_SUITE_END()
