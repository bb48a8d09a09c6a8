// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/runtime/http/image_service.hpp>
#include <atelier/runtime/profile_of.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace atelier::test {

/// Reads requests as the engine does, including the pixels of their images, and
/// answers at once with an image of 16x16.
/// Threads: any.
class strict_images : public runtime::http::image_service {
public:
  explicit strict_images(const config::settings& within);

  std::variant<uint64_t, failure> submit(const generation& wanted,
                                         callbacks calls) override;

  bool cancel(uint64_t) override {
    return false;
  }

  engine_status status() const override {
    engine_status x;
    x.workers = {{"cpu:0", {}, true, 0, 16, 8, false}};
    x.profiles = {{"cpu", std::make_shared<const std::string>("{}")}};
    return x;
  }

  std::vector<variant_status> variants() const override {
    return variants_;
  }

  result<void> host_model(const std::string&, bool) override {
    return {};
  }

private:
  const config::settings within_;
  runtime::known_variants known_;
  std::vector<variant_status> variants_;
  /// The files of an image by format.
  std::map<std::string, std::vector<uint8_t>> files_;
  std::atomic<uint64_t> last_{0};
};

} // namespace atelier::test
