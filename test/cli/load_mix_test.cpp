// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/load_mix.hpp>

#include <boost/test/unit_test.hpp>

#include <map>

namespace {

using namespace atelier;
using core::ec;
using runtime::cli::load_mix;

std::string refused(const std::string& text) {
  load_mix sut;
  const auto got = sut.add(text, core::limits{});
  BOOST_REQUIRE_MESSAGE(!got, text << " was taken");
  BOOST_TEST((got.why().code == ec::invalid_argument));
  return got.why().text;
}

load_mix made(std::initializer_list<std::string> texts) {
  load_mix sut;
  for (const auto& text : texts) {
    const auto got = sut.add(text, core::limits{});
    if (!got)
      BOOST_FAIL(text << ": " << got.why().text);
  }
  return sut;
}

} // namespace

BOOST_AUTO_TEST_SUITE(load_mix_test)

BOOST_AUTO_TEST_CASE(each_field_is_drawn_by_itself) {
  const auto sut = made({"steps=8", "size=64x48", "guidance=3", "sampler=euler",
                         "priority=high", "deadline_ms=250", "model=m",
                         "variant=m@8", "format=jpeg"});
  core::philox random{1, core::purpose::test};
  generation x;
  sut.draw(random, x);
  BOOST_TEST(x.steps.value() == 8u);
  BOOST_TEST(x.width == 64u);
  BOOST_TEST(x.height == 48u);
  BOOST_TEST(x.guidance.value() == 3.0f);
  BOOST_TEST(x.sampler.value() == "euler");
  BOOST_TEST(x.priority == "high");
  BOOST_TEST((x.deadline.value() == std::chrono::milliseconds{250}));
  BOOST_TEST(x.model.value() == "m");
  BOOST_TEST(x.variant.value() == "m@8");
  BOOST_TEST(x.format == "jpeg");
}

BOOST_AUTO_TEST_CASE(values_come_by_their_weights) {
  const auto sut = made({"steps=1:3,2:1,3:0"});
  core::philox random{7, core::purpose::test};
  std::map<uint32_t, int> seen;
  for (int i = 0; i < 4000; ++i) {
    generation x;
    sut.draw(random, x);
    ++seen[x.steps.value()];
  }
  BOOST_TEST(seen.size() == 2u);
  BOOST_TEST(seen[1] > 2850);
  BOOST_TEST(seen[1] < 3150);
}

BOOST_AUTO_TEST_CASE(none_leaves_the_field_alone) {
  const auto sut = made({"deadline_ms=none", "steps=none"});
  core::philox random{7, core::purpose::test};
  generation x;
  sut.draw(random, x);
  BOOST_TEST(!x.deadline.has_value());
  BOOST_TEST(!x.steps.has_value());
}

BOOST_AUTO_TEST_CASE(the_same_stream_draws_the_same) {
  const auto sut = made({"steps=1,2,3,4,5,6,7,8"});
  core::philox one{7, core::purpose::test};
  core::philox two{7, core::purpose::test};
  for (int i = 0; i < 100; ++i) {
    generation x;
    generation y;
    sut.draw(one, x);
    sut.draw(two, y);
    BOOST_TEST(*x.steps == *y.steps);
  }
}

BOOST_AUTO_TEST_CASE(each_value_is_told_for_checks) {
  const auto sut = made({"steps=1,2:0", "priority=low"});
  std::vector<std::string> told;
  sut.each(
    [&](const std::string& what, const generation&) { told.push_back(what); });
  const std::vector<std::string> expected{"--mix steps=1", "--mix steps=2",
                                          "--mix priority=low"};
  BOOST_TEST(told == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused_by_name) {
  BOOST_TEST(refused("steps").find("FIELD=VALUE") != std::string::npos);
  BOOST_TEST(refused("colour=red").find("steps, size") != std::string::npos);
  BOOST_TEST(refused("steps=0").find("--mix steps: ") == 0u);
  BOOST_TEST(refused("steps=8:").find("--mix steps: ") == 0u);
  BOOST_TEST(refused("steps=8:-1").find("0..") != std::string::npos);
  BOOST_TEST(refused("steps=").find("--mix steps: ") == 0u);
  BOOST_TEST(refused("steps=8:0,9:0").find("all weights are 0")
             != std::string::npos);
  BOOST_TEST(refused("size=63x64").find("--mix size: ") == 0u);
  BOOST_TEST(refused("sampler=best").find("ddim") != std::string::npos);
  BOOST_TEST(refused("priority=vip").find("low, normal or high")
             != std::string::npos);
  BOOST_TEST(refused("deadline_ms=0").find("1..") != std::string::npos);
  auto twice = made({"steps=8"});
  const auto got = twice.add("steps=9", core::limits{});
  BOOST_REQUIRE(!got);
  BOOST_TEST(got.why().text == "--mix: steps occurs twice");
}

BOOST_AUTO_TEST_SUITE_END()
