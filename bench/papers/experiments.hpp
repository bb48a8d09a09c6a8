// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/bench/papers/comparison.hpp>
#include <atelier/bench/papers/reproduce.hpp>
#include <atelier/simulation/outcome.hpp>
#include <atelier/simulation/scenario.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::runtime::detail {

/// The heading of the rows that compare the policy `atelier` with those of the
/// papers.
inline constexpr auto papers_workloads = "Atelier on the papers' workloads";

/// The table's rows and the functions that run scenarios, which all experiments
/// share.
class experiments {
public:
  experiments(const reproduction_options& o,
              const std::function<bool(const std::string&)>& told)
    : options(o), told_(told) {}

  /// Runs a scenario. After the first failure nothing runs, and the result is
  /// empty.
  outcome run(const scenario& of, const std::string& name);

  /// Runs a scenario with seeds 1..options.seeds and a new trace for each.
  /// Several run at the same time if the machine allows it, so `trace` is
  /// called from several threads.
  std::vector<outcome> run_seeds(
    scenario of, const std::string& name,
    const std::function<std::vector<planning::traced_arrival>(uint64_t)>&
      trace);

  /// Adds a row that has a tolerance.
  /// @param why finds in `of` why the row fails; null: the row has only its
  /// figures
  void add(std::string paper, std::string what, std::string published,
           std::string ours, std::string condition, bool passes,
           const named_runs& of = {}, reason_of why = nullptr);

  /// Adds a row that compares two policies on one load. The row passes if
  /// neither figure is worse and one is better.
  /// @param both ours, then theirs
  void compare_two(std::string what, const named_runs& both,
                   quality_figure figure, std::string condition);

  /// Adds a row without a tolerance.
  void tell(std::string paper, std::string what, std::string published,
            std::string ours, std::string condition);

  /// Adds a row whose result necessarily equals an input.
  void tell_input(std::string paper, std::string what, std::string published,
                  std::string ours, std::string condition, std::string input);

  /// Adds a row that this simulation cannot show.
  void open(std::string paper, std::string what, std::string published,
            std::string reason);

  const reproduction_options& options;
  std::vector<reproduced> rows;
  /// The first failure.
  core::error failure;

private:
  /// Runs a scenario for run(). Any thread may call it.
  core::result<outcome> attempt(const scenario& of, const std::string& name);

  const std::function<bool(const std::string&)>& told_;
  std::mutex telling_;
};

/// Returns a shipped profile.
std::shared_ptr<planning::profile> shipped(const std::string& name);

/// Returns a file of the published data.
/// Errors: ec::bad_payload if it cannot be read.
core::result<std::string> text_of(const std::string& path);

/// Returns a policy by its name.
std::shared_ptr<const planning::policy> by_name(const std::string& name);

/// Returns the arrivals of a valid load, each with its own content.
std::vector<planning::traced_arrival> arrivals_of(
  const planning::load_spec& load);

/// Returns Poisson arrivals, each with its own content.
std::vector<planning::traced_arrival> steady(double rate, double seconds,
                                             uint64_t seed);

/// Returns arrivals that are all at the same moment: the throughput then
/// depends only on the devices.
std::vector<planning::traced_arrival> heap(size_t n);

/// Returns the policy with this name in its rules, as published: it draws no
/// image anew to keep the cache young.
std::shared_ptr<const planning::policy> as_published(std::string_view name);

/// Returns, for each line of a file of prompts after the first `warm`, the
/// cosine between its counts of character trigrams and those of the nearest
/// earlier line. The results are in order.
std::vector<double> nearest_earlier(const std::string& lines, size_t warm);

std::string percent(double share);

double mean(const std::vector<double>& x);

/// Returns Pearson's coefficient, or 0 if either variable is constant.
double correlation(const std::vector<std::pair<double, double>>& x);

/// Returns the mean of a number over the outcomes.
double mean_of(const std::vector<outcome>& all,
               const std::function<double(const outcome&)>& value);

/// Returns the mean share of late and dropped requests.
double violations_of(const std::vector<outcome>& all);

/// Returns the largest share of late and dropped requests, smoothed over five
/// intervals.
double peak_violations(const outcome& of);

void diffserve_experiments(experiments& into);
void argus_experiments(experiments& into);
void modm_experiments(experiments& into);
void nirvana_experiments(experiments& into);
void instgenie_experiments(experiments& into);

} // namespace atelier::runtime::detail
