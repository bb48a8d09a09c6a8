// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/extensions.hpp>

/// Returns what this host adds to Atelier: a stage that refuses images that are
/// mostly dark, and a policy that draws short prompts with the small variant.
/// The host's engine and its worker program must use the same extensions.
atelier::extensions my_extensions();
