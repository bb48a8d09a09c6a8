// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/request.hpp>
#include <atelier/core/time.hpp>
#include <atelier/simulation/scenario.hpp>

#include <memory>

namespace atelier::runtime {

/// Makes the requests of clients from a trace with one entry for each image.
class simulated_requests {
public:
  /// @pre `of` outlives this
  explicit simulated_requests(const scenario& of) : of_(of) {}

  /// Returns the request of the id-th image; images of one request differ only
  /// in their seeds.
  std::shared_ptr<core::request> make(core::request_id id,
                                      core::time_point now) const;

private:
  const scenario& of_;
  /// Stands for every template: slots keep no bytes of it.
  const std::shared_ptr<const core::source_images> template_ =
    std::make_shared<core::source_images>(
      core::source_images{{0}, {0}, {1, 1}, {1, 1}});
};

} // namespace atelier::runtime
