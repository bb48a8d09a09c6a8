// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/scheduler/forecast.hpp>
#include <atelier/actors/scheduler/orders.hpp>
#include <atelier/actors/scheduler/queues.hpp>
#include <atelier/actors/scheduler/requests.hpp>
#include <atelier/actors/scheduler/workers.hpp>
#include <atelier/planning/cluster.hpp>

namespace atelier::actors {

/// Makes what policies see of the workers. It reads parts of the scheduler and
/// changes none, but for the forecast, which sees the workers whenever policies
/// do.
/// Threads: one at a time.
class views {
public:
  /// @pre the parts outlive it
  views(const workers& all, const orders& given, const queues& waiting,
        const requests& rows, forecast& predicts);

  /// The reference holds until the next call.
  const planning::cluster_view& cluster() const;

  /// Writes what policies see of a worker over another view.
  void write(planning::worker_view& out, const worker& w) const;

  /// From now on views list the rows of their workers: before the first known
  /// mask no policy needs them. Returns whether that is new.
  bool list_rows();

private:
  const workers& workers_;
  const orders& orders_;
  const queues& queues_;
  const requests& requests_;
  forecast& forecast_;
  bool lists_rows_ = false;
};

} // namespace atelier::actors
