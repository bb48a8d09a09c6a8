// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/split/child.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace atelier;

namespace {

core::result<runtime::child_options> read(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "atelier-process");
  return runtime::parse_child_options(static_cast<int>(arguments.size()),
                                      arguments.data());
}

} // namespace

BOOST_AUTO_TEST_SUITE(child_options_test)

BOOST_AUTO_TEST_CASE(all_three_are_read_in_any_order) {
  const auto x = read({"--parent=7", "--life=3", "--process=2"});
  BOOST_TEST_REQUIRE(x.operator bool());
  BOOST_TEST(x->process.process.value == 2u);
  BOOST_TEST(x->process.life.value == 3u);
  BOOST_TEST(x->parent == 7);
}

BOOST_AUTO_TEST_CASE(each_is_needed) {
  const std::vector<const char*> all{"--process=1", "--life=1", "--parent=1"};
  for (size_t i = 0; i < all.size(); ++i) {
    auto some = all;
    some.erase(some.begin() + static_cast<ptrdiff_t>(i));
    const auto x = read(some);
    BOOST_TEST(!x, all[i]);
    if (!x)
      BOOST_TEST(x.why().text.find("are needed") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(nonsense_is_named) {
  for (const auto* bad :
       {"", "x", "--arena=a", "--process=", "--process=x", "--process=-1",
        "--process=1x", "--process=4294967296",
        "--life=", "--parent=99999999999", "--help", "--other=1"}) {
    const auto x = read({"--process=1", "--life=1", "--parent=1", bad});
    BOOST_TEST(!x, bad);
    if (!x)
      BOOST_TEST(x.why().text
                 == "argument '" + std::string{bad} + "' is not understood");
  }
}

BOOST_AUTO_TEST_CASE(zero_names_nobody) {
  for (const auto* bad :
       {"--process=0", "--life=0", "--parent=0", "--parent=-1"})
    BOOST_TEST(!read({"--process=1", "--life=1", "--parent=1", bad}), bad);
}

BOOST_AUTO_TEST_SUITE_END()
