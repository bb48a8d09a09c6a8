// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace atelier::planning::instgenie {

/// One transformer block as it runs for one image and one branch.
struct block_shape {
  /// The rows of the token matrix, L, and their width, H.
  uint32_t tokens = 0;
  uint32_t width = 0;
  uint32_t bytes_per_value = 2;
};

/// The recorded part of a block, which a masked run loads.
enum class recorded : uint8_t {
  /// The outputs of all rows: any block may run in full or from the record.
  outputs,
  /// Keys and values: less is computed, twice the bytes are loaded, and after a
  /// block that ran from the record no block can run in full.
  keys_values,
};

/// Returns the operations of a block in full: 24 L H^2 + 4 L^2 H.
/// Source: counted; multiply and add are two.
double full_operations(const block_shape& of);

/// Returns the operations if the fraction `ratio` of rows is masked: with
/// outputs m (20 L H^2 + 4 L^2 H) + 4 L H^2, because keys and values of all
/// rows are projected; with keys and values m times the whole.
/// Source: counted; InstGenIE's Table 1 says 1/m throughout, which holds only
/// for the latter.
double masked_operations(const block_shape& of, double ratio, recorded what);

/// Returns the bytes that a masked run loads: (1 - m) L H values, twice that
/// with keys and values.
/// Source: InstGenIE, Table 1.
double loaded_bytes(const block_shape& of, double ratio, recorded what);

/// y = slope x + base.
struct line {
  double slope = 0;
  double base = 0;
  /// The fraction of the variance that it explains.
  double r2 = 0;

  double operator()(double x) const {
    return base + slope * x;
  }
};

/// The fitted costs of one variant on one kind of device: the seconds of
/// operations and of bytes.
struct estimator {
  line compute;
  line load;
};

/// One member of a batch, for costs.
struct batch_member {
  /// The masked fraction of its rows; 1: all.
  double ratio = 1;
  /// Its template's record is missing: it runs in full and loads nothing.
  bool missing = false;
};

/// The seconds of one block for one batch.
struct block_cost {
  /// The seconds from the record, in full, and for loading the record.
  double cached = 0;
  double full = 0;
  double load = 0;
};

/// Returns the costs of each block for a batch: operations and bytes are summed
/// over its members, then estimated. A block that loads nothing costs the same
/// from the record as in full.
/// Source: InstGenIE, section 4.4, Algorithm 2.
std::vector<block_cost> batch_costs(std::span<const block_shape> blocks,
                                    std::span<const batch_member> members,
                                    const estimator& by, recorded what);

} // namespace atelier::planning::instgenie
