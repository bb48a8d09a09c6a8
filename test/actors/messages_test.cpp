// SPDX-License-Identifier: Apache-2.0
#include "support/deterministic_system.hpp"
#include "support/scale.hpp"
#include "support/seed.hpp"
#include <atelier/actors/wire.hpp>
#include <atelier/core/enum_count.hpp>
#include <atelier/core/philox.hpp>

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <set>
#include <type_traits>

namespace {

using namespace atelier;
using namespace atelier::actors;

// Draws messages with every field set. The enumeration with the number `stray`
// gets the first value that it does not define.
class drawing {
public:
  static constexpr size_t no_stray = SIZE_MAX;

  explicit drawing(uint64_t number, size_t stray = no_stray)
    : random_(test::seed(), core::purpose::test, core::request_id{number}),
      stray_(stray) {}

  size_t enumerations() const {
    return enumerations_;
  }

  template <class Enum>
  Enum one_of() {
    constexpr auto count = core::enum_count<Enum>;
    static_assert(count > 1 && count < 100);
    const auto drawn = below(count);
    return static_cast<Enum>(enumerations_++ == stray_ ? count : drawn);
  }

  // One in four is not an ordinary number.
  template <class Float>
  Float number() {
    using limits = std::numeric_limits<Float>;
    const auto plain = static_cast<Float>(random_.normal());
    switch (below(32)) {
      case 0:
        return limits::infinity();
      case 1:
        return -limits::infinity();
      case 2:
        return limits::quiet_NaN();
      case 3:
        return -limits::signaling_NaN();
      case 4:
        return Float{-0.0};
      case 5:
        return limits::denorm_min();
      case 6:
        return -limits::max();
      case 7:
        return limits::min() / 2;
      default:
        return plain;
    }
  }

  uint32_t u32() {
    return random_.next_u32();
  }

  uint64_t below(uint64_t n) {
    return random_.below(n);
  }

  std::string text() {
    std::string x(below(40), ' ');
    for (auto& c : x)
      c = static_cast<char>(below(256));
    return x;
  }

  template <class T>
  T id() {
    return T{static_cast<typename T::rep>(random_.next_u64())};
  }

  core::ticket ticket() {
    return {id<core::request_id>(), u32()};
  }

  std::vector<core::ticket> tickets() {
    std::vector<core::ticket> x(below(5));
    for (auto& t : x)
      t = ticket();
    return x;
  }

  core::error error() {
    return {one_of<core::ec>(), text()};
  }

  std::vector<gpu::load_failure> load_failures() {
    std::vector<gpu::load_failure> x(below(3));
    for (auto& one : x)
      one = {core::variant_id{u32()}, error()};
    return x;
  }

  core::timespan span() {
    return core::timespan{static_cast<int64_t>(random_.next_u64())};
  }

  ipc::slot_ref slot() {
    return {u32(), u32(), u32(), one_of<ipc::slot_kind>()};
  }

  worker_address address() {
    return {
      {id<core::process_id>(), id<core::incarnation>()}, one_of<role>(), u32()};
  }

  core::recipe recipe() {
    core::recipe x;
    x.variant = id<core::variant_id>();
    x.sampler = one_of<core::sampler>();
    x.steps = u32();
    x.guidance = number<float>();
    x.guidance_rescale = number<float>();
    x.eta = number<float>();
    x.karras = below(2) != 0;
    x.spacing = one_of<core::step_spacing>();
    x.strength_rule = one_of<core::strength_rule>();
    x.from_image = below(2) != 0;
    x.lcm_steps = one_of<core::share_steps>();
    x.samples_source = below(2) != 0;
    x.strength = number<float>();
    x.px = {u32(), u32()};
    x.seed = random_.next_u64();
    x.noise = one_of<core::noise_source>();
    x.deterministic = below(2) != 0;
    return x;
  }

  core::prompt_pair prompts() {
    return {text(), text()};
  }

  std::vector<std::string> texts() {
    std::vector<std::string> x(below(4));
    for (auto& t : x)
      t = text();
    return x;
  }

  std::vector<core::note> notes() {
    std::vector<core::note> x(below(4));
    for (auto& one : x)
      one = {one_of<core::note_code>(), text()};
    return x;
  }

  std::vector<gpu::state_capture> captures() {
    std::vector<gpu::state_capture> x(below(4));
    for (auto& one : x)
      one = {u32(), slot()};
    return x;
  }

  std::vector<uint32_t> numbers() {
    std::vector<uint32_t> x(below(4));
    for (auto& one : x)
      one = u32();
    return x;
  }

  void fill(worker_ready& x) {
    x = {address(),
         u32(),
         text(),
         text(),
         {text(), text()},
         texts(),
         load_failures(),
         random_.next_u64(),
         below(2) != 0,
         u32(),
         u32()};
  }

  planning::slot_set slots() {
    planning::slot_set x;
    for (auto& one : x.slots)
      one = slot();
    x.captures.resize(below(3));
    for (auto& one : x.captures)
      one = slot();
    return x;
  }

  // The content of a stage's body is tested in stage_bodies_test.
  core::typed_body body_bytes() {
    return core::typed_body::from_bytes(text());
  }

  void fill(run_stage& x) {
    x = {ticket(),       static_cast<uint16_t>(u32()),
         span(),         slots(),
         slots(),        below(2) != 0,
         {u32(), u32()}, body_bytes()};
  }

  void fill(stage_done& x) {
    x = {ticket(),    static_cast<uint16_t>(u32()),
         error(),     span(),
         notes(),     span().count(),
         body_bytes()};
  }

  void fill(adopt& x) {
    x = {u32(),
         {id<core::variant_id>(), id<core::variant_id>()},
         u32(),
         one_of<planning::joining>(),
         {id<core::variant_id>()},
         {id<core::variant_id>()}};
  }

  void fill(adopted& x) {
    x = {address(), u32(), error(), load_failures()};
  }

  void fill(denoise& x) {
    x = {ticket(),
         recipe(),
         prompts(),
         slot(),
         slot(),
         slot(),
         slot(),
         u32(),
         one_of<core::priority>(),
         span().count(),
         core::tenant_id{random_.next_u64(), random_.next_u64()},
         u32(),
         below(2) != 0,
         u32(),
         text(),
         below(2) != 0,
         captures()};
  }

  void fill(stepping& x) {
    x = {address(), tickets()};
  }

  void fill(stepped& x) {
    x.worker = address();
    for (const auto who : tickets())
      x.rows.push_back({who, u32(), below(2) != 0});
    x.batch = u32();
    x.steps = u32();
    x.ended_ns = span().count();
    x.took = span();
    x.opening = span();
  }

  void fill(denoised& x) {
    x = {ticket(),
         error(),
         u32(),
         u32(),
         span(),
         span(),
         span(),
         random_.next_u64(),
         span().count(),
         notes(),
         number<double>(),
         span().count(),
         numbers(),
         span()};
  }

  void fill(cancel_work& x) {
    x = {ticket()};
  }

  void fill(setup& x) {
    x = {text(), text(), text(), below(2) == 0, {text(), text()}};
  }

  void fill(ping& x) {
    x = {random_.next_u64()};
  }

  void fill(pong& x) {
    x = {{id<core::process_id>(), id<core::incarnation>()},
         random_.next_u64(),
         {{text(), random_.next_u64()}}};
  }

  void fill(setup_refused& x) {
    x = {{id<core::process_id>(), id<core::incarnation>()}, error()};
  }

  void fill(leave&) {}

  void fill(ask_order& x) {
    x = {ticket()};
  }

  void fill(has_order& x) {
    x = {ticket(), below(2) != 0};
  }

  to_process outbound() {
    to_process x;
    x.role = one_of<role>();
    x.index = u32();
    body(x.body);
    return x;
  }

  from_process inbound() {
    from_process x;
    body(x.body);
    return x;
  }

private:
  template <class... Ts>
  void body(std::variant<Ts...>& x) {
    const auto kind = below(sizeof...(Ts));
    size_t i = 0;
    (void)((i++ == kind ? (fill(x.template emplace<Ts>()), true) : false)
           || ...);
  }

  core::philox random_;
  size_t stray_;
  size_t enumerations_ = 0;
};

std::vector<std::byte> bytes_of(const auto& message) {
  std::vector<std::byte> bytes;
  write(message, bytes);
  return bytes;
}

// Compares to the last bit, because a NaN does not equal itself.
template <class T>
bool same(const T& a, const T& b) {
  if constexpr (std::is_constructible_v<decltype(to_process::body), const T&>)
    return bytes_of(to_process{role::preprocess, 0, a})
        == bytes_of(to_process{role::preprocess, 0, b});
  else
    return bytes_of(from_process{a}) == bytes_of(from_process{b});
}

template <class T>
void round_trip_through_caf(caf::actor_system& sys) {
  for (uint64_t i = 0; i < 20; ++i) {
    T x;
    drawing{i}.fill(x);
    // It is sent as a value.
    std::vector<char> bytes;
    caf::binary_serializer sink{sys, bytes};
    BOOST_REQUIRE(!sink(x));
    T y;
    caf::binary_deserializer source{sys, bytes};
    BOOST_REQUIRE(!source(y));
    BOOST_REQUIRE(same(x, y));
    // It is sent as a message: a type that was not registered would come back
    // empty.
    auto message = caf::make_message(x);
    bytes.clear();
    caf::binary_serializer message_sink{sys, bytes};
    BOOST_REQUIRE(!message_sink(message));
    caf::message back;
    caf::binary_deserializer message_source{sys, bytes};
    BOOST_REQUIRE(!message_source(back));
    BOOST_REQUIRE(back.size() == 1u);
    BOOST_REQUIRE(back.template match_elements<T>());
    BOOST_REQUIRE(same(back.template get_as<T>(0), x));
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(messages_test)

BOOST_AUTO_TEST_CASE(every_message_round_trips_through_caf) {
  test::deterministic_system det;
  round_trip_through_caf<worker_ready>(det.sys);
  round_trip_through_caf<run_stage>(det.sys);
  round_trip_through_caf<stage_done>(det.sys);
  round_trip_through_caf<denoise>(det.sys);
  round_trip_through_caf<stepping>(det.sys);
  round_trip_through_caf<stepped>(det.sys);
  round_trip_through_caf<denoised>(det.sys);
  round_trip_through_caf<cancel_work>(det.sys);
  round_trip_through_caf<setup>(det.sys);
  round_trip_through_caf<ping>(det.sys);
  round_trip_through_caf<pong>(det.sys);
  round_trip_through_caf<setup_refused>(det.sys);
  round_trip_through_caf<leave>(det.sys);
  round_trip_through_caf<ask_order>(det.sys);
  round_trip_through_caf<has_order>(det.sys);
}

BOOST_AUTO_TEST_CASE(every_message_round_trips_as_bytes) {
  std::set<size_t> kinds;
  const auto count = std::max<size_t>(2'000, test::scaled(100'000));
  for (uint64_t i = 0; i < count; ++i) {
    drawing random{i};
    const auto out = random.outbound();
    const auto out_again = read_to_process(bytes_of(out));
    BOOST_REQUIRE(out_again);
    BOOST_REQUIRE(out_again->body.index() == out.body.index());
    BOOST_REQUIRE(bytes_of(*out_again) == bytes_of(out));
    kinds.insert(out.body.index());
    const auto in = random.inbound();
    const auto in_again = read_from_process(bytes_of(in));
    BOOST_REQUIRE(in_again);
    BOOST_REQUIRE(in_again->body.index() == in.body.index());
    BOOST_REQUIRE(bytes_of(*in_again) == bytes_of(in));
    kinds.insert(100 + in.body.index());
  }
  BOOST_TEST(kinds.size() == 17u);
}

BOOST_AUTO_TEST_CASE(the_first_unknown_value_of_each_enumeration_is_refused) {
  const auto count = std::max<size_t>(1'000, test::scaled(100'000));
  for (uint64_t i = 0; i < count; ++i) {
    drawing out{i};
    out.outbound();
    for (size_t at = 0; at < out.enumerations(); ++at)
      BOOST_REQUIRE(!read_to_process(bytes_of(drawing{i, at}.outbound())));
    drawing in{i};
    in.inbound();
    for (size_t at = 0; at < in.enumerations(); ++at)
      BOOST_REQUIRE(!read_from_process(bytes_of(drawing{i, at}.inbound())));
  }
}

BOOST_AUTO_TEST_CASE(every_float_crosses_bit_by_bit) {
  using limits = std::numeric_limits<float>;
  std::vector<std::byte> bytes;
  for (const float value :
       {0.0f, -0.0f, limits::denorm_min(), limits::max(), limits::infinity(),
        -limits::infinity(), limits::quiet_NaN(), 7.5f, 0.1f}) {
    denoise x;
    x.recipe.guidance = value;
    x.recipe.strength = -value;
    write(to_process{role::denoise_step, 0, x}, bytes);
    const auto again = read_to_process(bytes);
    BOOST_REQUIRE(again);
    const auto& how = std::get<denoise>(again->body).recipe;
    BOOST_TEST(std::bit_cast<uint32_t>(how.guidance)
               == std::bit_cast<uint32_t>(x.recipe.guidance));
    BOOST_TEST(std::bit_cast<uint32_t>(how.strength)
               == std::bit_cast<uint32_t>(x.recipe.strength));
  }
}

BOOST_AUTO_TEST_CASE(a_number_without_a_name_is_refused) {
  const auto refused = [](const auto& body) {
    std::vector<std::byte> bytes;
    using type = std::remove_cvref_t<decltype(body)>;
    bool read = false;
    if constexpr (std::is_constructible_v<decltype(to_process::body), type>) {
      write(to_process{role::denoise_step, 0, body}, bytes);
      read = bool(read_to_process(bytes));
    } else {
      write(from_process{body}, bytes);
      read = bool(read_from_process(bytes));
    }
    return !read;
  };
  BOOST_TEST(!refused(denoise{}));
  denoise sampler;
  sampler.recipe.sampler = static_cast<core::sampler>(core::sampler_count);
  BOOST_TEST(refused(sampler));
  denoise noise;
  noise.recipe.noise =
    static_cast<core::noise_source>(core::enum_count<core::noise_source>);
  BOOST_TEST(refused(noise));
  denoise prio;
  prio.prio = static_cast<core::priority>(3);
  BOOST_TEST(refused(prio));
  run_stage kind;
  kind.reads.slots[0].kind = static_cast<ipc::slot_kind>(ipc::slot_kinds);
  BOOST_TEST(refused(kind));
  stage_done code;
  code.failure.code = static_cast<core::ec>(200);
  BOOST_TEST(refused(code));
  stepping where;
  where.worker.role = static_cast<role>(core::enum_count<role>);
  BOOST_TEST(refused(where));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_cut_short_give_an_error) {
  std::vector<std::byte> bytes;
  for (uint64_t i = 0; i < 100; ++i) {
    drawing random{i};
    write(random.outbound(), bytes);
    for (size_t n = 0; n < bytes.size(); ++n) {
      const auto x = read_to_process(std::span(bytes).first(n));
      BOOST_REQUIRE(!x);
      BOOST_REQUIRE((x.why().code == core::ec::bad_payload));
    }
    bytes.push_back(std::byte{0});
    BOOST_REQUIRE(!read_to_process(bytes));
    write(random.inbound(), bytes);
    for (size_t n = 0; n < bytes.size(); ++n)
      BOOST_REQUIRE(!read_from_process(std::span(bytes).first(n)));
    bytes.push_back(std::byte{0});
    BOOST_REQUIRE(!read_from_process(bytes));
  }
}

BOOST_AUTO_TEST_CASE(garbage_gives_an_error_or_a_message_and_never_a_crash) {
  std::vector<std::byte> bytes;
  size_t refused = 0;
  const auto count = test::scaled(100'000);
  for (uint64_t i = 0; i < count; ++i) {
    drawing random{1'000'000 + i};
    if (random.below(2) == 0) {
      bytes.resize(random.below(200));
      for (auto& b : bytes)
        b = static_cast<std::byte>(random.below(256));
    } else {
      if (random.below(2) == 0)
        write(random.outbound(), bytes);
      else
        write(random.inbound(), bytes);
      for (auto n = 1 + random.below(4); n > 0; --n)
        bytes[random.below(bytes.size())] =
          static_cast<std::byte>(random.below(256));
    }
    const auto out = read_to_process(bytes);
    const auto in = read_from_process(bytes);
    refused += out ? 0u : 1u;
    // A value that was read can be written and read again.
    std::vector<std::byte> again;
    if (out) {
      write(*out, again);
      BOOST_REQUIRE(read_to_process(again));
    }
    if (in) {
      write(*in, again);
      BOOST_REQUIRE(read_from_process(again));
    }
  }
  BOOST_TEST(refused > count / 4);
}

BOOST_AUTO_TEST_CASE(a_report_too_large_becomes_the_failure_of_its_ticket) {
  const core::ticket who{core::request_id{7}, 2};
  const auto why = too_large(2'000'000, 1'000'000);
  BOOST_TEST((why.code == core::ec::invalid_argument));
  BOOST_TEST(why.text.find("arena.ring_kib") != std::string::npos);
  stage_done large;
  large.ticket = who;
  large.stage = 5;
  large.notes.resize(3);
  const auto small = refused(from_process{large}, why);
  BOOST_REQUIRE(small.has_value());
  const auto& told = std::get<stage_done>(small->body);
  BOOST_TEST((told.ticket == who));
  BOOST_TEST(told.stage == 5u);
  BOOST_TEST((told.failure == why));
  BOOST_TEST(told.notes.empty());
  denoised leg;
  leg.ticket = who;
  leg.notes.resize(3);
  const auto end = refused(from_process{leg}, why);
  BOOST_REQUIRE(end.has_value());
  BOOST_TEST((std::get<denoised>(end->body).failure == why));
  BOOST_TEST(std::get<denoised>(end->body).notes.empty());
  BOOST_TEST(!refused(from_process{pong{}}, why).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
