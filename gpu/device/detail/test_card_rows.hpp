// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/device/detail/row_engine.hpp>
#include <atelier/gpu/device/executor.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/ipc/slot_store.hpp>
#include <atelier/planning/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace atelier::gpu::detail {

/// One open row of a test card. Any error, including exceptions of the slots,
/// fails the row; a failed row does no more work.
///
/// In a store that keeps no bytes of states, it only counts its steps.
class test_card_row {
public:
  /// Reads `job.from`; `failure` returns the error, if any.
  test_card_row(const open_job& job, const planning::profile& known,
                ipc::slot_store& slots);

  core::ticket who() const {
    return job_.ticket;
  }

  const core::recipe& how() const {
    return job_.recipe;
  }

  const core::error& failure() const {
    return failure_;
  }

  uint32_t steps_done() const {
    return steps_done_;
  }

  uint32_t steps_left() const {
    return core::steps_to_run(job_.recipe) - steps_done_;
  }

  /// Runs `steps` steps. Publishes the last state due for publication, and
  /// writes all captures that are due.
  /// @pre steps <= steps_left()
  void advance(uint32_t steps);

  /// Draws the image into its slot; returns its bytes there.
  core::result<uint64_t> decode();

  /// Returns the score of the row's judge for the image. Only judges of the
  /// profile's cascades are available; others yield planning::unjudged.
  double score(const planning::profile& known) const;

  void fail(core::error why);

  /// Returns the row's progress; each capture is reported once.
  row_report report();

private:
  core::result<void> read(const planning::profile& known);
  /// Returns the source; nothing if the row has none or the store keeps no
  /// bytes of it.
  core::result<std::optional<source_parts>> find_source() const;
  core::result<void> publish();
  /// Writes the state into a capture slot. Errors are logged.
  void capture(const ipc::slot_ref& into);
  /// Returns the number of bytes written.
  core::result<size_t> write_state(std::span<std::byte> into,
                                   bool with_preview);
  /// @pre bytes_ is not empty
  std::span<float> latent();
  bool due(uint32_t step) const;

  open_job job_;
  ipc::slot_store& slots_;
  core::latent_shape shape_;
  /// Checksum of the source, 0 without one.
  uint64_t source_sum_ = 0;
  /// A published state without its preview. If empty, steps are only counted.
  std::vector<std::byte> bytes_;
  uint32_t steps_done_ = 0;
  bool published_ = false;
  /// Steps of the captures that have not been reported yet.
  std::vector<uint32_t> captured_;
  core::error failure_;
};

/// The open rows of a device.
class test_card_rows final : public row_engine {
public:
  test_card_rows(std::shared_ptr<const planning::profile> known,
                 std::shared_ptr<ipc::slot_store> slots);

  /// Opens a row. Opening an open row fails it.
  void open(const open_job& job) override;

  void close(core::ticket who) override;

  uint32_t steps_left(const std::vector<core::ticket>& who,
                      uint32_t most) override;

  void step(const std::vector<core::ticket>& who) override;

  /// Returns the row, or nullptr.
  test_card_row* find(core::ticket who);

  /// Returns the rows of `who` that are open and have not failed.
  std::vector<test_card_row*> sound(const std::vector<core::ticket>& who);

  /// Draws a row's image, in one part.
  std::optional<decode_report> decode_part(core::ticket who) override;

  /// Returns the progress of each row of `who`; a row that is not open is
  /// reported as failed.
  std::vector<row_report> report(const std::vector<core::ticket>& who) override;

private:
  std::shared_ptr<const planning::profile> known_;
  std::shared_ptr<ipc::slot_store> slots_;
  std::unordered_map<core::ticket, test_card_row> rows_;
};

/// Returns how many steps all of `rows` can run, at most `most`, or 0 if it is
/// empty.
uint32_t common_steps(const std::vector<test_card_row*>& rows, uint32_t most);

} // namespace atelier::gpu::detail
