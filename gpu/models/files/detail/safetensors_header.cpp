// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/json_cursor.hpp>
#include <atelier/gpu/models/files/detail/safetensors_header.hpp>
#include <atelier/gpu/models/files/printable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace atelier::gpu::detail {

namespace {

using core::ec;

class header_reader {
public:
  header_reader(std::string_view text, uint64_t data_bytes,
                std::string_view where)
    : cursor_(text), data_bytes_(data_bytes), where_(where) {}

  core::result<safetensors_header> read() {
    if (auto ok = read_object(); !ok)
      return ok.why();
    if (!cursor_.at_end())
      return bad("the header has more than one JSON value");
    if (auto ok = check_ranges(); !ok)
      return ok.why();
    return std::move(out_);
  }

private:
  core::error bad(std::string_view what) const {
    return core::fail(ec::bad_payload, "{}: {}", where_, what);
  }

  core::error bad_json() const {
    return core::fail(ec::bad_payload, "{}: the header is not valid JSON, {}",
                      where_, cursor_.fault());
  }

  core::error bad_tensor(std::string_view name, std::string_view what) const {
    return core::fail(ec::bad_payload, "{}: tensor {}: {}", where_,
                      printable(name), what);
  }

  /// Calls `member` with each key of an object, the cursor behind its colon.
  template <class Member>
  core::result<void> read_members(Member member) {
    if (!cursor_.expect('{'))
      return bad_json();
    if (cursor_.take('}'))
      return {};
    do {
      auto key = cursor_.string();
      if (!key || !cursor_.expect(':'))
        return bad_json();
      if (core::result<void> ok = member(std::move(*key)); !ok)
        return ok;
    } while (cursor_.take(','));
    if (!cursor_.expect('}'))
      return bad_json();
    return {};
  }

  core::result<void> read_object() {
    bool noted = false;
    return read_members([&](std::string name) -> core::result<void> {
      if (name == "__metadata__") {
        if (std::exchange(noted, true))
          return bad("__metadata__ occurs twice");
        // The reference reads null as no metadata.
        return cursor_.take_word("null") ? core::result<void>{}
                                         : read_metadata();
      }
      const auto [at, fresh] = out_.tensors.try_emplace(std::move(name));
      if (!fresh)
        return bad_tensor(at->first, "it occurs twice");
      return read_tensor(at->first, at->second);
    });
  }

  core::result<void> read_metadata() {
    return read_members([&](std::string key) -> core::result<void> {
      auto value = cursor_.string();
      if (!value)
        return bad(
          fmt::format("__metadata__.{}: {}", printable(key), cursor_.fault()));
      const auto [at, fresh] =
        out_.metadata.try_emplace(std::move(key), std::move(*value));
      if (!fresh)
        return bad(
          fmt::format("__metadata__.{} occurs twice", printable(at->first)));
      return {};
    });
  }

  core::result<void> read_tensor(const std::string& name, stored_tensor& x) {
    bool has_type = false;
    bool has_shape = false;
    bool has_range = false;
    auto ok = read_members([&](const std::string& key) -> core::result<void> {
      bool* seen = key == "dtype"        ? &has_type
                 : key == "shape"        ? &has_shape
                 : key == "data_offsets" ? &has_range
                                         : nullptr;
      if (seen == nullptr)
        return bad_tensor(
          name, fmt::format("{} is not a key of the format", printable(key)));
      if (std::exchange(*seen, true))
        return bad_tensor(name, key + " occurs twice");
      return seen == &has_type  ? read_type(name, x)
           : seen == &has_shape ? read_shape(name, x)
                                : read_range(name, x);
    });
    if (!ok)
      return ok;
    if (!has_type || !has_shape || !has_range)
      return bad_tensor(name, fmt::format("{} is missing", !has_type ? "dtype"
                                                           : !has_shape
                                                             ? "shape"
                                                             : "data_offsets"));
    const auto needed = bytes_for(x.shape, x.type);
    if (!needed || *needed != x.end - x.begin)
      return bad_tensor(name, fmt::format("{} bytes do not fit its shape and "
                                          "dtype",
                                          x.end - x.begin));
    return {};
  }

  core::result<void> read_type(const std::string& name, stored_tensor& x) {
    const auto text = cursor_.string();
    if (!text)
      return bad_tensor(name, "dtype: " + cursor_.fault());
    const auto type = parse_tensor_type(*text);
    if (!type)
      return bad_tensor(
        name, fmt::format("dtype {} is not supported", printable(*text)));
    x.type = *type;
    return {};
  }

  core::result<void> read_shape(const std::string& name, stored_tensor& x) {
    constexpr auto most = uint64_t{std::numeric_limits<int64_t>::max()};
    if (!cursor_.expect('['))
      return bad_tensor(name, "shape: " + cursor_.fault());
    if (cursor_.take(']'))
      return {};
    do {
      const auto side = cursor_.whole();
      if (!side)
        return bad_tensor(name, "shape: " + cursor_.fault());
      if (*side > most || x.shape.size() == most_axes)
        return bad_tensor(
          name, fmt::format("shape: more than {} axes, or a side above 2^63-1",
                            most_axes));
      x.shape.push_back(static_cast<int64_t>(*side));
    } while (cursor_.take(','));
    if (!cursor_.expect(']'))
      return bad_tensor(name, "shape: " + cursor_.fault());
    return {};
  }

  core::result<void> read_range(const std::string& name, stored_tensor& x) {
    bool ok = cursor_.expect('[');
    const auto begin = ok ? cursor_.whole() : std::nullopt;
    ok = begin && cursor_.expect(',');
    const auto end = ok ? cursor_.whole() : std::nullopt;
    if (!end || !cursor_.expect(']'))
      return bad_tensor(name, "data_offsets: " + cursor_.fault());
    if (*begin > *end || *end > data_bytes_)
      return bad_tensor(name,
                        fmt::format("data_offsets [{}, {}] outside the {} "
                                    "bytes of data",
                                    *begin, *end, data_bytes_));
    x.begin = *begin;
    x.end = *end;
    return {};
  }

  core::result<void> check_ranges() const {
    using entry = std::pair<const std::string, stored_tensor>;
    std::vector<const entry*> order;
    order.reserve(out_.tensors.size());
    for (const auto& x : out_.tensors)
      order.push_back(&x);
    std::sort(order.begin(), order.end(), [](const entry* a, const entry* b) {
      return std::pair{a->second.begin, a->second.end}
           < std::pair{b->second.begin, b->second.end};
    });
    uint64_t at = 0;
    for (const auto* x : order) {
      if (x->second.begin != at)
        return bad_tensor(
          x->first,
          fmt::format("its data begin at byte {}, {} the end "
                      "of those before at {}",
                      x->second.begin,
                      x->second.begin < at ? "before" : "behind", at));
      at = x->second.end;
    }
    if (at != data_bytes_)
      return bad(fmt::format("{} bytes after the last tensor, which ends at "
                             "byte {} of the data",
                             data_bytes_ - at, at));
    return {};
  }

  json_cursor cursor_;
  uint64_t data_bytes_;
  std::string_view where_;
  safetensors_header out_;
};

} // namespace

std::optional<tensor_type> parse_tensor_type(std::string_view name) {
  using enum tensor_type;
  for (const auto x : {float64, float32, float16, bfloat16, int64, int32, int16,
                       int8, uint8, boolean})
    if (to_string(x) == name)
      return x;
  return std::nullopt;
}

std::optional<uint64_t> bytes_for(const std::vector<int64_t>& shape,
                                  tensor_type type) {
  uint64_t n = bytes_of(type);
  for (const auto side : shape)
    if (side < 0 || __builtin_mul_overflow(n, static_cast<uint64_t>(side), &n))
      return std::nullopt;
  return n;
}

core::result<safetensors_header> parse_safetensors_header(
  std::string_view text, uint64_t data_bytes, std::string_view where) {
  // The reference reads white space before the header, although the format's
  // description forbids it.
  const auto start = text.find_first_not_of(" \t\n\r");
  if (start == std::string_view::npos || text[start] != '{')
    return core::fail(ec::bad_payload,
                      "{}: the header does not begin with '{{'", where);
  return header_reader{text, data_bytes, where}.read();
}

} // namespace atelier::gpu::detail
