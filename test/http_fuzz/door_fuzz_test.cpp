// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"
#include "fuzzed_door.hpp"
#include <atelier/runtime/http/base64.hpp>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <support/scale.hpp>
#include <support/seed.hpp>

#include <array>

namespace atelier::test {

namespace {

std::string base64_of(const std::string& file) {
  return runtime::http::to_base64(
    {reinterpret_cast<const uint8_t*>(file.data()), file.size()});
}

/// Returns the input in a form that can be repeated.
std::string shown(std::string_view x) {
  constexpr size_t most = 4000;
  std::string out;
  for (const char c : x.substr(0, most))
    out += c >= 0x20 && c < 0x7f
           ? std::string(1, c)
           : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

/// Runs the executions of one case: each makes an input, has it answered, and
/// judges the reply.
struct door_fuzz {
  /// @param stream makes the cases' inputs differ
  template <class Make>
  void run(size_t count, uint64_t stream, Make make) {
    mutator changes{seed(), stream, from.words};
    const auto most = scaled(count);
    for (size_t i = 0; i < most; ++i) {
      const auto got = make(changes);
      if (!got.second.fault.empty())
        BOOST_FAIL("execution " << i << ": " << got.second.fault
                                << "\ninput: " << shown(got.first));
      good += got.second.status >= 200 && got.second.status < 400 ? 1u : 0u;
      bad += got.second.status >= 400 ? 1u : 0u;
    }
    BOOST_TEST(good + bad <= most);
    BOOST_TEST_MESSAGE(
      fmt::format("{} executions: {} answered, {} refused", most, good, bad));
    // Otherwise all inputs would have had the same result.
    BOOST_TEST(good * 50 > most);
    BOOST_TEST(bad * 50 > most);
  }

  using input = std::pair<std::string, fuzzed_door::outcome>;

  input post(std::string_view path, std::string_view type, std::string body,
             mutator& changes) {
    auto got = door.post(path, type, body, changes);
    return {std::move(body), std::move(got)};
  }

  /// Returns an object of `bodies`, changed by its fields or by its bytes.
  std::string json_of(const std::vector<std::string>& bodies,
                      mutator& changes) const {
    auto body = changes.pick(bodies);
    if (changes.below(2) == 0)
      body = changes.spoil_object(body, changes.pick(bodies));
    body = from.with_images(std::move(body), base64_of);
    if (changes.below(3) == 0)
      body = changes.spoil(std::move(body), changes.pick(bodies));
    return body;
  }

  input post_json(std::string_view path, const std::vector<std::string>& bodies,
                  mutator& changes) {
    return post(path, "application/json", json_of(bodies, changes), changes);
  }

  /// Returns the bodies from which those of a route are made.
  const std::vector<std::string>& bodies_of(std::string_view path) const {
    if (path.starts_with("/v1/admin/"))
      return levels;
    if (path.starts_with("/v1/images/"))
      return from.openai;
    return path.starts_with("/v1/") ? from.jobs : from.a1111;
  }

  const corpus from = corpus::read();
  const std::vector<std::string> levels{R"({"level":"error"})"};
  fuzzed_door door;
  size_t good = 0;
  size_t bad = 0;
};

const std::vector<std::string> openai_paths{
  "/v1/images/generations", "/v1/images/edits", "/v1/images/variations"};
const std::vector<std::string> a1111_paths{
  "/sdapi/v1/txt2img", "/sdapi/v1/img2img", "/sdapi/v1/options",
  "/sdapi/v1/png-info", "/internal/progress"};

/// A caller, with the line of its key.
struct fuzzed_role {
  runtime::http::scope may;
  std::string_view line;
};

constexpr std::array fuzzed_roles{
  fuzzed_role{runtime::http::scope::anyone, ""},
  fuzzed_role{runtime::http::scope::user, "Authorization: Bearer apple\r\n"},
  fuzzed_role{runtime::http::scope::admin, "Authorization: Bearer plum\r\n"}};

/// Returns a path of the pattern, with a name in place of each one in braces.
std::string path_of(std::string pattern, mutator& changes) {
  static const std::vector<std::string> names{
    "mine", "0", "1", "job_0123456789abcdef", "test_card", "mine-0", "main.js"};
  for (auto at = pattern.find('{'); at != std::string::npos;
       at = pattern.find('{', at))
    pattern.replace(at, pattern.find('}', at) - at + 1, changes.pick(names));
  return pattern;
}

/// Returns what is wrong with a reply to a path that was not changed: whether
/// the caller's key is enough decides about 401 and 403.
std::string fault_of_rights(unsigned status, runtime::http::scope may,
                            runtime::http::scope needs) {
  const auto wanted = may >= needs                        ? 0u
                    : may == runtime::http::scope::anyone ? 401u
                                                          : 403u;
  const auto got = status == 401 || status == 403 ? status : 0u;
  return got == wanted ? std::string{}
                       : fmt::format("status {}, wanted {}", status,
                                     wanted == 0 ? "none of 401 and 403"
                                                 : std::to_string(wanted));
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(door_fuzz_test, door_fuzz)

BOOST_AUTO_TEST_CASE(heads_and_bodies_in_chunks) {
  run(200'000, 1, [&](mutator& changes) -> input {
    auto text =
      changes.spoil(changes.pick(from.requests), changes.pick(from.requests));
    auto got = door.say(text, changes);
    return {std::move(text), std::move(got)};
  });
}

BOOST_AUTO_TEST_CASE(paths_and_queries) {
  run(100'000, 2, [&](mutator& changes) -> input {
    auto line =
      changes.spoil(changes.pick(from.targets), changes.pick(from.targets));
    auto text = line + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    auto got = door.say(text, changes);
    return {std::move(text), std::move(got)};
  });
}

BOOST_AUTO_TEST_CASE(fields_of_heads) {
  fuzzed_door locked{true};
  run(150'000, 3, [&](mutator& changes) -> input {
    auto& to = changes.below(2) == 0 ? door : locked;
    auto text = changes.pick(from.targets) + " HTTP/1.1\r\n";
    if (changes.below(8) != 0)
      text += "Host: localhost\r\n";
    if (changes.below(2) == 0)
      text += "Authorization: Bearer pear\r\n";
    for (auto n = changes.below(4); n > 0; --n)
      text +=
        changes.spoil(changes.pick(from.headers), changes.pick(from.headers))
        + "\r\n";
    text += "\r\n";
    auto got = to.say(text, changes);
    return {std::move(text), std::move(got)};
  });
}

BOOST_AUTO_TEST_CASE(json_for_openai) {
  run(120'000, 4, [&](mutator& changes) {
    return post_json(changes.pick(openai_paths), from.openai, changes);
  });
}

BOOST_AUTO_TEST_CASE(json_for_a1111) {
  run(120'000, 5, [&](mutator& changes) {
    return post_json(changes.pick(a1111_paths), from.a1111, changes);
  });
}

BOOST_AUTO_TEST_CASE(json_for_jobs) {
  run(100'000, 6, [&](mutator& changes) {
    return post_json("/v1/jobs", from.jobs, changes);
  });
}

BOOST_AUTO_TEST_CASE(forms) {
  run(80'000, 7, [&](mutator& changes) {
    auto body = changes.pick(from.forms);
    const auto other = changes.pick(from.forms);
    const bool before = changes.below(2) == 0;
    if (before)
      body = changes.spoil(std::move(body), other);
    body = from.with_images(std::move(body), [](const auto& x) { return x; });
    if (!before)
      body = changes.spoil(std::move(body), other);
    std::string type = "multipart/form-data; boundary=XX";
    if (changes.below(16) == 0)
      type += changes.pick(from.words);
    return post(changes.pick(openai_paths), type, std::move(body), changes);
  });
}

BOOST_AUTO_TEST_CASE(files_of_images) {
  run(100'000, 8, [&](mutator& changes) {
    const auto spoilt = [&](const std::string&) {
      const auto& file = from.images[changes.below(from.images.size())];
      const auto& other = from.images[changes.below(from.images.size())];
      return base64_of(changes.spoil(file.second, other.second));
    };
    const auto which = changes.below(4);
    const auto body_of = [&](const std::string& text) {
      return from.with_images(text, spoilt);
    };
    if (which == 0)
      return post("/v1/images/edits", "application/json",
                  body_of(R"({"prompt":"a","image":"@colour.png@","mask":)"
                          R"("@hole.png@"})"),
                  changes);
    if (which == 1)
      return post("/sdapi/v1/img2img", "application/json",
                  body_of(R"({"init_images":["@colour.png@"],"mask":)"
                          R"("@mask.png@","width":64,"height":64})"),
                  changes);
    if (which == 2)
      return post("/sdapi/v1/png-info", "application/json",
                  body_of(R"({"image":"@hole.png@"})"), changes);
    return post("/v1/jobs", "application/json",
                body_of(R"({"prompt":"a","image":"@colour.png@","mask":)"
                        R"("@mask.png@"})"),
                changes);
  });
}

BOOST_AUTO_TEST_CASE(every_route_by_every_role) {
  fuzzed_door locked{true};
  const auto& routes = locked.all().routes->all();
  size_t turn = 0;
  run(120'000, 9, [&](mutator& changes) -> input {
    // Each route has its turn with each role, whatever the number of turns.
    const auto& to = routes[turn % routes.size()];
    const auto& who = fuzzed_roles[turn / routes.size() % fuzzed_roles.size()];
    ++turn;
    auto line = to.method + " " + path_of(to.pattern, changes);
    const bool changed = changes.below(4) == 0;
    if (changed)
      line = changes.spoil(line, changes.pick(from.targets));
    const auto body =
      to.takes_body ? json_of(bodies_of(to.pattern), changes) : std::string{};
    auto text = fmt::format("{} HTTP/1.1\r\nHost: localhost\r\n{}Content-Type: "
                            "application/json\r\nContent-Length: {}\r\n\r\n{}",
                            line, who.line, body.size(), body);
    auto got = locked.say(text, changes);
    locked.end_drain();
    if (!changed && got.fault.empty())
      got.fault = fault_of_rights(got.status, who.may, to.needs);
    return {std::move(text), std::move(got)};
  });
  // A hundredth of the counts and more ask each.
  const auto each = routes.size() * std::size(fuzzed_roles);
  BOOST_TEST((turn >= each || scaled(120'000) < 1'200));
  BOOST_TEST_MESSAGE(locked.series() << " series of metrics");
  BOOST_TEST(locked.series() < 2'500u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace atelier::test
