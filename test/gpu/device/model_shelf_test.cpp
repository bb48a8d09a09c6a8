// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/device/detail/model_shelf.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace atelier;

namespace {

using shelf = gpu::detail::model_shelf<std::string>;
using variants = std::vector<core::variant_id>;

constexpr uint64_t mib = uint64_t{1} << 20;

/// A shelf of models "a" (two variants), "b" and "c" of 10 MiB each. The shelf
/// may not hold variant 4.
struct fixture {
  shelf make(uint64_t most_mib) {
    std::vector<std::optional<gpu::detail::shelf_title>> titles;
    for (const char* name : {"a", "a", "b", "c"})
      titles.emplace_back(
        gpu::detail::shelf_title{name, core::dtype::float32, 10 * mib});
    titles.emplace_back();
    return shelf{
      std::move(titles), most_mib * mib,
      [this](const auto& x) -> core::result<shelf::opened_model> {
        if (gone == x.model)
          return core::fail(core::ec::not_found, "gone");
        using made = core::result<std::pair<shelf::held_model, uint64_t>>;
        return shelf::opened_model{
          x.bytes, [this, x]() -> made {
            loads.push_back(x.model);
            if (broken == x.model)
              return core::fail(core::ec::bad_payload, "broken");
            return std::pair{std::make_shared<const std::string>(x.model),
                             large == x.model ? 2 * x.bytes : x.bytes};
          }};
      }};
  }

  static variants of(std::initializer_list<uint32_t> ids) {
    variants all;
    for (const auto i : ids)
      all.push_back(core::variant_id{i});
    return all;
  }

  std::vector<std::string> loads;
  std::string broken;
  std::string gone;
  /// It takes twice the bytes that its files say.
  std::string large;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(model_shelf, fixture)

BOOST_AUTO_TEST_CASE(a_model_is_loaded_once_for_all_its_variants) {
  auto sut = make(0);
  BOOST_TEST(!sut.has(of({0})));
  BOOST_TEST((sut.find(core::variant_id{0}) == nullptr));
  BOOST_REQUIRE(sut.bring(of({0, 1, 2}), {}));
  BOOST_REQUIRE(sut.bring(of({1}), {}));
  BOOST_TEST((loads == std::vector<std::string>{"a", "b"}));
  BOOST_TEST(sut.has(of({0, 1, 2})));
  BOOST_TEST(*sut.find(core::variant_id{1}) == "a");
  BOOST_TEST((sut.find(core::variant_id{0}) == sut.find(core::variant_id{1})));
  BOOST_TEST(sut.bytes() == 20 * mib);
}

BOOST_AUTO_TEST_CASE(the_least_recently_used_leaves_where_memory_is_short) {
  auto sut = make(20);
  BOOST_REQUIRE(sut.bring(of({0, 2}), {}));
  sut.find(core::variant_id{0});
  BOOST_REQUIRE(sut.bring(of({3}), {}));
  BOOST_TEST(sut.has(of({0, 3})));
  BOOST_TEST(!sut.has(of({2})));
  BOOST_TEST(sut.bytes() == 20 * mib);
}

BOOST_AUTO_TEST_CASE(what_is_kept_stays_and_leaves_when_it_is_not) {
  auto sut = make(10);
  BOOST_REQUIRE(sut.bring(of({0}), {}));
  const auto refused = sut.bring(of({2}), of({1, 3}));
  BOOST_TEST_REQUIRE(!refused);
  BOOST_CHECK(refused.why().code == core::ec::out_of_resources);
  BOOST_TEST(refused.why().text
             == "b need 10 MiB beside 10 MiB that stay: memory_mib allows 10");
  BOOST_TEST(sut.has(of({0})));
  BOOST_TEST(sut.bring(of({2}), of({3})).operator bool());
  BOOST_TEST(!sut.has(of({0})));
}

BOOST_AUTO_TEST_CASE(what_never_fits_or_may_not_stand_there_changes_nothing) {
  auto sut = make(15);
  BOOST_REQUIRE(sut.bring(of({0}), {}));
  BOOST_CHECK(sut.bring(of({2, 3}), {}).why().code
              == core::ec::out_of_resources);
  BOOST_CHECK(sut.bring(of({4}), {}).why().code == core::ec::not_found);
  BOOST_CHECK(sut.bring(of({9}), {}).why().code == core::ec::not_found);
  BOOST_TEST(sut.has(of({0})));
  BOOST_TEST(!sut.has(of({4})));
  BOOST_TEST((loads == std::vector<std::string>{"a"}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_loaded_is_told) {
  auto sut = make(0);
  broken = "a";
  const auto failed = sut.bring(of({0, 1, 2}), {});
  BOOST_TEST_REQUIRE(failed.operator bool());
  const auto why = core::fail(core::ec::bad_payload, "broken");
  const std::vector<gpu::load_failure> both{{core::variant_id{0}, why},
                                            {core::variant_id{1}, why}};
  BOOST_TEST((*failed == both));
  BOOST_TEST(!sut.has(of({0})));
  BOOST_TEST(sut.has(of({2})));
  broken.clear();
  BOOST_TEST(sut.bring(of({0}), {})->empty());
  BOOST_TEST(sut.has(of({0, 1})));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_opened_evicts_nothing) {
  auto sut = make(10);
  BOOST_REQUIRE(sut.bring(of({2}), {}));
  gone = "a";
  const auto failed = sut.bring(of({0}), {});
  BOOST_TEST_REQUIRE(failed.operator bool());
  BOOST_TEST(failed->size() == 1u);
  BOOST_TEST(sut.has(of({2})));
  // The failed model needs no room beside another.
  BOOST_TEST(sut.bring(of({0, 3}), {})->size() == 1u);
  BOOST_TEST(sut.has(of({3})));
}

BOOST_AUTO_TEST_CASE(the_limit_holds_for_what_was_loaded) {
  auto sut = make(30);
  large = "b";
  BOOST_REQUIRE(sut.bring(of({0, 3}), {}));
  // Its files say 10 MiB, for which nothing has to leave.
  const auto beside = sut.bring(of({2}), of({3}));
  BOOST_TEST_REQUIRE(beside.operator bool());
  BOOST_TEST(beside->empty());
  BOOST_TEST(!sut.has(of({0})));
  BOOST_TEST(sut.has(of({2, 3})));
  BOOST_TEST(sut.bytes() == 30 * mib);
}

// Plans were made by the files' sizes.
BOOST_AUTO_TEST_CASE(what_turns_out_too_large_stays) {
  auto sut = make(30);
  large = "b";
  BOOST_REQUIRE(sut.bring(of({0}), {}));
  const auto failed = sut.bring(of({2, 3}), of({0}));
  BOOST_TEST_REQUIRE(failed.operator bool());
  BOOST_TEST(failed->empty());
  BOOST_TEST(sut.has(of({0, 2, 3})));
  BOOST_TEST(sut.bytes() == 40 * mib);
}

BOOST_AUTO_TEST_CASE(what_is_taken_out_is_gone_until_it_is_brought_again) {
  auto sut = make(0);
  BOOST_REQUIRE(sut.bring(of({0, 2}), {}));
  // The list has two variants of one model, a missing model, and one that the
  // shelf may not hold.
  BOOST_TEST(sut.take_out(of({0, 1, 3, 4, 9})).size() == 1u);
  BOOST_TEST(!sut.has(of({0})));
  BOOST_TEST(sut.has(of({2})));
  BOOST_TEST(sut.bytes() == 10 * mib);
  BOOST_REQUIRE(sut.bring(of({1}), {}));
  BOOST_TEST(sut.has(of({0, 1, 2})));
}

BOOST_AUTO_TEST_SUITE_END()
