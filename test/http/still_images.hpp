// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/image_service.hpp>

namespace atelier::test {

/// A service that draws nothing, and whose state a test sets.
class still_images : public runtime::http::image_service {
public:
  std::variant<uint64_t, failure> submit(const generation&,
                                         callbacks) override {
    return failure{"unavailable", "nothing is drawn here", {}};
  }

  bool cancel(uint64_t) override {
    return false;
  }

  engine_status status() const override {
    return now;
  }

  std::vector<variant_status> variants() const override {
    return {};
  }

  result<void> host_model(const std::string&, bool) override {
    return {};
  }

  engine_status now;
};

} // namespace atelier::test
