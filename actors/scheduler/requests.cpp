// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/scheduler/requests.hpp>
#include <atelier/actors/scheduler/shares.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::actors {

namespace {

/// Rows are prepared ahead for this many times the devices' seats.
constexpr uint32_t ahead_per_seat = 2;

uint64_t text_size(const core::request& x) {
  return x.text.positive.size() + x.text.negative.size();
}

uint64_t source_size(const core::request& x) {
  return x.source ? x.source->bytes() : 0;
}

} // namespace

requests::requests(core::limits limits) : limits_(std::move(limits)) {}

// -- rows ---------------------------------------------------------------------

std::optional<core::error> requests::too_much(const core::request& x) const {
  using core::ec;
  if (!open_.grants(x.tenant, 1, limits_.requests))
    return core::fail(ec::overloaded,
                      "{} requests are accepted and not answered, the limit "
                      "(limits.requests) is {}",
                      open_.total(), limits_.requests);
  if (const auto bytes = text_size(x);
      !texts_.grants(x.tenant, bytes, limits_.request_bytes))
    return core::fail(
      ec::overloaded,
      "accepted prompts hold {} bytes, {} more exceed the limit "
      "(limits.request_mib) of {}",
      texts_.total(), bytes, limits_.request_bytes);
  if (const auto files = source_size(x);
      !sources_.grants(x.tenant, files, limits_.sources_bytes))
    return core::fail(
      ec::overloaded,
      "accepted source images hold {} bytes, {} more exceed the "
      "limit (limits.sources_mib) of {}",
      sources_.total(), files, limits_.sources_bytes);
  return std::nullopt;
}

void requests::stop() {
  stopping_ = true;
}

bool requests::stopping() const {
  return stopping_;
}

row& requests::accept(std::shared_ptr<const core::request> what) {
  const auto id = what->id;
  auto& r = rows_[id];
  texts_.add(what->tenant, text_size(*what));
  sources_.add(what->tenant, source_size(*what));
  open_.add(what->tenant, 1);
  active_.came(what->tenant);
  r.due_ = what->deadline;
  if (r.due_ != core::never)
    deadlines_.emplace(r.due_, id);
  r.request = std::move(what);
  return r;
}

void requests::end(row& r, row_state as) {
  ATELIER_EXPECTS(is_terminal(as) && !is_terminal(r.state_),
                  "a row ends once, in a terminal state");
  r.state_ = as;
  set_due(r, core::never);
  const auto whose = r.request->tenant;
  texts_.remove(whose, text_size(*r.request));
  sources_.remove(whose, source_size(*r.request));
  open_.remove(whose, 1);
  active_.left(whose);
}

void requests::ask(row& r) {
  r.state_ = row_state::asking;
}

void requests::stop_asking(row& r) {
  r.state_ = row_state::waiting;
}

void requests::wait(row& r, core::time_point now) {
  r.state_ = row_state::waiting;
  r.waiting_since_ = now;
}

void requests::run(row& r) {
  r.state_ = row_state::running;
  r.attempt_ = ++r.dispatches_;
  ++r.moves_;
}

void requests::count_aside(row& r) {
  ++r.dispatches_;
}

void requests::forget(core::request_id id) {
  ATELIER_EXPECTS(is_terminal(at(id).state_), "the row has ended");
  rows_.erase(id);
}

row* requests::find(core::request_id id) {
  const auto i = rows_.find(id);
  return i == rows_.end() ? nullptr : &i->second;
}

const row* requests::find(core::request_id id) const {
  const auto i = rows_.find(id);
  return i == rows_.end() ? nullptr : &i->second;
}

row& requests::at(core::request_id id) {
  return rows_.at(id);
}

const row& requests::at(core::request_id id) const {
  return rows_.at(id);
}

row* requests::running(core::ticket dispatch) {
  auto* r = find(dispatch.id);
  return r != nullptr && r->state_ == row_state::running
          && r->attempt_ == dispatch.attempt
         ? r
         : nullptr;
}

const row* requests::last(core::ticket dispatch) const {
  const auto* r = find(dispatch.id);
  return r != nullptr && r->attempt_ == dispatch.attempt ? r : nullptr;
}

const std::unordered_map<core::request_id, row>& requests::all() const {
  return rows_;
}

size_t requests::open() const {
  return open_.total();
}

bool requests::is_below_mean(core::tenant_id whose) const {
  return open_.is_below_mean(whose);
}

const active_tenants& requests::tenants() const {
  return active_;
}

void requests::set_time(core::time_point now) {
  active_.set_time(now);
}

bool requests::forget_departed() {
  return active_.forget_departed();
}

// -- times --------------------------------------------------------------------

void requests::set_due(row& r, core::time_point due) {
  deadlines_.erase({r.due_, r.request->id});
  r.due_ = due;
  if (due != core::never)
    deadlines_.emplace(due, r.request->id);
}

std::optional<core::request_id> requests::due(core::time_point now) const {
  if (deadlines_.empty() || deadlines_.begin()->first > now)
    return std::nullopt;
  return deadlines_.begin()->second;
}

bool requests::timed() const {
  return !deadlines_.empty();
}

// -- rows prepared ahead ------------------------------------------------------

void requests::count_ahead(core::tenant_id whose, bool comes) {
  if (comes) {
    ++ahead_;
    ++ahead_of_[whose];
    return;
  }
  --ahead_;
  if (const auto i = ahead_of_.find(whose); --i->second == 0)
    ahead_of_.erase(i);
}

bool requests::has_ahead(core::tenant_id whose) const {
  return ahead_of_.contains(whose);
}

bool requests::named_ahead() const {
  return ahead_of_.size() > ahead_of_.count({});
}

boost::container::flat_set<core::tenant_id> requests::with_ahead() const {
  boost::container::flat_set<core::tenant_id> out;
  for (const auto& [whose, count] : ahead_of_)
    if (whose != core::tenant_id{})
      out.insert(out.end(), whose);
  return out;
}

bool requests::far_ahead(core::tenant_id whose, uint32_t device_seats) const {
  const auto most = std::max(4u, ahead_per_seat * device_seats);
  return ahead_ >= most
      && (has_ahead(whose)
          || ahead_ >= most + std::max(1u, most / share_for_others));
}

std::vector<core::tenant_id> requests::far_ahead(uint32_t device_seats) const {
  std::vector<core::tenant_id> out;
  for (const auto& [whose, count] : ahead_of_)
    if (far_ahead(whose, device_seats))
      out.push_back(whose);
  return out;
}

std::string requests::check() const {
  planning::fair_shares open;
  planning::fair_shares texts;
  planning::fair_shares sources;
  size_t due = 0;
  for (const auto& [id, r] : rows_) {
    if (r.due_ != core::never) {
      ++due;
      if (!deadlines_.contains({r.due_, id}))
        return fmt::format("row {} is due and not found", id.value);
    }
    if (is_terminal(r.state_))
      continue;
    const auto whose = r.request->tenant;
    open.add(whose, 1);
    texts.add(whose, text_size(*r.request));
    sources.add(whose, source_size(*r.request));
  }
  if (texts != texts_ || sources != sources_)
    return "the bytes of accepted requests are not conserved";
  if (open != open_)
    return "open rows are not counted";
  if (due != deadlines_.size())
    return "a row is found by a time that is not its own";
  uint32_t ahead = 0;
  for (const auto& [whose, count] : ahead_of_)
    ahead += count;
  if (ahead != ahead_)
    return "rows that are ahead are not counted by tenant";
  return {};
}

} // namespace atelier::actors
