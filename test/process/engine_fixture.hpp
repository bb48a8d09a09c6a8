// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/request.hpp>

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace atelier::test {

enum class mode : uint8_t { single, split };

std::ostream& operator<<(std::ostream& out, mode x);

/// Returns options for an engine of small images, with the settings `more`. An
/// engine with split processes runs the build tree's program.
engine_options options_of(mode how, std::vector<std::string> more = {});

/// Returns the path of the build tree's program of the other processes.
std::string process_program();

/// Returns the path of the worker program of the tests' own host
/// (host_code.hpp).
std::string host_worker();

/// Starts an engine, or ends the test.
std::unique_ptr<engine> start(const engine_options& options);
std::unique_ptr<engine> start(mode how, std::vector<std::string> more = {});

/// Returns an image file with noise, the same for the same `seed`.
std::vector<uint8_t> image_file(uint32_t width, uint32_t height, uint64_t seed,
                                core::image_format format);

/// Returns `count` requests of mixed sizes, steps, formats, priorities, noise
/// and texts, each with a seed. Some start from images and have masks. The same
/// `seed` gives the same requests.
std::vector<generation> mixed_requests(size_t count, uint64_t seed);

/// A request in flight, with its result.
struct in_flight {
  submission accepted;
  std::shared_ptr<std::atomic<uint32_t>> answers =
    std::make_shared<std::atomic<uint32_t>>(0);
};

/// Submits `wanted`; tries again after a refusal for overload.
in_flight hand_in(engine& to, const generation& wanted);

/// Waits for the answer; fails the test if none arrives.
answer await(in_flight& x);

/// Requires that `x` is an image and returns it.
const generated_image& image_in(const answer& x);

/// Returns the code of a failure, or "" for an image.
std::string code_of(const answer& x);

/// Submits all requests at once and returns the answers in order. Fails if one
/// was answered twice.
std::vector<answer> answers_to(engine& to,
                               const std::vector<generation>& wanted);

/// Checks that two images have the same pixels, metadata and file.
void check_same_image(const generated_image& a, const generated_image& b);

/// Returns the pid of the living process with that role, or 0.
pid_t pid_of(const engine& x, const std::string& role);

/// Waits until nothing runs and no slot is used; returns false after half a
/// minute.
bool comes_to_rest(const engine& x);

} // namespace atelier::test
