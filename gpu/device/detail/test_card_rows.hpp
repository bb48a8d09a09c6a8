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

/// One open row of a test card. What goes wrong with it, exceptions of the
/// slots included, becomes its failure; a failed row does nothing more.
///
/// In a store that keeps no bytes of states it only counts its steps.
class test_card_row {
public:
  /// Reads `job.from`; `failure` tells whether that went well.
  test_card_row(const open_job& job, const planning::profile& known,
                ipc::slot_store& slots);

  core::ticket who() const {
    return job_.who;
  }

  const core::recipe& how() const {
    return job_.how;
  }

  const core::error& failure() const {
    return failure_;
  }

  uint32_t steps_done() const {
    return steps_done_;
  }

  uint32_t steps_left() const {
    return core::steps_to_run(job_.how) - steps_done_;
  }

  /// Runs `steps` steps; publishes the last of those that are to be published,
  /// and writes all captures that are due.
  /// @pre steps <= steps_left()
  void advance(uint32_t steps);

  /// Draws the picture into the image slot; returns its bytes there.
  core::result<uint64_t> decode();

  /// Returns what the row's judge says of the picture: a judge of the profile's
  /// cascades, all others fail.
  double score(const planning::profile& known) const;

  void fail(core::error why);

  /// Each capture is told in one report.
  row_report report();

private:
  core::result<void> read(const planning::profile& known);
  /// Finds the source; none where there is none, or where the store keeps no
  /// bytes of it.
  core::result<std::optional<source_parts>> find_source() const;
  core::result<void> publish();
  /// Keeps the state in a capture slot. What goes wrong is logged.
  void capture(const ipc::slot_ref& into);
  /// Returns how many bytes it wrote.
  core::result<size_t> write_state(std::span<std::byte> into,
                                   bool with_preview);
  /// @pre bytes_ is not empty
  std::span<float> latent();
  bool due(uint32_t step) const;

  open_job job_;
  ipc::slot_store& slots_;
  core::latent_shape shape_;
  /// Of the source, 0 where there is none.
  uint64_t source_sum_ = 0;
  /// A published state without its preview. Empty: only counting.
  std::vector<std::byte> bytes_;
  uint32_t steps_done_ = 0;
  bool published_ = false;
  /// Steps of the captures that no report has told.
  std::vector<uint32_t> captured_;
  core::error failure_;
};

/// The open rows of a device.
class test_card_rows final : public row_engine {
public:
  test_card_rows(std::shared_ptr<const planning::profile> known,
                 std::shared_ptr<ipc::slot_store> slots);

  /// Opens a row. One that is open already fails.
  void open(const open_job& job) override;

  void close(core::ticket who) override;

  uint32_t steps_left(const std::vector<core::ticket>& who,
                      uint32_t most) override;

  void step(const std::vector<core::ticket>& who) override;

  /// Returns the row, or nullptr.
  test_card_row* find(core::ticket who);

  /// Returns those of `who` that are open and have not failed.
  std::vector<test_card_row*> sound(const std::vector<core::ticket>& who);

  /// Draws a row's picture, in one part.
  std::optional<decode_report> decode_part(core::ticket who) override;

  /// Returns how far each of `who` is; one that is not open has failed.
  std::vector<row_report> report(const std::vector<core::ticket>& who) override;

private:
  std::shared_ptr<const planning::profile> known_;
  std::shared_ptr<ipc::slot_store> slots_;
  std::unordered_map<core::ticket, test_card_row> rows_;
};

/// Returns how many steps all of `rows` can run, at most `most`; 0 where there
/// is no row.
uint32_t common_steps(const std::vector<test_card_row*>& rows, uint32_t most);

} // namespace atelier::gpu::detail
