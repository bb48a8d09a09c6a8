// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/output_queue.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

using verdict = output_queue::verdict;

BOOST_AUTO_TEST_SUITE(output_queue_test)

BOOST_AUTO_TEST_CASE(texts_are_written_in_order_one_write_at_a_time) {
  output_queue sut;
  sut.push("ab");
  sut.push("c");
  BOOST_TEST(sut.begin_write().value() == "ab");
  BOOST_TEST(!sut.begin_write());
  sut.end_write();
  sut.written(2);
  BOOST_TEST(!sut.empty());
  BOOST_TEST(sut.begin_write().value() == "c");
  sut.end_write();
  sut.written(1);
  BOOST_TEST(sut.empty());
  BOOST_TEST(!sut.begin_write());
}

BOOST_AUTO_TEST_CASE(rest_of_a_text_is_written_next) {
  output_queue sut;
  sut.push("abc");
  sut.begin_write();
  sut.end_write();
  sut.written(1);
  BOOST_TEST(sut.begin_write().value() == "bc");
}

BOOST_AUTO_TEST_CASE(who_reads_too_slowly_is_told_until_it_is_written) {
  output_queue sut;
  sut.limit(3, {});
  BOOST_TEST((sut.offer(3) == verdict::taken));
  sut.push("abc");
  BOOST_TEST((sut.offer(1) == verdict::too_slow));
  sut.begin_write();
  sut.end_write();
  sut.written(2);
  BOOST_TEST((sut.offer(2) == verdict::taken));
  BOOST_TEST((sut.offer(1) == verdict::too_slow));
}

BOOST_AUTO_TEST_CASE(what_waits_counts_among_that_of_all) {
  constexpr size_t k = output_queue::small;
  const auto all = std::make_shared<byte_shares>();
  const auto within = byte_shares::limits_of(8 * k, 0);
  output_queue sut;
  sut.limit(100 * k, {all, "a", within});
  output_queue other;
  other.limit(100 * k, {all, "a", within});
  BOOST_TEST(other.reserve(5 * k));
  BOOST_TEST(!sut.reserve(2 * k));
  BOOST_TEST((sut.offer(2 * k) == verdict::no_room));
  BOOST_TEST(all->held() == 5 * k);
  // The client of a stream that has read everything gets a small event.
  BOOST_TEST(other.reserve(k));
  BOOST_TEST((sut.offer(k) == verdict::taken));
  sut.push(std::string(k, 'x'));
  BOOST_TEST((sut.offer(1) == verdict::no_room));
  BOOST_TEST(all->held() == 7 * k);
  sut.begin_write();
  sut.end_write();
  sut.written(k - 1);
  BOOST_TEST(all->held() == 7 * k);
  sut.written(1);
  BOOST_TEST(all->held() == 6 * k);
}

BOOST_AUTO_TEST_CASE(what_several_clients_wait_for_counts_once) {
  const auto all = std::make_shared<byte_shares>();
  const auto within = byte_shares::limits_of(800, 0);
  output_queue first;
  first.limit(10'000, {all, "a", within});
  output_queue second;
  second.limit(10'000, {all, "b", within});
  auto text = std::make_shared<shared_text>(std::string(500, 'x'));
  for (auto* each : {&first, &second}) {
    BOOST_TEST((each->offer(10, text.get()) == verdict::taken));
    each->push(std::string(10, 'h'));
    each->push(text);
  }
  text.reset();
  BOOST_TEST(all->held() == 520u);
  const auto read = [](output_queue& x) {
    while (const auto next = x.begin_write()) {
      x.end_write();
      x.written(next->size());
    }
  };
  read(first);
  BOOST_TEST(all->held() == 510u);
  read(second);
  BOOST_TEST(all->held() == 0u);
}

BOOST_AUTO_TEST_CASE(shared_text_without_room_counts_nothing) {
  const auto all = std::make_shared<byte_shares>();
  output_queue sut;
  sut.limit(10'000, {all, "a", byte_shares::limits_of(800, 0)});
  output_queue other;
  other.limit(10'000, {all, "a", byte_shares::limits_of(800, 0)});
  BOOST_TEST(other.reserve(500));
  const auto text = std::make_shared<shared_text>(std::string(200, 'x'));
  BOOST_TEST((sut.offer(10, text.get()) == verdict::no_room));
  BOOST_TEST(all->held() == 500u);
  other.withdraw(500);
  BOOST_TEST((sut.offer(10, text.get()) == verdict::taken));
  sut.withdraw(10, text.get());
  sut.limit(100, {all, "a", byte_shares::limits_of(800, 0)});
  BOOST_TEST((sut.offer(10, text.get()) == verdict::too_slow));
}

BOOST_AUTO_TEST_CASE(a_client_has_more_time_by_its_pace) {
  output_queue sut;
  sut.push(std::string(100, 'x'));
  sut.push("y");
  sut.begin_write();
  sut.end_write();
  BOOST_TEST(!sut.written(30, 50));
  BOOST_TEST(sut.written(20, 50));
  BOOST_TEST(!sut.written(49, 50));
  BOOST_TEST(sut.written(1, 50));
  BOOST_TEST(sut.written(1, 50));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
