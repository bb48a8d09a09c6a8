// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/forwarding.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace atelier;

namespace {

/// Answers every call with something that no default does, and writes down what
/// it was given.
class marked_work final : public index::kept_work {
public:
  planning::compared compares() const override {
    return planning::compared::images;
  }

  std::vector<planning::match> near(std::string_view key, std::string_view text,
                                    const index::search_terms& by) override {
    got = std::string{key} + ' ' + std::string{text} + std::to_string(by.most)
        + ' ' + std::to_string(by.needs.least_steps) + ' '
        + std::to_string(by.hit_from);
    return std::vector<planning::match>(2);
  }

  core::result<index::payload> state(uint64_t entry, uint32_t steps) override {
    got = std::to_string(entry) + ' ' + std::to_string(steps);
    return core::fail(core::ec::bad_payload, "state");
  }

  core::result<index::payload> image(uint64_t entry, core::extent px,
                                     uint32_t skips) override {
    got = std::to_string(entry) + ' ' + std::to_string(px.width) + ' '
        + std::to_string(skips);
    return core::fail(core::ec::io_failed, "image");
  }

  void drop_torn(uint64_t entry) override {
    got = "torn " + std::to_string(entry);
  }

  bool prepare(index::leftover& what) override {
    what.depth = 7;
    return false;
  }

  bool keep(std::string_view key, std::string_view text,
            index::leftover what) override {
    got =
      std::string{key} + ' ' + std::string{text} + std::to_string(what.depth);
    return true;
  }

  index::kept_counts counts() const override {
    index::kept_counts out;
    out.hits = 5;
    return out;
  }

  bool has_unwritten() const override {
    return true;
  }

  void write_back() override {
    got = "back";
  }

  std::vector<float> vector_of(std::string_view, std::string_view) override {
    return {1.0f};
  }

  std::optional<index::space_extent> extent(std::string_view) const override {
    return index::space_extent{};
  }

  std::vector<float> vectors(std::string_view, size_t most) const override {
    return std::vector<float>(most);
  }

  core::result<std::vector<index::kept_entry>> list(
    const index::entry_page& which) override {
    return std::vector<index::kept_entry>(which.most);
  }

  std::string got;
};

} // namespace

BOOST_AUTO_TEST_SUITE(forwarding_test)

BOOST_AUTO_TEST_CASE(every_call_reaches_the_other) {
  const auto other = std::make_shared<marked_work>();
  index::forwarding_work sut{other};
  BOOST_TEST((sut.compares() == planning::compared::images));
  index::search_terms by{3};
  by.needs.least_steps = 5;
  by.hit_from = 1;
  BOOST_TEST(sut.near("k", "t", by).size() == 2u);
  BOOST_TEST(other->got == "k t3 5 " + std::to_string(1.0));
  BOOST_TEST((sut.state(4, 5).why().code == core::ec::bad_payload));
  BOOST_TEST(other->got == "4 5");
  BOOST_TEST((sut.image(6, {7, 8}, 9).why().code == core::ec::io_failed));
  BOOST_TEST(other->got == "6 7 9");
  sut.drop_torn(10);
  BOOST_TEST(other->got == "torn 10");
  index::leftover what;
  BOOST_TEST(!sut.prepare(what));
  BOOST_TEST(what.depth == 7u);
  BOOST_TEST(sut.keep("k", "u", std::move(what)));
  BOOST_TEST(other->got == "k u7");
  BOOST_TEST(sut.counts().hits == 5u);
  BOOST_TEST(sut.has_unwritten());
  sut.write_back();
  BOOST_TEST(other->got == "back");
  BOOST_TEST(sut.vector_of("k", "t").size() == 1u);
  BOOST_TEST(sut.extent("s").has_value());
  BOOST_TEST(sut.vectors("s", 11).size() == 11u);
  BOOST_TEST(sut.list({0, 12, {}})->size() == 12u);
}

BOOST_AUTO_TEST_SUITE_END()
