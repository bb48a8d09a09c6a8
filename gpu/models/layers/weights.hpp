// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: only for sources of gpu that torch.cmake lists.

#include <atelier/core/error.hpp>
#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/tensor_source.hpp>
#include <atelier/gpu/models/layers/placement.hpp>

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::gpu {

/// Carries a core::error through code that builds a network; caught by the
/// `load` that started it.
class model_error : public std::runtime_error {
public:
  explicit model_error(core::error why)
    : std::runtime_error(why.text), why_(std::move(why)) {}

  const core::error& why() const {
    return why_;
  }

private:
  core::error why_;
};

/// Throws model_error if `x` is an error.
inline void or_throw(const core::result<void>& x) {
  if (!x)
    throw model_error{x.why()};
}

/// Gives a network its tensors, and records which were taken.
/// Threads: one at a time.
class weights {
public:
  weights(std::shared_ptr<const tensor_source> from, placement where);

  const placement& where() const {
    return where_;
  }

  bool has(std::string_view name) const;

  /// Returns the stored shape; empty if no such tensor exists.
  std::vector<int64_t> shape_of(std::string_view name) const;

  /// Returns the tensor in the placement's type on its device. If the stored
  /// type is that type and the device is the CPU, the result is the mapped file
  /// itself and must not be written to.
  /// Throws model_error: ec::bad_payload (missing, another shape, not a
  /// floating-point type), ec::io_failed (the file was cut since it was opened,
  /// or its disk fails).
  torch::Tensor take(std::string_view name, torch::IntArrayRef shape);

  /// Returns the same tensor in a type of the caller's choice.
  torch::Tensor take(std::string_view name, torch::IntArrayRef shape,
                     torch::Dtype as);

  /// Records that the result of `take` has been copied elsewhere, so that its
  /// part of the file need not stay in memory.
  void let_go(std::string_view name) const;

  /// Returns a function that does the same later; it keeps the file open.
  std::function<void()> release_later(std::string_view name) const;

  /// Counts a layer whose tensors are kept in another form: `kept` bytes
  /// instead of `stored` elements in the placement's type.
  void keeps(uint64_t kept, int64_t stored);

  /// Returns how many bytes the network keeps in addition to its tensors.
  uint64_t more_bytes() const;

  /// Records a layer whose results for a row may depend on the rows beside it.
  void mark_batch_dependent();

  /// Returns whether no such layer was recorded.
  bool is_batch_invariant() const;

  /// Marks a tensor as known and not needed.
  void skip(std::string_view name);

  /// Throws model_error (ec::bad_payload) naming the tensors not taken.
  void expect_all_taken() const;

private:
  std::shared_ptr<const tensor_source> from_;
  placement where_;
  std::set<std::string, std::less<>> taken_;
  int64_t more_bytes_ = 0;
  bool batch_invariant_ = true;
};

/// Returns LibTorch's name of a stored type.
torch::Dtype torch_type(tensor_type x);

/// Returns whether a device ran out of memory. The CPU's allocator and CUDA's
/// libraries have no type of their own for that error, only a text.
bool ran_out_of_memory(const c10::Error& x);

/// Runs `build` and turns an exception into an error: model_error's own, others
/// into ec::internal (ec::out_of_resources if memory ran out), with `what` in
/// the text.
template <class Function>
auto with_model_border(std::string_view what, Function build)
  -> core::result<decltype(build())> {
  try {
    return build();
  } catch (const model_error& x) {
    return x.why();
  } catch (const std::bad_alloc&) {
    return core::fail(core::ec::out_of_resources, "{}: out of memory", what);
  } catch (const c10::Error& x) {
    return core::fail(ran_out_of_memory(x) ? core::ec::out_of_resources
                                           : core::ec::internal,
                      "{}: {}", what, x.what_without_backtrace());
  } catch (const std::exception& x) {
    return core::fail(core::ec::internal, "{}: {}", what, x.what());
  }
}

} // namespace atelier::gpu
