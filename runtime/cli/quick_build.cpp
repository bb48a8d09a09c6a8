// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/quick_build.hpp>

#include <nlohmann/json.hpp>

namespace atelier::runtime::cli {

std::string version_text(const environment& world, bool json) {
  if (json) {
    const nlohmann::ordered_json object{{"version", world.version},
                                        {"quick_build", world.quick_build}};
    return object.dump();
  }
  return "atelier " + world.version
       + (world.quick_build ? " (quick build: slower than a release)" : "");
}

void note_quick_build(const environment& world) {
  if (world.quick_build)
    world.terminal.complain("note: this program is a quick build; its times "
                            "are not those of a release");
}

} // namespace atelier::runtime::cli
