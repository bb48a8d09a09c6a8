// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/wire.hpp>
#include <atelier/core/record.hpp>

#include <type_traits>
#include <utility>

namespace atelier::actors {

namespace {

template <class Variant>
void write_body(const Variant& body, core::record_writer& sink) {
  sink(static_cast<uint8_t>(body.index()));
  // Inspectors take mutable references; a sink changes nothing.
  std::visit(
    [&](const auto& x) {
      using type = std::remove_cvref_t<decltype(x)>;
      sink(const_cast<type&>(x));
    },
    body);
}

core::error why(const core::record_reader& source, uint8_t kind) {
  if (source.how() == core::record_reader::outcome::unnamed_value)
    return core::fail(core::ec::bad_payload,
                      "a record of kind {} holds a number for which there is "
                      "no name",
                      kind);
  return core::fail(core::ec::bad_payload,
                    "a record of kind {} ends before its fields", kind);
}

template <class Variant, size_t... Is>
core::result<Variant> read_body(core::record_reader& source,
                                std::index_sequence<Is...>) {
  uint8_t kind = 0;
  if (!source(kind))
    return core::fail(core::ec::bad_payload, "a record without a kind");
  core::result<Variant> out =
    core::fail(core::ec::bad_payload, "kind {} of a record is not known", kind);
  auto attempt = [&]<size_t I>(std::integral_constant<size_t, I>) {
    if (kind != I)
      return;
    std::variant_alternative_t<I, Variant> x;
    if (!source(x))
      out = why(source, kind);
    else if (source.left() != 0)
      out = core::fail(core::ec::bad_payload,
                       "a record of kind {} has {} bytes too many", kind,
                       source.left());
    else
      out = Variant{std::in_place_index<I>, std::move(x)};
  };
  (attempt(std::integral_constant<size_t, Is>{}), ...);
  return out;
}

template <class Message>
using body_of = decltype(Message::body);

template <class Message>
core::result<body_of<Message>> read_any(core::record_reader& source) {
  constexpr auto n = std::variant_size_v<body_of<Message>>;
  return read_body<body_of<Message>>(source, std::make_index_sequence<n>{});
}

} // namespace

void write(const to_process& x, std::vector<std::byte>& into) {
  into.clear();
  core::record_writer sink{into};
  sink(x.role, x.index);
  write_body(x.body, sink);
}

void write(const from_process& x, std::vector<std::byte>& into) {
  into.clear();
  core::record_writer sink{into};
  write_body(x.body, sink);
}

core::result<to_process> read_to_process(std::span<const std::byte> from) {
  core::record_reader source{from};
  to_process x;
  if (!source(x.role, x.index))
    return core::fail(core::ec::bad_payload, "a record without an address");
  auto body = read_any<to_process>(source);
  if (!body)
    return body.why();
  x.body = std::move(*body);
  return x;
}

core::result<from_process> read_from_process(std::span<const std::byte> from) {
  core::record_reader source{from};
  auto body = read_any<from_process>(source);
  if (!body)
    return body.why();
  return from_process{std::move(*body)};
}

core::error too_large(size_t bytes, size_t most) {
  return core::fail(core::ec::invalid_argument,
                    "a record of {} bytes does not fit the ring of its "
                    "process, which takes {} (arena.ring_kib)",
                    bytes, most);
}

std::optional<from_process> refused(const from_process& x, core::error why) {
  if (const auto* done = std::get_if<stage_done>(&x.body)) {
    stage_done out;
    out.ticket = done->ticket;
    out.stage = done->stage;
    out.failure = std::move(why);
    out.took = done->took;
    out.began_ns = done->began_ns;
    return from_process{std::move(out)};
  }
  if (const auto* leg = std::get_if<denoised>(&x.body)) {
    denoised out;
    out.ticket = leg->ticket;
    out.failure = std::move(why);
    out.steps_done = leg->steps_done;
    out.steps_run = leg->steps_run;
    return from_process{std::move(out)};
  }
  return std::nullopt;
}

} // namespace atelier::actors
