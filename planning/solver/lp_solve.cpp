// SPDX-License-Identifier: Apache-2.0

// This is the only source that uses lp_solve's names.

#include <atelier/planning/solver/detail/lp_library.hpp>
#include <atelier/planning/solver/tolerance.hpp>

#include <lpsolve/lp_lib.h>

#include <algorithm>
#include <cmath>

namespace atelier::planning::detail {

namespace {

struct deleter {
  void operator()(lprec* lp) const {
    delete_lp(lp);
  }
};

using model = std::unique_ptr<lprec, deleter>;

struct progress {
  const lp_limits& limits;
  uint64_t calls = 0;
  bool ended = false;
};

int asked_to_stop(lprec*, void* handle) {
  auto& p = *static_cast<progress*>(handle);
  ++p.calls;
  if (!p.ended)
    p.ended = (p.limits.effort != 0 && p.calls > p.limits.effort)
           || (p.limits.stop && p.limits.stop());
  return p.ended ? 1 : 0;
}

double bounded(lprec* lp, double x) {
  return std::isinf(x) ? std::copysign(get_infinite(lp), x) : x;
}

int relation_of(lp_relation x) {
  switch (x) {
    case lp_relation::at_most:
      return LE;
    case lp_relation::at_least:
      return GE;
    case lp_relation::equal:
      break;
  }
  return EQ;
}

bool fill(lprec* lp, const linear_program& p, bool relaxed) {
  if (set_add_rowmode(lp, TRUE) == FALSE)
    return false;
  std::vector<double> gains;
  std::vector<int> all;
  for (size_t i = 0; i < p.columns.size(); ++i) {
    gains.push_back(p.columns[i].gain);
    all.push_back(static_cast<int>(i) + 1);
  }
  if (!all.empty()
      && set_obj_fnex(lp, static_cast<int>(all.size()), gains.data(),
                      all.data())
           == FALSE)
    return false;
  // lp_solve needs all terms of one column in one row as one entry.
  std::vector<double> sums(p.columns.size(), 0.0);
  std::vector<char> seen(p.columns.size(), 0);
  for (const lp_row& r : p.rows) {
    std::vector<int> at;
    for (const lp_term& t : r.terms) {
      if (seen[t.column.value] == 0) {
        seen[t.column.value] = 1;
        at.push_back(static_cast<int>(t.column.value) + 1);
      }
      sums[t.column.value] += t.factor;
    }
    std::vector<double> factors;
    for (const int column : at) {
      const auto i = static_cast<size_t>(column) - 1;
      factors.push_back(sums[i]);
      sums[i] = 0;
      seen[i] = 0;
    }
    if (add_constraintex(lp, static_cast<int>(at.size()), factors.data(),
                         at.data(), relation_of(r.is), r.bound)
        == FALSE)
      return false;
  }
  if (set_add_rowmode(lp, FALSE) == FALSE)
    return false;
  for (size_t i = 0; i < p.columns.size(); ++i) {
    const lp_column& c = p.columns[i];
    const int at = static_cast<int>(i) + 1;
    if (set_bounds(lp, at, bounded(lp, c.least), bounded(lp, c.most)) == FALSE
        || (c.whole && !relaxed && set_int(lp, at, TRUE) == FALSE))
      return false;
  }
  if (p.maximise)
    set_maxim(lp);
  else
    set_minim(lp);
  return true;
}

bool fits(const linear_program& p, const lp_basis& b) {
  if (b.rows.size() != p.rows.size() || b.columns.size() > p.columns.size())
    return false;
  size_t basic = 0;
  for (const auto* part : {&b.rows, &b.columns})
    for (const lp_place x : *part)
      basic += x == lp_place::basic ? 1 : 0;
  return basic == p.rows.size();
}

// lp_solve expects the basic indices first, then the others, negative if they
// are at their lower bound. It accepts a basis at a bound that does not exist,
// and then misses the optimum.
void start_from(lprec* lp, const linear_program& p, const lp_basis& b) {
  std::vector<int> list(1, 0);
  std::vector<int> others;
  const auto place = [&](int index, lp_place x) {
    if (x == lp_place::basic)
      list.push_back(index);
    else
      others.push_back(x == lp_place::at_low ? -index : index);
  };
  int index = 0;
  for (const lp_place x : b.rows)
    place(++index, x == lp_place::basic ? x : lp_place::at_low);
  for (size_t i = 0; i < p.columns.size(); ++i) {
    lp_place x = i < b.columns.size() ? b.columns[i] : lp_place::at_low;
    if (x == lp_place::at_high && std::isinf(p.columns[i].most))
      x = lp_place::at_low;
    place(++index, x);
  }
  list.insert(list.end(), others.begin(), others.end());
  // If the library refuses a basis, only the warm start is lost.
  if (set_basis(lp, list.data(), TRUE) == FALSE)
    default_basis(lp);
}

lp_basis basis_of(lprec* lp, const linear_program& p) {
  const size_t rows = p.rows.size();
  std::vector<int> list(1 + rows + p.columns.size(), 0);
  if (get_basis(lp, list.data(), TRUE) == FALSE)
    return {};
  lp_basis b;
  b.rows.assign(rows, lp_place::at_low);
  b.columns.assign(p.columns.size(), lp_place::at_low);
  for (size_t i = 1; i < list.size(); ++i) {
    const auto index = static_cast<size_t>(std::abs(list[i]));
    if (index == 0)
      return {};
    lp_place& at =
      index <= rows ? b.rows[index - 1] : b.columns[index - rows - 1];
    if (i <= rows)
      at = lp_place::basic;
    else
      at = list[i] < 0 ? lp_place::at_low : lp_place::at_high;
  }
  return b;
}

void read_duals(lprec* lp, const linear_program& p, lp_solution& into) {
  std::vector<double> all(1 + p.rows.size() + p.columns.size());
  if (get_dual_solution(lp, all.data()) == FALSE)
    return;
  const auto first_column = static_cast<std::ptrdiff_t>(1 + p.rows.size());
  into.duals.assign(all.begin() + 1, all.begin() + first_column);
  into.reduced.assign(all.begin() + first_column, all.end());
}

// Returns the model of `p`, or the reason why it cannot be built. If `relaxed`,
// the columns may be fractional.
core::result<model> model_of(const linear_program& p, bool relaxed = false) {
  model lp{make_lp(0, static_cast<int>(p.columns.size()))};
  if (!lp)
    return core::fail(core::ec::out_of_resources,
                      "no memory for a program of {} columns",
                      p.columns.size());
  set_verbose(lp.get(), NEUTRAL);
  if (!fill(lp.get(), p, relaxed))
    return core::fail(core::ec::internal,
                      "lp_solve refused a program of {} columns and {} "
                      "constraints",
                      p.columns.size(), p.rows.size());
  return lp;
}

struct outcome {
  int code;
  lp_solution found;
};

outcome run(lprec* lp, const linear_program& p, const lp_limits& limits) {
  progress state{limits};
  put_abortfunc(lp, asked_to_stop, &state);
  outcome out{::solve(lp), {}};
  put_abortfunc(lp, nullptr, nullptr);
  out.found.effort = state.calls;
  switch (out.code) {
    case OPTIMAL:
    case PRESOLVED:
      out.found.status = lp_status::optimal;
      break;
    case SUBOPTIMAL:
      out.found.status = lp_status::feasible;
      break;
    case INFEASIBLE:
      out.found.status = lp_status::infeasible;
      return out;
    case UNBOUNDED:
      out.found.status = lp_status::unbounded;
      return out;
    default:
      return out;
  }
  out.found.values.resize(p.columns.size());
  get_variables(lp, out.found.values.data());
  out.found.objective = objective_at(p, out.found.values);
  return out;
}

core::result<lp_solution> answer(lprec* lp, outcome x) {
  if (x.found.status != lp_status::stopped || x.code == USERABORT)
    return std::move(x.found);
  return core::fail(core::ec::internal, "lp_solve ended with code {}: {}",
                    x.code, get_statustext(lp, x.code));
}

} // namespace

std::mutex& lp_library_lock() {
  static std::mutex lock;
  return lock;
}

core::result<lp_solution> ask_library(const linear_program& p,
                                      const lp_limits& limits,
                                      const lp_basis* start, lp_manner manner) {
  auto lp = model_of(p);
  if (!lp)
    return std::move(lp).why();
  set_presolve(lp->get(), PRESOLVE_SENSDUALS, get_presolveloops(lp->get()));
  if (manner == lp_manner::plain) {
    set_scaling(lp->get(), SCALE_NONE);
    set_improve(lp->get(), IMPROVE_NONE);
  }
  set_mip_gap(lp->get(), TRUE, 0);
  set_mip_gap(lp->get(), FALSE, limits.gap);
  if (start != nullptr && fits(p, *start))
    start_from(lp->get(), p, *start);
  auto x = run(lp->get(), p, limits);
  if ((x.code == NUMFAILURE || x.code == ACCURACYERROR)
      && manner == lp_manner::usual)
    return ask_library(p, limits, nullptr, lp_manner::plain);
  if (x.found.has_values()) {
    round_whole(p, x.found);
    read_duals(lp->get(), p, x.found);
    x.found.basis = basis_of(lp->get(), p);
  }
  return answer(lp->get(), std::move(x));
}

struct relaxation::impl {
  core::result<model> lp;
};

relaxation::relaxation(const linear_program& p)
  : program_(p), impl_(std::make_unique<impl>(impl{model_of(p, true)})) {
  // lp_solve's "improvements" report programs with a solution as infeasible
  // more often than the plain method does: 3 of 80,000 random cascades,
  // compared with none.
  if (impl_->lp)
    set_improve(impl_->lp->get(), IMPROVE_NONE);
}

relaxation::~relaxation() = default;

core::result<lp_solution> relaxation::solve(const std::vector<double>& least,
                                            const std::vector<double>& most,
                                            const lp_limits& limits) {
  if (!impl_->lp)
    return impl_->lp.why();
  lprec* lp = impl_->lp->get();
  for (size_t i = 0; i < program_.columns.size(); ++i)
    if (set_bounds(lp, static_cast<int>(i) + 1, bounded(lp, least[i]),
                   bounded(lp, most[i]))
        == FALSE)
      return core::fail(core::ec::internal, "lp_solve refused {}..{} of '{}'",
                        least[i], most[i], program_.columns[i].name);
  default_basis(lp);
  return answer(lp, run(lp, program_, limits));
}

} // namespace atelier::planning::detail
