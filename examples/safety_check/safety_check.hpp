// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/extensions.hpp>

/// Returns what this host adds to Atelier: a stage that refuses images which
/// are mostly dark, and a policy that draws short prompts by the small variant.
/// The host's engine and its worker program have the same.
atelier::extensions my_extensions();
