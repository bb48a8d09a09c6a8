// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/solver/linear_program.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::planning {

using core::ec;

lp_column_id linear_program::add(lp_column x) {
  columns.push_back(std::move(x));
  return lp_column_id{static_cast<uint32_t>(columns.size() - 1)};
}

lp_row_id linear_program::add(lp_row x) {
  rows.push_back(std::move(x));
  return lp_row_id{static_cast<uint32_t>(rows.size() - 1)};
}

std::string_view to_string(lp_status x) {
  switch (x) {
    case lp_status::optimal:
      return "optimal";
    case lp_status::feasible:
      return "feasible";
    case lp_status::infeasible:
      return "infeasible";
    case lp_status::unbounded:
      return "unbounded";
    case lp_status::stopped:
      return "stopped";
  }
  return "unknown";
}

core::result<void> validate(const linear_program& p) {
  for (const lp_column& c : p.columns) {
    if (!std::isfinite(c.gain))
      return core::fail(ec::invalid_argument,
                        "column '{}': the gain {} is not finite", c.name,
                        c.gain);
    if (std::isnan(c.least) || std::isnan(c.most) || c.least > c.most
        || c.least == lp_infinity || c.most == -lp_infinity)
      return core::fail(ec::invalid_argument,
                        "column '{}': {}..{} is not a range", c.name, c.least,
                        c.most);
  }
  for (const lp_row& r : p.rows) {
    if (!std::isfinite(r.bound))
      return core::fail(ec::invalid_argument,
                        "constraint '{}': the bound {} is not finite", r.name,
                        r.bound);
    for (const lp_term& t : r.terms) {
      if (t.column.value >= p.columns.size())
        return core::fail(ec::invalid_argument,
                          "constraint '{}': column {} of {} does not exist",
                          r.name, t.column.value, p.columns.size());
      if (!std::isfinite(t.factor))
        return core::fail(ec::invalid_argument,
                          "constraint '{}': the factor {} of '{}' is not "
                          "finite",
                          r.name, t.factor, p.columns[t.column.value].name);
    }
  }
  return {};
}

double objective_at(const linear_program& p,
                    const std::vector<double>& values) {
  double sum = 0;
  for (size_t i = 0; i < p.columns.size(); ++i)
    sum += p.columns[i].gain * values[i];
  return sum;
}

double worst_violation(const linear_program& p,
                       const std::vector<double>& values) {
  double worst = 0;
  for (size_t i = 0; i < p.columns.size(); ++i) {
    const lp_column& c = p.columns[i];
    worst = std::max({worst, c.least - values[i], values[i] - c.most});
    if (c.whole)
      worst = std::max(worst, std::abs(values[i] - std::round(values[i])));
  }
  for (const lp_row& r : p.rows) {
    double sum = -r.bound;
    for (const lp_term& t : r.terms)
      sum += t.factor * values[t.column.value];
    const double over = r.is == lp_relation::at_least ? -sum : sum;
    worst = std::max(worst, r.is == lp_relation::equal ? std::abs(over) : over);
  }
  return worst;
}

} // namespace atelier::planning
