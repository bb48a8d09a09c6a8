// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/layers/weights.hpp>

#include <fmt/ranges.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

namespace atelier::gpu {

torch::Dtype torch_type(tensor_type x) {
  switch (x) {
    case tensor_type::float64:
      return torch::kFloat64;
    case tensor_type::float32:
      return torch::kFloat32;
    case tensor_type::float16:
      return torch::kFloat16;
    case tensor_type::bfloat16:
      return torch::kBFloat16;
    case tensor_type::int64:
      return torch::kInt64;
    case tensor_type::int32:
      return torch::kInt32;
    case tensor_type::int16:
      return torch::kInt16;
    case tensor_type::int8:
      return torch::kInt8;
    case tensor_type::uint8:
      return torch::kUInt8;
    case tensor_type::boolean:
      return torch::kBool;
  }
  return torch::kFloat32;
}

namespace {

/// Returns whether all bytes of a tensor can be read. Reading a mapped file
/// that was cut, or whose disk fails, would end the process instead. Kernels
/// before Linux 5.14 cannot tell.
bool can_be_read(std::span<const std::byte> bytes) {
  constexpr int populate_read = 22;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data()) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size());
  return ::madvise(reinterpret_cast<void*>(begin), end - begin, populate_read)
        == 0
      || (errno != EFAULT && errno != EIO && errno != EHWPOISON);
}

} // namespace

weights::weights(std::shared_ptr<const tensor_source> from, placement where)
  : from_(std::move(from)), where_(where) {}

bool weights::has(std::string_view name) const {
  return from_->find(name).has_value();
}

std::vector<int64_t> weights::shape_of(std::string_view name) const {
  const auto found = from_->find(name);
  return found ? found->shape : std::vector<int64_t>{};
}

torch::Tensor weights::take(std::string_view name, torch::IntArrayRef shape) {
  return take(name, shape, where_.dtype);
}

torch::Tensor weights::take(std::string_view name, torch::IntArrayRef shape,
                            torch::Dtype as) {
  const auto found = from_->find(name);
  if (!found)
    throw model_error{core::fail(
      core::ec::bad_payload, "{}: tensor {} is missing", from_->where(), name)};
  taken_.emplace(name);
  if (!std::equal(shape.begin(), shape.end(), found->shape.begin(),
                  found->shape.end()))
    throw model_error{core::fail(
      core::ec::bad_payload, "{}: tensor {} has shape [{}], not [{}]",
      from_->where(), name, fmt::join(found->shape, ", "),
      fmt::join(shape.begin(), shape.end(), ", "))};
  const auto stored = torch_type(found->type);
  if (!c10::isFloatingType(stored))
    throw model_error{core::fail(
      core::ec::bad_payload, "{}: tensor {} is of type {}, not floating-point",
      from_->where(), name, to_string(found->type))};
  if (!can_be_read(found->bytes))
    throw model_error{core::fail(core::ec::io_failed,
                                 "{}: tensor {} cannot be read: the file was "
                                 "cut, or its disk fails",
                                 from_->where(), name)};
  // Keeps the mapping as long as a tensor uses it.
  auto keep = from_;
  auto* bytes = const_cast<std::byte*>(found->bytes.data());
  std::vector<int64_t> laid{shape.begin(), shape.end()};
  if (found->transposed)
    std::reverse(laid.begin(), laid.end());
  torch::Tensor out;
  if (is_aligned(*found)) {
    out = torch::from_blob(
      bytes, laid, [keep](void*) {}, torch::TensorOptions().dtype(stored));
  } else {
    out = torch::empty(laid, torch::TensorOptions().dtype(stored));
    std::memcpy(out.mutable_data_ptr(), bytes, found->bytes.size());
  }
  if (found->transposed)
    out = out.t();
  return out.to(where_.device, as);
}

void weights::let_go(std::string_view name) const {
  from_->let_go(name);
}

std::function<void()> weights::release_later(std::string_view name) const {
  return [keep = from_, held = std::string{name}] { keep->let_go(held); };
}

void weights::keeps(uint64_t kept, int64_t stored) {
  more_bytes_ += static_cast<int64_t>(kept)
               - stored * static_cast<int64_t>(c10::elementSize(where_.dtype));
}

uint64_t weights::more_bytes() const {
  return static_cast<uint64_t>(std::max<int64_t>(more_bytes_, 0));
}

void weights::mark_batch_dependent() {
  batch_invariant_ = false;
}

bool weights::is_batch_invariant() const {
  return batch_invariant_;
}

void weights::skip(std::string_view name) {
  taken_.emplace(name);
}

void weights::expect_all_taken() const {
  std::vector<std::string> extra;
  for (auto& name : from_->names())
    if (!taken_.contains(name))
      extra.push_back(std::move(name));
  if (extra.empty())
    return;
  const auto count = extra.size();
  if (count > 5)
    extra.resize(5);
  throw model_error{core::fail(
    core::ec::bad_payload,
    "{}: {} tensors that the configuration has no place "
    "for: {}{}",
    from_->where(), count, fmt::join(extra, ", "), count > 5 ? ", ..." : "")};
}

bool ran_out_of_memory(const c10::Error& x) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&x) != nullptr)
    return true;
  const std::string_view said{x.what_without_backtrace()};
  const auto names = [&](std::string_view what) {
    return said.find(what) != std::string_view::npos;
  };
  return names("DefaultCPUAllocator: can't allocate memory")
      || names("_STATUS_ALLOC_FAILED");
}

} // namespace atelier::gpu
