// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/checksum.hpp>

#include <boost/test/unit_test.hpp>

#include <string_view>
#include <vector>

namespace {

using namespace atelier;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

} // namespace

BOOST_AUTO_TEST_SUITE(checksum_test)

BOOST_AUTO_TEST_CASE(crc32c_agrees_with_rfc_3720) {
  std::vector<std::byte> zeros(32);
  std::vector<std::byte> ones(32, std::byte{0xFF});
  std::vector<std::byte> rising(32);
  for (size_t i = 0; i < rising.size(); ++i)
    rising[i] = static_cast<std::byte>(i);
  BOOST_TEST(ipc::crc32c(zeros) == 0x8A9136AAu);
  BOOST_TEST(ipc::crc32c(ones) == 0x62A8AB43u);
  BOOST_TEST(ipc::crc32c(rising) == 0x46DD794Eu);
  BOOST_TEST(ipc::crc32c(bytes_of("123456789")) == 0xE3069283u);
}

BOOST_AUTO_TEST_CASE(crc32c_goes_on_where_it_stopped) {
  auto whole = bytes_of("a record of any length, cut anywhere");
  for (size_t i = 0; i <= whole.size(); ++i) {
    auto first = ipc::crc32c(whole.first(i));
    BOOST_TEST(ipc::crc32c(whole.subspan(i), first) == ipc::crc32c(whole));
  }
}

BOOST_AUTO_TEST_CASE(xxh3_agrees_with_its_published_values) {
  BOOST_TEST(ipc::xxh3({}) == 0x2D06800538D394C2u);
  BOOST_TEST(ipc::xxh3(bytes_of("abc")) == 0x78AF5F94892F3950u);
}

BOOST_AUTO_TEST_SUITE_END()
