// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/config/settings.hpp>
#include <atelier/core/result.hpp>
#include <atelier/ipc/heap_store.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/runtime/detail/device_reports.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace atelier::runtime::detail {

/// An image to draw with a variant's defaults, at its own size.
struct drawing {
  std::string prompt;
  uint64_t seed = 0;
  /// The state to start from, and the steps that it has; null: noise.
  const std::vector<std::byte>* state = nullptr;
  uint32_t steps_done = 0;
  /// The numbers of steps after which the state is kept, rising.
  std::vector<uint32_t> captures = {};
};

struct drawn_image {
  /// [height, width, 3].
  std::vector<uint8_t> rgb;
  /// The states, in the order of `captures`.
  std::vector<std::vector<std::byte>> states;
};

/// A device that draws images with one variant, as the engine's device does: a
/// row's noise comes from the stage `prepare`, and its steps and captures from
/// the executor.
/// Threads: one at a time.
class drawing_device {
public:
  /// @param most_captures the largest number of captures of a drawing
  drawing_device(const config::settings& settings,
                 std::shared_ptr<const planning::profile> known,
                 core::variant_id variant, uint32_t most_captures);

  /// Loads the variant on the first device of the settings.
  /// Errors: those of make_executor.
  core::result<void> load();

  /// Returns the size of its images.
  core::extent px() const;

  /// Draws images, as many together as the device's max_batch.
  /// @param goes_on is called before each step; false ends the work
  /// Errors: ec::cancelled; those of the rows, with the prompt.
  core::result<std::vector<drawn_image>> draw(
    std::span<const drawing> wanted, const std::function<bool()>& goes_on);

private:
  struct open_row;

  ipc::slot_ref grant(ipc::slot_kind kind, uint32_t slot);
  core::result<open_row> open(const drawing& wanted, uint32_t place);
  core::result<void> write_start(const drawing& wanted,
                                 const core::recipe& recipe,
                                 const ipc::slot_ref& into);
  core::result<void> run(std::vector<open_row>& rows,
                         const std::function<bool()>& goes_on);
  core::result<drawn_image> finish(const open_row& row);
  core::result<void> draw_together(std::span<const drawing> wanted,
                                   const std::function<bool()>& goes_on,
                                   std::vector<drawn_image>& into);

  const config::settings& settings_;
  const std::shared_ptr<const planning::profile> known_;
  const core::variant_id variant_;
  const uint32_t most_captures_;
  std::shared_ptr<ipc::heap_store> slots_;
  /// Outlives the device, whose thread reports to it.
  device_reports reports_;
  std::shared_ptr<gpu::executor> device_;
  uint64_t requests_ = 0;
  uint32_t generation_ = 0;
};

} // namespace atelier::runtime::detail
