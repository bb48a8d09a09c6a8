// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/sha256.hpp>
#include <atelier/runtime/http/access.hpp>

#include <boost/test/unit_test.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace atelier::runtime::http {

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using kind = access::verdict::kind;

/// A file of keys that the destructor removes.
struct key_file {
  explicit key_file(const std::string& text, mode_t mode = 0600)
    : path(std::filesystem::temp_directory_path()
           / ("atelier-keys-" + std::to_string(getpid()))) {
    std::ofstream{path} << text;
    chmod(path.c_str(), mode);
  }

  ~key_file() {
    std::filesystem::remove(path);
  }

  std::filesystem::path path;
};

std::string hash(std::string_view key) {
  return core::sha256_hex(key);
}

std::string why_not(const std::string& text, mode_t mode = 0600) {
  const key_file file{text, mode};
  const auto keys = read_keys(file.path);
  BOOST_TEST_REQUIRE(!keys);
  BOOST_TEST((keys.why().code == core::ec::bad_config));
  return keys.why().text;
}

access two_keys(uint32_t per_minute = 0) {
  return access{{{"ann", hash("apple"), scope::user, per_minute},
                 {"bob", hash("banana"), scope::admin, 0}}};
}

fields with(const std::string& name, const std::string& value) {
  return {{name, value}};
}

constexpr core::time_point start{1h};

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(access_test)

BOOST_AUTO_TEST_CASE(a_file_of_keys_is_read) {
  const key_file file{"# keys\n\nann user " + hash("apple") + " 60\nbob\tadmin "
                      + hash("banana") + " # both\r\n"};
  const auto keys = read_keys(file.path);
  BOOST_TEST_REQUIRE(keys.operator bool());
  BOOST_TEST_REQUIRE(keys->size() == 2u);
  BOOST_TEST((*keys)[0].name == "ann");
  BOOST_TEST(((*keys)[0].may == scope::user));
  BOOST_TEST((*keys)[0].per_minute == 60u);
  BOOST_TEST((*keys)[1].sha256 == hash("banana"));
  BOOST_TEST(((*keys)[1].may == scope::admin));
}

BOOST_AUTO_TEST_CASE(limits_are_read_by_their_names) {
  const auto read = [](const std::string& words) {
    const key_file file{"ann user " + hash("apple") + words};
    auto keys = read_keys(file.path);
    BOOST_TEST_REQUIRE(keys.operator bool());
    return keys->front();
  };
  const auto all = read(" 60 steps_per_minute=3000 images_per_minute=100");
  BOOST_TEST(all.per_minute == 60u);
  BOOST_TEST(all.images_per_minute == 100u);
  BOOST_TEST(all.steps_per_minute == 3000u);
  const auto one = read(" images_per_minute=7");
  BOOST_TEST(one.per_minute == 0u);
  BOOST_TEST(one.images_per_minute == 7u);
  BOOST_TEST(one.steps_per_minute == 0u);
}

BOOST_AUTO_TEST_CASE(two_keys_of_one_name_are_one_caller) {
  const key_file file{"ann user " + hash("apple") + " 2\nann user "
                      + hash("apricot") + " 2\n"};
  auto keys = read_keys(file.path);
  BOOST_TEST_REQUIRE(keys.operator bool());
  access door{std::move(*keys)};
  BOOST_TEST(door.names().size() == 1u);
  const auto outcome = [&](const char* key) {
    const auto x = door.judge(with("x-api-key", key), scope::user, start);
    BOOST_TEST(x.name == "ann");
    return x.outcome;
  };
  BOOST_TEST((outcome("apple") == kind::let_in));
  BOOST_TEST((outcome("apricot") == kind::let_in));
  BOOST_TEST((outcome("apple") == kind::later));
}

BOOST_AUTO_TEST_CASE(a_key_has_the_share_of_its_line) {
  const key_file file{"ann user " + hash("apple") + " 60 share=12\nbob user "
                      + hash("banana") + "\n"};
  auto keys = read_keys(file.path);
  BOOST_TEST_REQUIRE(keys.operator bool());
  access door{std::move(*keys)};
  BOOST_TEST(door.share_of("ann") == 12u);
  BOOST_TEST(door.share_of("bob") == 1u);
  BOOST_TEST(door.share_of("") == 1u);
}

BOOST_AUTO_TEST_CASE(digits_of_a_hash_may_be_upper_case) {
  auto upper = hash("apple");
  for (char& c : upper)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const key_file file{"ann user " + upper + "\n"};
  const auto keys = read_keys(file.path);
  BOOST_TEST_REQUIRE(keys.operator bool());
  BOOST_TEST((*keys)[0].sha256 == hash("apple"));
}

BOOST_AUTO_TEST_CASE(a_file_that_others_may_read_is_refused) {
  const auto line = "ann user " + hash("apple") + "\n";
  BOOST_TEST(mentions(why_not(line, 0640), "0640"));
  BOOST_TEST(mentions(why_not(line, 0604), "0604"));
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_told_with_its_line) {
  const auto h = hash("apple");
  BOOST_TEST(mentions(why_not("\nann user\n"), ":2: 2 words"));
  BOOST_TEST(mentions(why_not("ann owner " + h), "neither user nor admin"));
  BOOST_TEST(mentions(why_not("a/b user " + h), "name"));
  BOOST_TEST(mentions(why_not("ann user " + h + " x"), "whole number"));
  BOOST_TEST(mentions(why_not("ann user " + h + "\nann admin " + hash("x")),
                      ":2: the keys of 'ann' differ"));
  BOOST_TEST(mentions(why_not("ann user " + h + " 5\nann user " + hash("x")),
                      ":2: the keys of 'ann' differ"));
  BOOST_TEST(
    mentions(why_not("ann user " + h + "\nbob user " + h), ":2: 'bob'"));
  BOOST_TEST(
    mentions(why_not("ann user " + h + "\nann user " + h), ":2: 'ann'"));
  BOOST_TEST(mentions(why_not("# nobody\n"), "no key"));
  for (const auto* x : {" 5 6", " images=6", " images_per_minute=1 6"})
    BOOST_TEST(mentions(why_not("ann user " + h + x),
                        "a word of 'ann' is none of images_per_minute=N, "
                        "steps_per_minute=N, share=N"),
               x);
  for (const auto* x : {"images_per_minute=", "images_per_minute=-1",
                        "images_per_minute=4294967296"})
    BOOST_TEST(mentions(why_not("ann user " + h + " " + x),
                        "the images_per_minute of 'ann' are not a whole number "
                        "in 0..4294967295"),
               x);
  BOOST_TEST(mentions(why_not("ann user " + h + " share=many"),
                      "the share of 'ann' is not a whole number in 1..1000"));
  for (const auto* x : {"0", "1001"})
    BOOST_TEST(mentions(why_not("ann user " + h + " share=" + x),
                        "the share of 'ann' is "s + x + ", outside 1..1000"));
  BOOST_TEST(
    mentions(why_not("ann user " + h + " share=2\nann user " + hash("x")),
             ":2: the keys of 'ann' differ"));
  BOOST_TEST(mentions(
    why_not("ann user " + h + " steps_per_minute=0 steps_per_minute=5"),
    "twice"));
  BOOST_TEST(mentions(
    why_not("ann user " + h + " images_per_minute=5\nann user " + hash("x")),
    ":2: the keys of 'ann' differ"));
}

BOOST_AUTO_TEST_CASE(a_key_written_in_place_of_its_hash_is_not_shown) {
  const auto text = why_not("ann user my-secret-key");
  BOOST_TEST(mentions(text, "64 hexadecimal digits"));
  BOOST_TEST(!mentions(text, "my-secret-key"));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_there_is_told) {
  const auto keys = read_keys("/nonexistent/keys");
  BOOST_TEST_REQUIRE(!keys);
  BOOST_TEST((keys.why().code == core::ec::bad_config));
  BOOST_TEST(!read_keys("/"));
}

BOOST_AUTO_TEST_CASE(without_keys_everybody_is_an_admin) {
  access open{{}};
  BOOST_TEST(!open.asks_for_keys());
  const auto x = open.judge({}, scope::admin, start);
  BOOST_TEST((x.outcome == kind::let_in));
  BOOST_TEST((x.caller == scope::admin));
}

BOOST_AUTO_TEST_CASE(a_key_is_found_in_each_of_its_places) {
  auto door = two_keys();
  // These are "ann:apple" and ":banana".
  for (const auto& [headers, name] :
       {std::pair{with("authorization", "Bearer apple"), "ann"},
        std::pair{with("authorization", "bearer  banana "), "bob"},
        std::pair{with("authorization", "Basic YW5uOmFwcGxl"), "ann"},
        std::pair{with("authorization", "Basic OmJhbmFuYQ=="), "bob"},
        std::pair{with("x-api-key", "apple"), "ann"}}) {
    const auto x = door.judge(headers, scope::user, start);
    BOOST_TEST((x.outcome == kind::let_in));
    BOOST_TEST(x.name == name);
  }
}

BOOST_AUTO_TEST_CASE(a_proxys_password_does_not_hide_a_key) {
  auto door = two_keys();
  auto headers = with("authorization", "Basic dXNlcjpwcm94eQ==");
  headers.emplace_back("x-api-key", "apple");
  const auto x = door.judge(headers, scope::user, start);
  BOOST_TEST((x.outcome == kind::let_in));
  BOOST_TEST(x.name == "ann");
  // A key of its own that is sent as such goes first.
  headers.front().second = "Bearer banana";
  BOOST_TEST(door.judge(headers, scope::user, start).name == "bob");
}

BOOST_AUTO_TEST_CASE(without_a_right_key_nobody_is_let_in) {
  auto door = two_keys();
  const auto judged = [&](const fields& headers) {
    return door.judge(headers, scope::user, start).outcome;
  };
  BOOST_TEST((judged({}) == kind::no_key));
  BOOST_TEST((judged(with("authorization", "Bearer")) == kind::no_key));
  BOOST_TEST((judged(with("authorization", "Digest apple")) == kind::no_key));
  BOOST_TEST((judged(with("authorization", "Basic ***")) == kind::no_key));
  BOOST_TEST(
    (judged(with("x-api-key", std::string(600, 'a'))) == kind::no_key));
  BOOST_TEST((judged(with("x-api-key", "appl")) == kind::wrong_key));
  BOOST_TEST((judged(with("x-api-key", "apple ")) == kind::let_in));
  BOOST_TEST((judged(with("x-api-key", "applee")) == kind::wrong_key));
  // The hash of a key is not a key.
  BOOST_TEST((judged(with("x-api-key", hash("apple"))) == kind::wrong_key));
}

BOOST_AUTO_TEST_CASE(a_user_is_no_admin) {
  auto door = two_keys();
  const auto ann = door.judge(with("x-api-key", "apple"), scope::admin, start);
  BOOST_TEST((ann.outcome == kind::not_allowed));
  BOOST_TEST(ann.name == "ann");
  const auto bob = door.judge(with("x-api-key", "banana"), scope::admin, start);
  BOOST_TEST((bob.outcome == kind::let_in));
}

BOOST_AUTO_TEST_CASE(what_needs_no_key_is_open_to_any_key) {
  auto door = two_keys(1);
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST((door.judge({}, scope::anyone, start).outcome == kind::let_in));
    BOOST_TEST(
      (door.judge(with("x-api-key", "wrong"), scope::anyone, start).outcome
       == kind::let_in));
    const auto ann =
      door.judge(with("x-api-key", "apple"), scope::anyone, start);
    BOOST_TEST((ann.outcome == kind::let_in));
    BOOST_TEST(ann.name == "ann");
  }
}

BOOST_AUTO_TEST_CASE(a_key_has_its_requests_a_minute) {
  auto door = two_keys(6);
  const auto at = [&](core::timespan since) {
    return door.judge(with("x-api-key", "apple"), scope::user, start + since);
  };
  for (int i = 0; i < 6; ++i)
    BOOST_TEST((at(0s).outcome == kind::let_in));
  const auto later = at(0s);
  BOOST_TEST((later.outcome == kind::later));
  BOOST_TEST((later.retry_after > 9s && later.retry_after <= 10s + 1ns));
  BOOST_TEST((at(9s).outcome == kind::later));
  BOOST_TEST((at(10s).outcome == kind::let_in));
  BOOST_TEST((at(10s).outcome == kind::later));
  // Another key has its own limit.
  BOOST_TEST(
    (door.judge(with("x-api-key", "banana"), scope::user, start).outcome
     == kind::let_in));
  // A key never saves more than one minute's calls.
  for (int i = 0; i < 6; ++i)
    BOOST_TEST((at(1h).outcome == kind::let_in));
  BOOST_TEST((at(1h).outcome == kind::later));
}

BOOST_AUTO_TEST_CASE(a_key_has_its_images_and_steps_a_minute) {
  access_key ann{"ann", hash("apple"), scope::user, 0, 10, 100};
  access door{{ann, {"bob", hash("banana"), scope::user, 0}}};
  BOOST_TEST(!door.take_images("ann", 4, 80, start));
  const auto steps = door.take_images("ann", 1, 30, start);
  BOOST_TEST_REQUIRE(steps.has_value());
  BOOST_TEST(steps->limit == "steps_per_minute");
  BOOST_TEST(steps->value == 100u);
  BOOST_TEST(steps->asked == 30u);
  BOOST_TEST_REQUIRE(steps->retry_after.has_value());
  BOOST_TEST((*steps->retry_after > 5s && *steps->retry_after < 7s));
  // What was refused has taken neither.
  BOOST_TEST(!door.take_images("ann", 6, 20, start));
  const auto images = door.take_images("ann", 1, 0, start);
  BOOST_TEST_REQUIRE(images.has_value());
  BOOST_TEST(images->limit == "images_per_minute");
  BOOST_TEST(!door.take_images("bob", 1000, 1000, start));
  BOOST_TEST(!door.take_images("ann", 10, 100, start + 1min));
  door.give_images_back("ann", 10, 100);
  BOOST_TEST(!door.take_images("ann", 10, 100, start + 1min));
}

BOOST_AUTO_TEST_CASE(a_call_above_a_whole_limit_need_not_wait) {
  access door{{{"ann", hash("apple"), scope::user, 0, 10, 100}}};
  const auto x = door.take_images("ann", 11, 11, start);
  BOOST_TEST_REQUIRE(x.has_value());
  BOOST_TEST(x->limit == "images_per_minute");
  BOOST_TEST(!x->retry_after);
  BOOST_TEST(!door.take_images("ann", 10, 100, start));
}

BOOST_AUTO_TEST_CASE(other_limits_keep_what_was_used) {
  const auto ann = [](uint32_t images) {
    return access_key{"ann", hash("apple"), scope::user, images, images, 0};
  };
  access door{{ann(4)}};
  const auto ask = [&] {
    return door.judge(with("x-api-key", "apple"), scope::user, start).outcome;
  };
  BOOST_TEST(!door.take_images("ann", 4, 0, start));
  for (int i = 0; i < 4; ++i)
    BOOST_TEST((ask() == kind::let_in));
  door.replace({ann(6)});
  BOOST_TEST(door.take_images("ann", 3, 0, start).has_value());
  BOOST_TEST(!door.take_images("ann", 2, 0, start));
  BOOST_TEST((ask() == kind::let_in));
  BOOST_TEST((ask() == kind::let_in));
  BOOST_TEST((ask() == kind::later));
}

BOOST_AUTO_TEST_CASE(who_follows_jobs_uses_up_no_requests) {
  auto door = two_keys(2);
  const auto outcome = [&](bool follows) {
    return door.judge(with("x-api-key", "apple"), scope::user, start, follows)
      .outcome;
  };
  for (uint32_t i = 0; i < access::followed_per_minute; ++i)
    BOOST_TEST_REQUIRE((outcome(true) == kind::let_in));
  BOOST_TEST((outcome(true) == kind::later));
  BOOST_TEST((outcome(false) == kind::let_in));
  BOOST_TEST((outcome(false) == kind::let_in));
  BOOST_TEST((outcome(false) == kind::later));
}

BOOST_AUTO_TEST_CASE(a_clock_that_goes_back_gives_nothing) {
  auto door = two_keys(1);
  BOOST_TEST((door.judge(with("x-api-key", "apple"), scope::user, start).outcome
              == kind::let_in));
  BOOST_TEST(
    (door.judge(with("x-api-key", "apple"), scope::user, start - 10min).outcome
     == kind::later));
}

BOOST_AUTO_TEST_CASE(other_keys_take_the_place_of_those_before) {
  const auto key = [](std::string name, std::string_view text) {
    return access_key{std::move(name), core::sha256_hex(text), scope::user, 2};
  };
  const auto kind_of = [](access& x, std::string text) {
    return x
      .judge({{"authorization", "Bearer " + text}}, scope::user,
             core::time_point{})
      .outcome;
  };
  using kind = access::verdict::kind;
  access sut{{key("ann", "apple"), key("bob", "berry")}};
  BOOST_TEST((kind_of(sut, "apple") == kind::let_in));
  BOOST_TEST((kind_of(sut, "apple") == kind::let_in));
  sut.replace({key("ann", "apple"), key("eve", "elder")});
  BOOST_TEST((kind_of(sut, "berry") == kind::wrong_key));
  BOOST_TEST((kind_of(sut, "elder") == kind::let_in));
  // Reading the file again does not restart a key's minute.
  BOOST_TEST((kind_of(sut, "apple") == kind::later));
  BOOST_TEST(sut.asks_for_keys());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::runtime::http
