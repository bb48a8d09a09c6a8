// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/counters.hpp>
#include <atelier/index/kept_work.hpp>
#include <atelier/runtime/figures.hpp>

#include <limits>
#include <optional>
#include <type_traits>

namespace atelier::runtime {

namespace {

constexpr auto json = core::figure_place::json;
constexpr auto health = core::figure_place::health;
constexpr auto unknown = std::numeric_limits<double>::quiet_NaN();

/// The figures that hosts read as members of engine_status.
constexpr struct {
  core::figure is;
  std::variant<uint64_t engine_status::*, uint32_t engine_status::*> member;
} of_engine[] = {
  {{"accepted", "requests", "", "", health}, &engine_status::accepted},
  {{"answered", "requests", "atelier_requests_total",
    "Requests for an image, by how they ended.", health, "outcome=answered"},
   &engine_status::answered},
  {{"failed", "requests", "atelier_requests_total", "", health,
    "outcome=failed"},
   &engine_status::failed},
  {{"cancelled", "requests", "atelier_requests_total", "", health,
    "outcome=cancelled"},
   &engine_status::cancelled},
  {{"refused", "requests", "atelier_requests_total", "", health,
    "outcome=refused"},
   &engine_status::refused},
  {{"waiting", "requests", "atelier_requests_waiting", "Requests in a queue.",
    json},
   &engine_status::waiting},
  {{"running", "requests", "atelier_requests_running", "Requests at a worker.",
    json},
   &engine_status::running},
  {{"slots", "arena", "atelier_arena_slots", "Slots of the shared memory.",
    json},
   &engine_status::slots},
  {{"slots_used", "arena", "atelier_arena_slots_used",
    "Slots that belong to a request.", json},
   &engine_status::slots_in_use},
  {{"reports_dropped", "devices", "atelier_reports_dropped_total",
    "Reports that a process wrote in the name of another one."},
   &engine_status::reports_dropped},
};

/// A figure of a cache, which JSON shows if it has a name there.
template <class Status, class... Types>
struct cache_figure {
  std::variant<Types Status::*...> member;
  std::string_view name;
  std::string_view metric = {};
  std::string_view label = {};
  std::string_view help = {};
};

/// The metric of `torn` follows that of `spent`, but its member in JSON does
/// not.
constexpr cache_figure<cache_status, uint64_t, bool> of_cache[] = {
  {&cache_status::entries, "entries", "atelier_cache_entries", "",
   "Requests in the cache."},
  {&cache_status::most_entries, "most_entries"},
  {&cache_status::bytes, "bytes", "atelier_cache_bytes", "",
   "Memory of the cache."},
  {&cache_status::most_bytes, "most_bytes"},
  {&cache_status::hits, "hits", "atelier_cache_searches_total", "outcome=hit",
   "Searches in the cache, by whether they found work that the policy can "
   "use."},
  {&cache_status::misses, "misses", "atelier_cache_searches_total",
   "outcome=miss"},
  {&cache_status::evicted, "evicted", "atelier_cache_evictions_total",
   "reason=room",
   "Evicted entries: to make room, after as many answers as cache.answers "
   "allows, or because their bytes had changed."},
  {&cache_status::torn, "torn"},
  {&cache_status::captured, "captured", "atelier_cache_captures_total", "",
   "States that devices captured for the cache."},
  {&cache_status::checked, "checked"},
  {&cache_status::agreed, "agreed", "atelier_cache_checks_total",
   "outcome=agreed",
   "Searches repeated by comparing all entries, by whether the index had "
   "found an equally similar one."},
  {&cache_status::failures, "failures", "atelier_cache_failures_total", "",
   "Failed operations of the cache's disk and encoders."},
  {&cache_status::spent, "spent", "atelier_cache_evictions_total",
   "reason=answers"},
  {&cache_status::torn, "", "atelier_cache_evictions_total", "reason=torn"},
  {&cache_status::encoded, "encoded", "atelier_cache_encodings_total",
   "outcome=encoded",
   "Prompts that cache.encoder compared, by whether its network read them or "
   "their vectors were still in memory."},
  {&cache_status::recalled, "recalled", "atelier_cache_encodings_total",
   "outcome=recalled"},
  {&cache_status::evicted_payloads, "evicted_payloads",
   "atelier_cache_payload_evictions_total", "",
   "States and images that were evicted while their entries stayed."},
  {&cache_status::encoded_images, "encoded_images",
   "atelier_cache_image_encodings_total", "",
   "Images that cache.encoder read, so that prompts are compared with them."},
  {&cache_status::pending, "pending", "atelier_cache_pending", "",
   "Requests whose results wait to be stored in the cache."},
  {&cache_status::overflowed, "overflowed", "atelier_cache_overflows_total", "",
   "Requests whose results were not stored, because cache.pending others "
   "waited or too many came while an index was built."},
  {&cache_status::reads_left_out, "reads_left_out", "atelier_cache_left_out",
   "operation=read",
   "1 while the disk of the cache is left out because it failed or was too "
   "slow."},
  {&cache_status::writes_left_out, "writes_left_out", "atelier_cache_left_out",
   "operation=write"},
};

constexpr cache_figure<predictor_status, uint64_t, std::optional<double>>
  of_predictor[] = {
    {&predictor_status::said_hits, "said_hits",
     "atelier_cache_predictions_total", "predicted=hit",
     "Requests that asked whether a search would hit, by the answer of the "
     "predictor."},
    {&predictor_status::said_misses, "said_misses",
     "atelier_cache_predictions_total", "predicted=miss"},
    {&predictor_status::checked, "checked",
     "atelier_cache_predictions_checked_total", "",
     "Searches that showed whether the predictor was right."},
    {&predictor_status::samples, "samples", "atelier_cache_predictor_samples",
     "",
     "The last checked predictions, of which precision and recall are "
     "measured."},
    {&predictor_status::precision, "precision",
     "atelier_cache_predictor_precision", "",
     "Share of the predicted hits that hit; NaN until it is measured."},
    {&predictor_status::recall, "recall", "atelier_cache_predictor_recall", "",
     "Share of the hits that were predicted; NaN until it is measured."},
    {&predictor_status::false_alarms, "false_alarms"},
    {&predictor_status::trainings, "trainings",
     "atelier_cache_predictor_trainings_total", "outcome=trained",
     "Trainings of predictors, by whether they succeeded."},
    {&predictor_status::failures, "failures",
     "atelier_cache_predictor_trainings_total", "outcome=failed"},
    {&predictor_status::trained_keys, "trained_keys"},
};

template <class Status, class Rows>
void add(std::vector<shown_figure>& to, std::string_view group,
         const Rows& rows, const Status& now) {
  for (const auto& x : rows)
    to.push_back(
      {{x.name, group, x.metric, x.help,
        x.name.empty() ? core::figure_place::metrics : json, x.label},
       std::visit(
         [&](auto member) -> figure_value {
           using rate = std::optional<double> Status::*;
           if constexpr (std::is_same_v<decltype(member), rate>)
             return (now.*member).value_or(unknown);
           else
             return now.*member;
         },
         x.member)});
}

template <class Rows>
void add_counted(std::vector<shown_figure>& to, const Rows& rows,
                 const engine_status& now) {
  for (const auto& x : rows)
    to.push_back({x.is, now.figure(x.is.name)});
}

} // namespace

std::vector<shown_figure> figures_of(const engine_status& now) {
  const auto cache = now.cache.value_or(cache_status{});
  std::vector<shown_figure> out;
  for (const auto& x : of_engine)
    out.push_back(
      {x.is, std::visit([&](auto member) { return uint64_t{now.*member}; },
                        x.member)});
  add_counted(out, actors::counted_figures, now);
  add(out, "earlier_work", of_cache, cache);
  out.push_back({{"", "earlier_work", "atelier_cache_checks_total", "",
                  core::figure_place::metrics, "outcome=missed"},
                 cache.checked - cache.agreed});
  add_counted(out, index::counted_figures, now);
  add(out, "predictor", of_predictor, cache.predictor);
  return out;
}

} // namespace atelier::runtime
