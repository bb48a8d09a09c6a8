// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/utf8.hpp>
#include <atelier/gpu/models/files/detail/safetensors_header.hpp>
#include <atelier/gpu/models/files/float_types.hpp>
#include <atelier/gpu/models/files/output_file.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace atelier::gpu {

namespace {

constexpr size_t chunk_bytes = size_t{4} << 20;

tensor_type type_of(const named_tensor& x) {
  return x.as.value_or(x.tensor.type);
}

core::error refused(const named_tensor& x, std::string_view why) {
  return core::fail(core::ec::invalid_argument, "tensor {}: {}",
                    detail::printable(x.name), why);
}

core::result<void> check(const named_tensor& x) {
  const auto& view = x.tensor;
  const auto stored = detail::bytes_for(view.shape, view.type);
  if (!stored || *stored != view.bytes.size())
    return refused(x, fmt::format("{} bytes do not fit its shape and type",
                                  view.bytes.size()));
  if (view.transposed && view.shape.size() != 2)
    return refused(x, "only a matrix can be transposed");
  if (core::find_utf8_fault(x.name) || x.name == "__metadata__")
    return refused(x, "its name is not UTF-8, or one that the format keeps");
  if (type_of(x) != view.type
      && !(is_floating(view.type) && is_floating(type_of(x))))
    return refused(x, fmt::format("{} cannot be written as {}",
                                  to_string(view.type), to_string(type_of(x))));
  return {};
}

/// Returns a tensor's elements in the order of its shape, as stored.
class straight_reader {
public:
  explicit straight_reader(const tensor_view& x)
    : view_(x), width_(bytes_of(x.type)) {}

  /// Returns the next `count` elements; valid until the next call.
  std::span<const std::byte> next(size_t count) {
    const auto first = at_;
    at_ += count;
    if (!view_.transposed)
      return view_.bytes.subspan(first * width_, count * width_);
    const auto rows = static_cast<size_t>(view_.shape[0]);
    const auto columns = static_cast<size_t>(view_.shape[1]);
    gathered_.resize(count * width_);
    for (size_t i = 0; i < count; ++i) {
      const auto row = (first + i) / columns;
      const auto column = (first + i) % columns;
      std::memcpy(gathered_.data() + i * width_,
                  view_.bytes.data() + (column * rows + row) * width_, width_);
    }
    return gathered_;
  }

private:
  const tensor_view& view_;
  size_t width_;
  size_t at_ = 0;
  std::vector<std::byte> gathered_;
};

/// Writes one tensor after another, and counts the bytes.
class data_writer {
public:
  data_writer(detail::output_file& to, const write_progress& proceed)
    : to_(to), proceed_(proceed) {}

  core::result<void> write(const named_tensor& x) {
    const auto type = type_of(x);
    straight_reader from{x.tensor};
    const auto per_chunk = chunk_bytes / bytes_of(x.tensor.type);
    auto left = static_cast<size_t>(elements_of(x.tensor));
    while (left > 0) {
      const auto count = std::min(left, per_chunk);
      left -= count;
      auto piece = from.next(count);
      if (type != x.tensor.type) {
        converted_.resize(count * bytes_of(type));
        detail::convert(x.tensor.type, piece, type, converted_);
        if (type == tensor_type::float16
            && detail::count_non_finite(type, converted_)
                 != detail::count_non_finite(x.tensor.type, piece))
          return refused(x, "it holds numbers outside the range of F16");
        piece = converted_;
      }
      if (auto ok = to_.write(piece); !ok)
        return ok;
      written_ += piece.size();
      if (proceed_ && !proceed_(written_))
        return core::fail(core::ec::cancelled, "the writing was ended");
    }
    return {};
  }

private:
  detail::output_file& to_;
  const write_progress& proceed_;
  uint64_t written_ = 0;
  std::vector<std::byte> converted_;
};

} // namespace

core::result<void> write_safetensors(
  const std::filesystem::path& file, const std::vector<named_tensor>& tensors,
  const std::map<std::string, std::string, std::less<>>& metadata,
  const write_progress& proceed) {
  // Wide types are first, so that every tensor is aligned.
  std::vector<const named_tensor*> order;
  for (const auto& x : tensors) {
    if (auto ok = check(x); !ok)
      return ok;
    order.push_back(&x);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const named_tensor* a, const named_tensor* b) {
                     return bytes_of(type_of(*a)) > bytes_of(type_of(*b));
                   });
  auto header = nlohmann::json::object();
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const auto* x : order) {
    if (header.contains(x->name))
      return refused(*x, "it occurs twice");
    const auto bytes = elements_of(x->tensor) * bytes_of(type_of(*x));
    header[x->name] = {{"dtype", to_string(type_of(*x))},
                       {"shape", x->tensor.shape},
                       {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  auto text =
    header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();

  auto to = detail::output_file::create(file);
  if (!to)
    return to.why();
  if (auto ok = to->write(std::as_bytes(std::span{&length, 1})); !ok)
    return ok;
  if (auto ok = to->write(std::as_bytes(std::span{text})); !ok)
    return ok;
  data_writer data{*to, proceed};
  for (const auto* x : order)
    if (auto ok = data.write(*x); !ok)
      return ok;
  return to->finish();
}

} // namespace atelier::gpu
