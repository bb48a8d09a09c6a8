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

/// Where policy `atelier` meets those of the papers.
inline constexpr auto papers_workloads = "Atelier on the papers' workloads";

/// What all experiments share: the rows, and how runs are made.
class experiments {
public:
  experiments(const reproduction_options& o,
              const std::function<bool(const std::string&)>& told)
    : options(o), told_(told) {}

  /// Runs a scenario. After the first failure nothing runs any more, and what
  /// comes back is empty.
  outcome run(const scenario& of, const std::string& name);

  /// Runs a scenario with seeds 1..options.seeds, the trace made anew for each;
  /// several at once where the machine can, so that `trace` is called from
  /// several threads.
  std::vector<outcome> run_seeds(
    scenario of, const std::string& name,
    const std::function<std::vector<planning::traced_arrival>(uint64_t)>&
      trace);

  /// Adds a row that has a tolerance.
  /// @param why finds in `of` why it fails; none: the row has its figures alone
  void add(std::string paper, std::string what, std::string published,
           std::string ours, std::string condition, bool passes,
           const named_runs& of = {}, reason_of why = nullptr);

  /// Adds a row that compares a policy with another on one load: neither figure
  /// may be worse, and one must be better.
  /// @param both ours, then theirs
  void compare_two(std::string what, const named_runs& both,
                   quality_figure figure, std::string condition);

  /// Adds a row without a tolerance.
  void tell(std::string paper, std::string what, std::string published,
            std::string ours, std::string condition);

  /// Adds a row that cannot but return what was put in.
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
  /// Runs what run() does; any thread may call it.
  core::result<outcome> attempt(const scenario& of, const std::string& name);

  const std::function<bool(const std::string&)>& told_;
  std::mutex telling_;
};

/// Returns a shipped profile.
std::shared_ptr<planning::profile> shipped(const std::string& name);

/// Returns a file of the published data.
/// Errors: ec::bad_payload where it cannot be read.
core::result<std::string> text_of(const std::string& path);

/// Returns a policy by its name.
std::shared_ptr<const planning::policy> by_name(const std::string& name);

/// Returns the arrivals of a sound load, each of a content of its own.
std::vector<planning::traced_arrival> arrivals_of(
  const planning::load_spec& load);

/// Returns Poisson arrivals, each of a content of its own.
std::vector<planning::traced_arrival> steady(double rate, double seconds,
                                             uint64_t seed);

/// Returns arrivals all at once: throughput is then what the devices give.
std::vector<planning::traced_arrival> heap(size_t n);

/// The one policy that answers with this name in its rules, as published:
/// nothing starts fresh to keep the cache young.
std::shared_ptr<const planning::policy> as_published(std::string_view name);

/// Returns for each line of a file of prompts, but the first `warm`, the cosine
/// between its counts of trigrams of characters and those of the nearest line
/// before it, in order.
std::vector<double> nearest_earlier(const std::string& lines, size_t warm);

std::string percent(double share);

double mean(const std::vector<double>& x);

/// Returns Pearson's coefficient; 0 where one of both does not vary.
double correlation(const std::vector<std::pair<double, double>>& x);

/// Returns the mean over outcomes of a number of each.
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
