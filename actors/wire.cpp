// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/wire.hpp>

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/byte.hpp>

#include <type_traits>
#include <utility>

namespace atelier::actors {

namespace {

// -- numbers that stand for one of some names ---------------------------------

template <class Enum>
bool at_most(Enum x, Enum last) {
  return x <= last;
}

bool known(const core::recipe& x) {
  bool yes = true;
  core::each_parameter([&](const core::parameter&, auto at) {
    using type = typename decltype(at)::type;
    if constexpr (std::is_enum_v<type>)
      yes = yes && x.*at.used < type::count;
  });
  return yes;
}

bool known(const core::error& x) {
  return at_most(x.code, core::ec::internal);
}

bool known(const worker_address& x) {
  return at_most(x.what, role::postprocess);
}

/// Tells whether every enumeration in a message has one of its own values.
template <class Message>
bool all_known(const Message& x) {
  bool yes = true;
  if constexpr (requires { x.who.where; })
    yes = yes && known(x.who);
  if constexpr (requires { x.how; })
    yes = yes && known(x.how);
  if constexpr (requires { x.failure; })
    yes = yes && known(x.failure);
  if constexpr (requires { x.prio; })
    yes = yes && at_most(x.prio, core::priority::high);
  if constexpr (requires { x.join; })
    yes = yes && at_most(x.join, planning::joining::single);
  if constexpr (requires { x.output; })
    yes = yes && at_most(x.output.format, core::image_format::webp);
  if constexpr (requires { x.notes; })
    for (const auto& one : x.notes)
      yes = yes && at_most(one.code, core::note_code::field_ignored);
  return yes;
}

// -- bodies -------------------------------------------------------------------

template <class Variant>
void write_body(const Variant& body, caf::binary_serializer& sink) {
  auto kind = static_cast<uint8_t>(body.index());
  sink.apply(kind);
  // CAF's inspectors take mutable references; a sink changes nothing.
  std::visit(
    [&](const auto& x) {
      using type = std::remove_cvref_t<decltype(x)>;
      inspect(sink, const_cast<type&>(x));
    },
    body);
}

template <class Variant, size_t... Is>
core::result<Variant> read_body(caf::binary_deserializer& source,
                                std::index_sequence<Is...>) {
  uint8_t kind = 0;
  if (auto err = source.apply(kind))
    return core::fail(core::ec::bad_payload, "a record without a kind");
  core::result<Variant> out =
    core::fail(core::ec::bad_payload, "kind {} of a record is not known", kind);
  auto attempt = [&]<size_t I>(std::integral_constant<size_t, I>) {
    if (kind != I)
      return;
    std::variant_alternative_t<I, Variant> x;
    if (auto err = inspect(source, x))
      out = core::fail(core::ec::bad_payload,
                       "a record of kind {} ends before its fields", kind);
    else if (source.remaining() != 0)
      out = core::fail(core::ec::bad_payload,
                       "a record of kind {} has {} bytes too many", kind,
                       source.remaining());
    else if (!all_known(x))
      out = core::fail(core::ec::bad_payload,
                       "a record of kind {} holds a number for which there is "
                       "no name",
                       kind);
    else
      out = Variant{std::in_place_index<I>, std::move(x)};
  };
  (attempt(std::integral_constant<size_t, Is>{}), ...);
  return out;
}

template <class Message>
using body_of = decltype(Message::body);

template <class Message>
core::result<body_of<Message>> read_any(caf::binary_deserializer& source) {
  constexpr auto n = std::variant_size_v<body_of<Message>>;
  return read_body<body_of<Message>>(source, std::make_index_sequence<n>{});
}

caf::binary_deserializer source_of(std::span<const std::byte> from) {
  return {nullptr, reinterpret_cast<const char*>(from.data()), from.size()};
}

void take(std::vector<std::byte>& into, const std::vector<char>& bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  into.assign(begin, begin + bytes.size());
}

} // namespace

void write(const to_process& x, std::vector<std::byte>& into) {
  std::vector<char> bytes;
  caf::binary_serializer sink{nullptr, bytes};
  auto what = static_cast<uint8_t>(x.what);
  auto index = x.index;
  sink.apply(what);
  sink.apply(index);
  write_body(x.body, sink);
  take(into, bytes);
}

void write(const from_process& x, std::vector<std::byte>& into) {
  std::vector<char> bytes;
  caf::binary_serializer sink{nullptr, bytes};
  write_body(x.body, sink);
  take(into, bytes);
}

core::result<to_process> read_to_process(std::span<const std::byte> from) {
  auto source = source_of(from);
  to_process x;
  uint8_t what = 0;
  if (source.apply(what) || source.apply(x.index)
      || what > static_cast<uint8_t>(role::postprocess))
    return core::fail(core::ec::bad_payload, "a record without an address");
  x.what = static_cast<role>(what);
  auto body = read_any<to_process>(source);
  if (!body)
    return body.why();
  x.body = std::move(*body);
  return x;
}

core::result<from_process> read_from_process(std::span<const std::byte> from) {
  auto source = source_of(from);
  auto body = read_any<from_process>(source);
  if (!body)
    return body.why();
  return from_process{std::move(*body)};
}

} // namespace atelier::actors
