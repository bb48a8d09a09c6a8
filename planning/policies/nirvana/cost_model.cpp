// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/policies/nirvana/cost_model.hpp>

#include <algorithm>

namespace atelier::planning::nirvana {

double predictor_gain(const predictor_record& of) {
  const double yes =
    of.precision > 0 ? std::min(1.0, of.recall * of.hits / of.precision) : 1;
  return (1 - yes) * of.search_seconds
       - (1 - of.recall) * of.hits * of.hit_saves;
}

bool predictor_pays(const predictor_record& of) {
  return predictor_gain(of) > 0;
}

} // namespace atelier::planning::nirvana
