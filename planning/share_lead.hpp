// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace atelier::planning {

/// Compares tenants that share a device by their time, divided by their shares.
/// A tenant that arrives begins with as much as another one has, so without a
/// lead a larger share would wait for a turn of each tenant that has as little.
/// Its lead is the time of a turn for its share, less the least share as a part
/// of its own: without a larger share nobody has one. Pure.
struct share_lead {
  /// The time of a turn.
  double turn = 0;
  /// The least share of the tenants that are compared, at least 1.
  double least_share = 1;

  /// Returns the figure by which tenants are compared; the least one is next.
  /// @param used in the unit of `turn`, divided by the share
  double standing(double used, double share) const {
    return used - turn * (1 - least_share / share);
  }
};

} // namespace atelier::planning
