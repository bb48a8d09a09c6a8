// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/job_listeners.hpp>
#include <atelier/runtime/http/detail/jobs/job_stream.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

namespace {

using kind = job_news::kind;

/// Keeps the events of a stream as one text.
struct events : exchange {
  const request_message& asked() const override {
    return none;
  }

  void drop_body() override {}

  void reply(reply_message) override {}

  void begin_events() override {}

  void event(std::string_view name, std::string_view data) override {
    told += std::string{name} + std::string{data};
  }

  void end_events() override {
    told += '.';
  }

  void on_gone(std::function<void()>) override {}

  request_message none;
  std::string told;
};

struct heard {
  std::vector<std::string> lines;

  job_listener listener(std::string name) {
    return {[=, this](const job_view&) { lines.push_back(name + " progress"); },
            [=, this](const job_view&, uint32_t index) {
              lines.push_back(name + " image " + std::to_string(index));
            },
            [=, this](const job_view&) { lines.push_back(name + " end"); }};
  }

  std::vector<std::string> tell(job_listeners& from) {
    while (const auto news = from.next())
      deliver(*news);
    return std::exchange(lines, {});
  }
};

using lines = std::vector<std::string>;

std::shared_ptr<const job_view> view() {
  return std::make_shared<const job_view>();
}

} // namespace

BOOST_AUTO_TEST_SUITE(job_listeners_test)

BOOST_AUTO_TEST_CASE(news_come_in_order_to_those_who_listened_then) {
  heard x;
  job_listeners sut;
  sut.add(x.listener("a"));
  sut.push(kind::progressed, view());
  sut.add(x.listener("b"));
  sut.push(kind::imaged, view(), 3);
  BOOST_TEST(x.tell(sut) == (lines{"a progress", "a image 3", "b image 3"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(news_without_a_listener_are_not_kept) {
  heard x;
  job_listeners sut;
  sut.push(kind::progressed, view());
  sut.add(x.listener("a"));
  BOOST_TEST(!sut.next());
}

BOOST_AUTO_TEST_CASE(news_can_be_for_the_newest_listener_alone) {
  heard x;
  job_listeners sut;
  sut.add(x.listener("a"));
  const auto b = sut.add(x.listener("b"));
  sut.push(kind::ended, view(), 0, b);
  BOOST_TEST(x.tell(sut) == lines{"b end"}, boost::test_tools::per_element());
  sut.push(kind::progressed, view());
  BOOST_TEST(x.tell(sut) == lines{"a progress"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(who_heard_of_the_end_listens_no_longer) {
  heard x;
  job_listeners sut;
  sut.add(x.listener("a"));
  sut.push(kind::ended, view());
  sut.push(kind::ended, view());
  BOOST_TEST(x.tell(sut) == lines{"a end"}, boost::test_tools::per_element());
  BOOST_TEST(sut.empty());
}

BOOST_AUTO_TEST_CASE(who_leaves_hears_nothing_of_what_waits) {
  heard x;
  job_listeners sut;
  const auto a = sut.add(x.listener("a"));
  sut.push(kind::progressed, view());
  BOOST_TEST(sut.remove(a));
  BOOST_TEST(!sut.remove(a));
  BOOST_TEST(x.tell(sut).empty());
}

BOOST_AUTO_TEST_CASE(dropped_news_are_heard_by_nobody) {
  heard x;
  job_listeners sut;
  sut.add(x.listener("a"));
  sut.push(kind::progressed, view());
  sut.drop_news();
  BOOST_TEST(x.tell(sut).empty());
  BOOST_TEST(sut.remove_all().size() == 1u);
  BOOST_TEST(sut.empty());
}

BOOST_AUTO_TEST_CASE(one_thread_at_a_time_tells) {
  job_listeners sut;
  BOOST_TEST(sut.begin_telling());
  BOOST_TEST(!sut.begin_telling());
  sut.end_telling();
  BOOST_TEST(sut.begin_telling());
}

BOOST_AUTO_TEST_CASE(listener_that_throws_does_not_stop_the_others) {
  heard x;
  job_listeners sut;
  sut.add({[](const job_view&) { throw std::runtime_error{"no"}; }, {}, {}});
  sut.add({});
  sut.add(x.listener("c"));
  sut.push(kind::progressed, view());
  BOOST_TEST(x.tell(sut) == lines{"c progress"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_preview_is_encoded_once_and_elsewhere) {
  std::vector<std::function<void()>> elsewhere;
  encoded_previews sut{[&](std::function<void()> work) {
    elsewhere.push_back(std::move(work));
    return elsewhere.size() < 3;
  }};
  const auto seen =
    std::make_shared<const preview>(preview{1, 2, 1, {255, 0, 0, 0, 255, 0}});
  std::vector<encoded_previews::text> got;
  const auto get = [&](const char* format) {
    sut.get(seen, format, [&](const auto& x) { got.push_back(x); });
  };
  get("png");
  get("png");
  BOOST_TEST(got.empty());
  BOOST_TEST_REQUIRE(elsewhere.size() == 1u);
  elsewhere[0]();
  get("png");
  BOOST_TEST(elsewhere.size() == 1u);
  BOOST_TEST_REQUIRE(got.size() == 3u);
  BOOST_TEST_REQUIRE(got[0] != nullptr);
  BOOST_TEST(got[0]->starts_with("iVBOR"));
  BOOST_TEST(got[0] == got[1]);
  BOOST_TEST(got[0] == got[2]);
  get("jpeg");
  BOOST_TEST_REQUIRE(elsewhere.size() == 2u);
  elsewhere[1]();
  BOOST_TEST_REQUIRE(got.size() == 4u);
  BOOST_TEST(got[3] != got[0]);
  // Too much waits.
  get("webp");
  BOOST_TEST_REQUIRE(got.size() == 5u);
  BOOST_TEST(got[4] == nullptr);
}

BOOST_AUTO_TEST_CASE(events_wait_for_one_whose_data_come_later) {
  const auto to = std::make_shared<events>();
  event_feed sut{to};
  sut.open("a", "1");
  auto* const place = sut.reserve("b");
  sut.send("c", "3");
  sut.close();
  BOOST_TEST(to->told == "a1");
  sut.fill(place, "2");
  BOOST_TEST(to->told == "a1b2c3.");
}

BOOST_AUTO_TEST_CASE(a_reserved_place_may_stay_empty) {
  const auto to = std::make_shared<events>();
  event_feed sut{to};
  sut.open("a", "1");
  auto* const place = sut.reserve("b");
  sut.send("c", "3");
  sut.leave_out(place);
  BOOST_TEST(to->told == "a1c3");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
