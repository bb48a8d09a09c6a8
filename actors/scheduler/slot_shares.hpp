// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/orders.hpp>
#include <atelier/actors/scheduler/requests.hpp>
#include <atelier/actors/scheduler/row.hpp>
#include <atelier/actors/scheduler/slots.hpp>
#include <atelier/actors/scheduler/suspicions.hpp>
#include <atelier/actors/scheduler/workers.hpp>
#include <atelier/actors/seat_shares.hpp>

namespace atelier::actors {

/// Slots that a row's stage takes, and how many must stay free.
struct slot_needs {
  slot_counts takes = {};
  slot_counts leaves = {};
};

/// Says how many slots rows take and leave to others. It reads parts of the
/// scheduler and changes none.
/// Threads: one at a time.
class slot_shares {
public:
  /// @pre the parts outlive it
  slot_shares(const slots& held, const requests& rows, const orders& given,
              const workers& all, const suspicions& blamed);

  /// Returns the needs of a pool's stage, or of the reserve at a device.
  slot_needs needs_of(const row& r) const;

  /// Returns the slots that a row leaves free which a device is about to take:
  /// those that rows further along need, and those of others.
  slot_counts left_at(const worker& w, const row& r) const;

  /// Whether there are enough slots for a row's stage. A stage that takes none
  /// needs none.
  bool has_slots(const row& r) const;

  /// Whether a request waits for several image slots at once.
  bool awaits_images() const;

private:
  /// @param with_some the named tenants that have what the row is about to take
  template <class F>
  slot_counts left_for_others(const row& r, const F& with_some) const;
  /// Returns the slots that a row which begins to draw leaves to a request that
  /// waits for several, while rows run that will free some.
  slot_counts left_for_waiting(const row& r) const;

  const slots& slots_;
  const requests& requests_;
  const orders& orders_;
  const workers& workers_;
  const suspicions& suspicions_;
};

} // namespace atelier::actors
