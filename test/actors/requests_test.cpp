// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/requests.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>

namespace {

using namespace atelier;
using namespace std::chrono_literals;
using actors::requests;
using actors::row;
using actors::row_state;

constexpr core::tenant_id nobody{};
constexpr core::tenant_id ann{1};
constexpr core::tenant_id ben{2};

core::limits tight() {
  core::limits x;
  x.requests = 2;
  x.request_bytes = 10;
  x.sources_bytes = 10;
  return x;
}

struct rig {
  requests sut{tight()};
  core::time_point now{1h};

  static core::request request_of(uint64_t id, std::string text = "cat") {
    core::request x;
    x.id = core::request_id{id};
    x.text.positive = std::move(text);
    return x;
  }

  row& accept(core::request x) {
    return sut.accept(std::make_shared<core::request>(std::move(x)));
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(requests_test, rig)

BOOST_AUTO_TEST_CASE(so_many_are_accepted_and_no_more) {
  accept(request_of(1));
  BOOST_TEST(!sut.too_much(request_of(3)).has_value());
  auto& second = accept(request_of(2));
  BOOST_TEST(sut.too_much(request_of(3))->text
             == "2 requests are accepted and not answered, the limit "
                "(limits.requests) is 2");
  sut.end(second, row_state::answered);
  BOOST_TEST(!sut.too_much(request_of(3)).has_value());
  BOOST_TEST(sut.open() == 1u);
  BOOST_TEST(sut.all().size() == 2u);
  sut.forget(core::request_id{2});
  BOOST_TEST(sut.all().size() == 1u);
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(who_has_nothing_is_accepted_beside_another_tenants_crowd) {
  const auto of = [](core::tenant_id whose, uint64_t id, std::string text) {
    auto x = request_of(id, std::move(text));
    x.tenant = whose;
    return x;
  };
  accept(of(ann, 1, "12345"));
  auto& second = accept(of(ann, 2, "12345"));
  BOOST_TEST(sut.too_much(of(ann, 3, "1")).has_value());
  BOOST_TEST(!sut.too_much(of(ben, 3, "12345")).has_value());
  accept(of(ben, 3, "12345"));
  BOOST_TEST(sut.is_below_mean(ben));
  BOOST_TEST(!sut.is_below_mean(ann));
  // A second one would exceed the half of the limit that is its share.
  BOOST_TEST(sut.too_much(of(ben, 4, ""))->text
             == "3 requests are accepted and not answered, the limit "
                "(limits.requests) is 2");
  BOOST_TEST(!sut.too_much(of(nobody, 4, "12345")).has_value());
  // The texts would exceed twice their limit.
  BOOST_TEST(sut.too_much(of(nobody, 4, "123456")).has_value());
  accept(of(nobody, 4, ""));
  BOOST_TEST(sut.too_much(of(core::tenant_id{3}, 5, "")).has_value());
  sut.end(second, row_state::answered);
  BOOST_TEST(!sut.too_much(of(core::tenant_id{3}, 5, "")).has_value());
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(prompts_and_sources_are_bounded_by_their_bytes) {
  auto& first = accept(request_of(1, "12345678"));
  BOOST_TEST(sut.too_much(request_of(2, "123"))->text
             == "accepted prompts hold 8 bytes, 3 more exceed the limit "
                "(limits.request_mib) of 10");
  auto brings = request_of(2, "");
  auto files = std::make_shared<core::source_images>();
  files->image.resize(11);
  brings.source = files;
  BOOST_TEST(sut.too_much(brings)->text
             == "accepted source images hold 0 bytes, 11 more exceed the limit "
                "(limits.sources_mib) of 10");
  sut.end(first, row_state::failed);
  BOOST_TEST(!sut.too_much(request_of(2, "123")).has_value());
}

BOOST_AUTO_TEST_CASE(rows_are_found_by_when_they_are_due) {
  auto late = request_of(1);
  late.deadline = now + 2s;
  auto& first = accept(late);
  auto& second = accept(request_of(2));
  BOOST_TEST(sut.timed());
  BOOST_TEST(!sut.due(now + 1s).has_value());
  BOOST_TEST((sut.due(now + 2s) == core::request_id{1}));
  sut.set_due(second, now + 1s);
  BOOST_TEST((sut.due(now + 1s) == core::request_id{2}));
  sut.set_due(second, core::never);
  sut.end(first, row_state::cancelled);
  BOOST_TEST(!sut.due(now + 1h).has_value());
  BOOST_TEST(!sut.timed());
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(a_row_that_asks_waits_afterwards) {
  auto& r = accept(request_of(1));
  sut.ask(r);
  BOOST_TEST((r.state() == row_state::asking));
  sut.stop_asking(r);
  BOOST_TEST((r.state() == row_state::waiting));
  sut.ask(r);
  sut.end(r, row_state::failed);
  BOOST_TEST(!sut.timed());
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_CASE(only_the_last_dispatch_speaks_for_a_running_row) {
  auto& r = accept(request_of(1));
  sut.count_aside(r);
  BOOST_TEST(r.next_dispatch() == 2u);
  sut.run(r);
  BOOST_TEST(r.attempt() == 2u);
  BOOST_TEST(r.moves() == 1u);
  sut.count_aside(r);
  BOOST_TEST(sut.running({core::request_id{1}, 2}) == &r);
  BOOST_TEST(sut.running({core::request_id{1}, 1}) == nullptr);
  BOOST_TEST(sut.running({core::request_id{1}, 3}) == nullptr);
  sut.wait(r, now);
  BOOST_TEST((r.waiting_since() == now));
  BOOST_TEST(sut.running({core::request_id{1}, 2}) == nullptr);
  BOOST_TEST(sut.last({core::request_id{1}, 2}) == &r);
  BOOST_TEST(sut.last({core::request_id{1}, 1}) == nullptr);
  BOOST_TEST(sut.last({core::request_id{9}, 1}) == nullptr);
}

BOOST_AUTO_TEST_CASE(who_is_far_ahead_leaves_an_eighth_to_others) {
  for (int i = 0; i < 16; ++i)
    sut.count_ahead(ann, true);
  BOOST_TEST(sut.named_ahead());
  // The limit is twice the seats.
  BOOST_TEST(sut.far_ahead(ann, 8));
  BOOST_TEST(!sut.far_ahead(ann, 9));
  BOOST_TEST(!sut.far_ahead(ben, 8));
  sut.count_ahead(nobody, true);
  sut.count_ahead(nobody, true);
  BOOST_TEST(sut.far_ahead(ben, 8));
  for (int i = 0; i < 16; ++i)
    sut.count_ahead(ann, false);
  BOOST_TEST(!sut.has_ahead(ann));
  BOOST_TEST(sut.has_ahead(nobody));
  BOOST_TEST(!sut.named_ahead());
  BOOST_TEST(sut.check() == "");
}

BOOST_AUTO_TEST_SUITE_END()
