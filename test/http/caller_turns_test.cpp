// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/caller_turns.hpp>

#include <boost/test/unit_test.hpp>

#include <future>
#include <string>
#include <vector>

namespace atelier::runtime::http {

BOOST_AUTO_TEST_SUITE(caller_turns_test)

BOOST_AUTO_TEST_CASE(keys_take_turns) {
  std::promise<void> began;
  std::promise<void> go;
  std::promise<void> done;
  std::vector<std::string> order;
  caller_turns sut{1, 100};
  BOOST_TEST(sut.run("ann", [&] {
    began.set_value();
    go.get_future().wait();
  }));
  began.get_future().wait();
  const auto run = [&](const std::string& key, const std::string& name) {
    BOOST_TEST(sut.run(key, [&order, name] { order.push_back(name); }));
  };
  for (int i = 0; i < 4; ++i)
    run("ann", "a" + std::to_string(i));
  for (int i = 0; i < 2; ++i)
    run("bob", "b" + std::to_string(i));
  run("", "c0");
  BOOST_TEST(sut.run("ann", [&] { done.set_value(); }));
  go.set_value();
  done.get_future().wait();
  BOOST_TEST(
    order
      == (std::vector<std::string>{"a0", "b0", "c0", "a1", "b1", "a2", "a3"}),
    boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(waiting_work_is_bounded) {
  std::promise<void> began;
  std::promise<void> go;
  caller_turns sut{1, 2};
  BOOST_TEST(sut.run("ann", [&] {
    began.set_value();
    go.get_future().wait();
  }));
  began.get_future().wait();
  BOOST_TEST(sut.run("ann", [] {}));
  BOOST_TEST(sut.run("bob", [] {}));
  BOOST_TEST(!sut.run("cid", [] {}));
  go.set_value();
}

BOOST_AUTO_TEST_CASE(a_key_may_have_a_quarter_of_the_waiting_work) {
  std::promise<void> began;
  std::promise<void> go;
  caller_turns sut{1, 8};
  BOOST_TEST(sut.run("ann", [&] {
    began.set_value();
    go.get_future().wait();
  }));
  began.get_future().wait();
  BOOST_TEST(sut.run("ann", [] {}));
  BOOST_TEST(sut.run("ann", [] {}));
  BOOST_TEST(!sut.run("ann", [] {}));
  BOOST_TEST(sut.run("bob", [] {}));
  go.set_value();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
