// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/connection/request_id.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::runtime::http::detail {

namespace {

constexpr auto made = "req_00000000000000070000000000000007";

std::string id_of(const fields& headers) {
  return request_id_of(headers, [] { return uint64_t{7}; });
}

} // namespace

BOOST_AUTO_TEST_SUITE(request_id_test)

BOOST_AUTO_TEST_CASE(a_clients_own_name_is_taken_over) {
  for (const auto& name : std::vector<std::string>{
         "a", "4f1c-07/x:y", "\"quoted\"", std::string(128, 'x')})
    BOOST_TEST(id_of({{"x-request-id", name}}) == name);
}

BOOST_AUTO_TEST_CASE(what_is_no_name_is_replaced) {
  BOOST_TEST(id_of({}) == made);
  for (const auto& name : std::vector<std::string>{
         "", "a b", "a\tb", "\x7f", "\xc3\xa9", std::string(129, 'x')})
    BOOST_TEST(id_of({{"x-request-id", name}}) == made, name);
  BOOST_TEST(id_of({{"x-request-id", "a"}, {"x-request-id", "a"}}) == made);
  BOOST_TEST(request_id_of({}, {}) == "req_" + std::string(32, '0'));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http::detail
