// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/modm/modm.hpp>

namespace atelier::papers {

/// `modm-cache-large`: `modm-paper`, which keeps no images of small models.
class modm_cache_large : public planning::modm_policy {
public:
  modm_cache_large();

  planning::plan replan(const planning::demand& asked,
                        const planning::profile& known,
                        const planning::cluster_view& there,
                        const planning::plan& previous) const override;
};

} // namespace atelier::papers
