// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/caller_accounts.hpp>

#include <boost/test/unit_test.hpp>

#include <map>

namespace atelier::runtime::http::detail {

namespace {

/// Accounts of callers that have ten steps each.
struct rig {
  job_allowance allowance() {
    return {[this](const std::string& owner, uint64_t,
                   uint64_t steps) -> std::optional<failure> {
              if (used[owner] + steps > 10)
                return failure{"rate_limit_exceeded", owner, {}};
              used[owner] += steps;
              return std::nullopt;
            },
            [this](const std::string& owner, uint64_t, uint64_t steps) {
              used[owner] -= steps;
            },
            [](const std::string& owner) { return owner == "ann" ? 3u : 1u; }};
  }

  std::map<std::string, uint64_t> used;
  const caller_accounts sut{allowance()};
};

} // namespace

BOOST_AUTO_TEST_SUITE(caller_accounts_test)

BOOST_AUTO_TEST_CASE(charge_is_given_back_once) {
  rig r;
  auto taken = r.sut.take("ann", 2, 8);
  BOOST_TEST_REQUIRE(std::holds_alternative<job_charge>(taken));
  auto& charge = std::get<job_charge>(taken);
  BOOST_TEST(charge.images == 2u);
  BOOST_TEST(r.used["ann"] == 8u);
  r.sut.give_back("ann", charge);
  r.sut.give_back("ann", charge);
  BOOST_TEST(r.used["ann"] == 0u);
}

BOOST_AUTO_TEST_CASE(refused_call_takes_nothing) {
  rig r;
  const auto taken = r.sut.take("ann", 1, 11);
  BOOST_TEST_REQUIRE(std::holds_alternative<failure>(taken));
  BOOST_TEST(std::get<failure>(taken).code == "rate_limit_exceeded");
  BOOST_TEST(r.used["ann"] == 0u);
}

BOOST_AUTO_TEST_CASE(without_a_limit_nothing_is_taken_or_given_back) {
  bool given_back = false;
  const caller_accounts sut{
    {{},
     [&](const std::string&, uint64_t, uint64_t) { given_back = true; },
     {}}};
  auto taken = sut.take("ann", 1, 5);
  BOOST_TEST_REQUIRE(std::holds_alternative<job_charge>(taken));
  sut.give_back("ann", std::get<job_charge>(taken));
  BOOST_TEST(!given_back);
}

BOOST_AUTO_TEST_CASE(requests_carry_their_caller_and_its_share) {
  rig r;
  std::vector<generation> images(2);
  r.sut.sign(images, "ann");
  BOOST_TEST(images[1].tenant == "ann");
  BOOST_TEST(images[1].share == 3u);
  caller_accounts{job_allowance{}}.sign(images, "bob");
  BOOST_TEST(images[0].tenant == "bob");
  BOOST_TEST(images[0].share == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
