// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/actors/ports.hpp>
#include <atelier/actors/scheduler/scheduler.hpp>
#include <atelier/planning/policies/diffserve/quality.hpp>
#include <atelier/simulation/outcome.hpp>
#include <atelier/simulation/scenario.hpp>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace atelier::runtime {

/// Returns a number in [0, 1) that depends only on the content; another `word`
/// gives an independent number.
double number_of(uint64_t content, uint32_t word);

/// Returns the class of a content on a ladder: its fastest level that keeps the
/// quality.
uint32_t class_of_content(const planning::ladder_profile& of, uint64_t content);

/// Returns the quality of an answer. It is that of the ladder's level that was
/// run, for the content's class, or otherwise that of the variant. The average
/// cost of a start from a stored latent, or of an answer by an earlier image,
/// is subtracted.
double quality_of(const planning::profile& known, core::variant_id variant,
                  uint32_t steps_skipped, uint64_t content);

/// Records the outcome of every request.
class accounts {
public:
  accounts(const scenario& of, core::time_point begin);

  /// Records a stretch of a device's time, with the variant that ran; none: it
  /// was loading.
  /// @param device its number, as scenario::devices counts them
  void worked(uint32_t device, std::optional<core::variant_id> variant,
              core::timespan time);

  /// Records that a judge scored a request's image.
  void judged(core::request_id id, const std::string& judge);

  /// Records the end of an image; with its request's last image, also of the
  /// request.
  void book(const actors::answer& what, core::time_point now);

  /// Records the scheduler's state at the end of an interval, and the cache's
  /// if one is simulated.
  void look(const actors::scheduler& tables, const planning::plan& in_force,
            core::time_point now, const simulated_cache* cache);

  /// Returns the number of images that ended.
  uint64_t booked() const {
    return booked_;
  }

  /// Returns the totals, except values that are not reported to this object.
  outcome close(core::time_point end);

private:
  /// State of a request whose images have not all ended.
  struct open_request {
    uint32_t ended = 0;
    bool lost = false;
    bool late = false;
  };

  interval& at(double seconds);
  void book_image(const actors::answer& what, interval& here);
  void book_end(const core::request& of, const open_request& x,
                core::time_point now);

  /// Totals of the devices of one kind.
  struct kind_books {
    planning::device_group devices;
    /// Time by variant, and time spent loading.
    std::vector<core::timespan> ran;
    core::timespan loaded{0};
  };

  double fid(const planning::diffserve::quality_table& table) const;
  kind_use use_of(const kind_books& x, double lasted) const;

  const scenario& of_;
  core::time_point begin_;
  outcome out_;
  std::vector<float> latencies_ms_;
  std::vector<float> steps_ms_;
  double first_step_ms_ = 0;
  double saved_ = 0;
  double quality_ = 0;
  uint64_t light_ = 0;
  uint64_t booked_ = 0;
  uint64_t images_ = 0;
  std::unordered_map<uint32_t, open_request> open_;
  /// By image: whether the cascade's own judge scored it.
  std::vector<char> judged_;
  uint64_t answered_judged_ = 0;
  uint64_t light_judged_ = 0;
  /// By kind of device, as in the scenario; one entry if it names none.
  std::vector<kind_books> kinds_;
  uint64_t searched_ = 0;
  uint64_t hits_ = 0;
};

} // namespace atelier::runtime
