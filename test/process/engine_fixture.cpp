// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/philox.hpp>

#include <boost/test/unit_test.hpp>
#include <process/engine_fixture.hpp>
#include <support/eventually.hpp>

#include <algorithm>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 120s;

} // namespace

std::ostream& operator<<(std::ostream& out, mode x) {
  return out << (x == mode::single ? "single" : "split");
}

std::string process_program() {
  return ATELIER_PROCESS_PROGRAM;
}

std::string host_worker() {
  return ATELIER_HOST_WORKER;
}

engine_options options_of(mode how, std::vector<std::string> more) {
  engine_options x;
  x.set = {std::string{"processes.mode="}
             + (how == mode::single ? "single" : "split"),
           "processes.program=\"" + process_program() + '"',
           "arena.state_slots=16",
           "arena.image_slots=12",
           "arena.image_slot_kib=1024",
           "arena.state_slot_kib=128",
           "log.level=off"};
  x.set.insert(x.set.end(), more.begin(), more.end());
  return x;
}

std::unique_ptr<engine> start(const engine_options& options) {
  auto started = engine::start(options);
  if (const auto* why = std::get_if<failure>(&started))
    BOOST_FAIL(why->code + ": " + why->text);
  return std::get<std::unique_ptr<engine>>(std::move(started));
}

std::unique_ptr<engine> start(mode how, std::vector<std::string> more) {
  return start(options_of(how, std::move(more)));
}

std::vector<uint8_t> image_file(uint32_t width, uint32_t height, uint64_t seed,
                                core::image_format format) {
  core::philox random{seed, core::purpose::test};
  image::bitmap x{{width, height}, 3, {}};
  x.bytes.resize(image::bytes_of(x.px, 3));
  for (auto& byte : x.bytes)
    byte = static_cast<uint8_t>(random.below(256));
  const auto file = image::encode(x.view(), {format, 90});
  BOOST_TEST_REQUIRE(file.operator bool());
  return *file;
}

std::vector<generation> mixed_requests(size_t count, uint64_t seed) {
  core::philox random{seed, core::purpose::test};
  const char* const formats[] = {"png", "jpeg", "webp"};
  const char* const priorities[] = {"low", "normal", "high"};
  const char* const samplers[] = {"ddim", "euler", "dpmpp_2m"};
  std::vector<generation> all;
  for (size_t i = 0; i < count; ++i) {
    generation x;
    x.prompt = "image " + std::to_string(i) + " \u00e9\u4e16";
    if (random.below(2) == 0)
      x.negative = "nothing of " + std::to_string(random.below(100));
    x.width = static_cast<uint32_t>(8 * (1 + random.below(12)));
    x.height = static_cast<uint32_t>(8 * (1 + random.below(12)));
    x.seed = random.next_u64();
    x.steps = static_cast<uint32_t>(1 + random.below(8));
    x.guidance = static_cast<float>(random.below(20));
    x.sampler = samplers[random.below(3)];
    x.format = formats[random.below(3)];
    x.quality = static_cast<uint32_t>(1 + random.below(100));
    x.priority = priorities[random.below(3)];
    x.noise = random.below(2) == 0 ? "torch_cpu" : "philox";
    x.eta = static_cast<float>(random.below(3)) / 2;
    x.karras = random.below(2) == 0;
    const auto any_file = [&] {
      const auto side = [&] {
        return static_cast<uint32_t>(1 + random.below(120));
      };
      const auto width = side();
      const auto height = side();
      const auto format = static_cast<core::image_format>(random.below(3));
      return image_file(width, height, random.next_u64(), format);
    };
    if (random.below(3) == 0) {
      x.image = any_file();
      if (random.below(2) == 0)
        x.mask = any_file();
      if (random.below(2) == 0)
        x.strength = static_cast<float>(1 + random.below(*x.steps))
                   / static_cast<float>(*x.steps);
      if (random.below(2) == 0)
        x.width = x.height = 0;
    }
    all.push_back(std::move(x));
  }
  return all;
}

in_flight hand_in(engine& to, const generation& wanted) {
  in_flight x;
  failure why;
  const bool accepted = eventually(
    [&] {
      callbacks calls;
      calls.answered = [n = x.answers](const answer&) { ++*n; };
      auto got = to.submit(wanted, std::move(calls));
      if (auto* s = std::get_if<submission>(&got)) {
        x.accepted = std::move(*s);
        return true;
      }
      why = std::get<failure>(got);
      return why.code != "overloaded";
    },
    patience);
  if (!accepted || x.accepted.request == 0)
    BOOST_FAIL("refused: " + why.code + ": " + why.text);
  return x;
}

answer await(in_flight& x) {
  if (x.accepted.result.wait_for(patience) != std::future_status::ready)
    BOOST_FAIL("request " + std::to_string(x.accepted.request)
               + " was not answered");
  return x.accepted.result.get();
}

const generated_image& image_in(const answer& x) {
  if (const auto* why = std::get_if<failure>(&x))
    BOOST_FAIL(why->code + ": " + why->text);
  return std::get<generated_image>(x);
}

std::string code_of(const answer& x) {
  const auto* why = std::get_if<failure>(&x);
  return why != nullptr ? why->code : "";
}

std::vector<answer> answers_to(engine& to,
                               const std::vector<generation>& wanted) {
  std::vector<in_flight> all;
  for (const auto& x : wanted)
    all.push_back(hand_in(to, x));
  std::vector<answer> answers;
  for (auto& x : all)
    answers.push_back(await(x));
  for (const auto& x : all)
    BOOST_TEST_REQUIRE(eventually([&] { return *x.answers != 0; }));
  for (const auto& x : all)
    BOOST_TEST(x.answers->load() == 1u);
  return answers;
}

void check_same_image(const generated_image& a, const generated_image& b) {
  const auto first = image::decode(a.bytes);
  const auto second = image::decode(b.bytes);
  BOOST_TEST_REQUIRE(first.operator bool());
  BOOST_TEST_REQUIRE(second.operator bool());
  BOOST_TEST((first->px == second->px));
  BOOST_TEST((first->px == core::extent{a.width, a.height}));
  BOOST_TEST((first->bytes == second->bytes));
  BOOST_TEST((image::read_text(a.bytes) == image::read_text(b.bytes)));
  BOOST_TEST((a.bytes == b.bytes));
  BOOST_TEST(a.sha256 == b.sha256);
  BOOST_TEST(a.seed == b.seed);
  BOOST_TEST(a.prompt == b.prompt);
  BOOST_TEST(a.negative == b.negative);
  BOOST_TEST(a.variant == b.variant);
  BOOST_TEST(a.route == b.route);
  BOOST_TEST(a.sampler == b.sampler);
  BOOST_TEST(a.steps == b.steps);
  BOOST_TEST(a.guidance == b.guidance);
  BOOST_TEST(a.eta == b.eta);
  BOOST_TEST(a.karras == b.karras);
  BOOST_TEST(a.strength == b.strength);
  BOOST_TEST((a.notes == b.notes));
}

pid_t pid_of(const engine& x, const std::string& role) {
  for (const auto& p : x.status().processes)
    if (p.role == role && p.alive)
      return p.pid;
  return 0;
}

bool comes_to_rest(const engine& x) {
  return eventually([&] {
    const auto s = x.status();
    return s.slots_in_use == 0 && s.waiting == 0 && s.running == 0
        && (!s.cache || s.cache->pending == 0);
  });
}

} // namespace atelier::test
