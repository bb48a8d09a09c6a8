// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace atelier::core;

BOOST_AUTO_TEST_SUITE(sha256_test)

// Source: FIPS 180-4, examples of NIST.
BOOST_AUTO_TEST_CASE(published_digests_come_out) {
  BOOST_TEST(
    sha256_hex("")
    == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  BOOST_TEST(
    sha256_hex("abc")
    == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  BOOST_TEST(
    sha256_hex(std::string(1'000'000, 'a'))
    == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

BOOST_AUTO_TEST_CASE(pieces_give_the_digest_of_the_whole) {
  const std::string text = "apprentices take the easy commissions";
  sha256_stream sut;
  for (int round = 0; round < 2; ++round) {
    for (const char& c : text)
      sut.update(std::as_bytes(std::span{&c, 1}));
    BOOST_TEST(to_hex(sut.finish()) == sha256_hex(text));
  }
}

BOOST_AUTO_TEST_SUITE_END()
