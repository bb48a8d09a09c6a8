// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/refusal.hpp>

namespace atelier::runtime::cli {

exit_status refuse(const console& terminal, const core::error& why) {
  terminal.complain(why.text);
  return why.code == core::ec::cancelled ? exit_status::interrupted
                                         : status_of(core::to_string(why.code));
}

} // namespace atelier::runtime::cli
