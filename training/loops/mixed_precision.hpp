// SPDX-License-Identifier: Apache-2.0
#pragma once

// Includes LibTorch: for sources that torch.cmake lists, and no others.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

namespace atelier::gpu {

/// Makes the calling thread compute convolutions and matrix products in
/// bfloat16 while the object lives. The parameters stay in float32.
class mixed_precision {
public:
  explicit mixed_precision(torch::Device where)
    : where_(where.type()),
      before_(at::autocast::is_autocast_enabled(where_)),
      type_before_(at::autocast::get_autocast_dtype(where_)),
      kept_before_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::set_autocast_enabled(where_, true);
    at::autocast::set_autocast_dtype(where_, torch::kBFloat16);
    // The cache would share its copies of parameters between threads.
    at::autocast::set_autocast_cache_enabled(false);
  }

  ~mixed_precision() {
    at::autocast::set_autocast_enabled(where_, before_);
    at::autocast::set_autocast_dtype(where_, type_before_);
    at::autocast::set_autocast_cache_enabled(kept_before_);
  }

  mixed_precision(const mixed_precision&) = delete;
  mixed_precision& operator=(const mixed_precision&) = delete;

private:
  torch::DeviceType where_;
  bool before_;
  torch::Dtype type_before_;
  bool kept_before_;
};

} // namespace atelier::gpu
