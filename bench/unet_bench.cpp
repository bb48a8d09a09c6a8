// SPDX-License-Identifier: Apache-2.0
// How long does one guided step of Stable Diffusion 1.5's denoiser take (or one
// decoding, with --what vae), and how much memory? The peer is diffusers, with
// the same files, threads and inputs.
//
//   unet_bench [--what unet|vae] [--dir DIR] [--python PYTHON] [--rounds N]
//              [--types float32,bfloat16] [--sizes 256,512] [--batches 1,4]
//              [--device cpu|cuda:N]
//
// DIR (default: a folder in the system's folder for temporary files) keeps
// random models of 5.5 GB between runs. For each case two new processes load
// the model, compute once so that the results can be compared, and then take
// turns. On a CUDA device the inputs are in the device's memory before the
// clock starts, a time ends when the device is done, and the figures for memory
// and processors are those of the host.
#include "duplex_child.hpp"

#ifdef ATELIER_BENCH_VAE
#  include <atelier/gpu/models/vae/autoencoder.hpp>
#endif
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/layers/placement.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/unet/unet.hpp>

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

namespace {

using namespace atelier;
namespace fs = std::filesystem;
using bench::duplex_child;
using tensors = std::map<std::string, torch::Tensor>;
using network = std::function<torch::Tensor(const tensors&)>;

double now_ms() {
  return std::chrono::duration<double, std::milli>{
    std::chrono::steady_clock::now().time_since_epoch()}
    .count();
}

// Returns the processor time of all threads together.
double busy_ms() {
  timespec at{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) * 1e3
       + static_cast<double>(at.tv_nsec) / 1e6;
}

template <class T>
T value_of(core::result<T> x) {
  if (!x)
    duplex_child::stop(to_string(x.why()).c_str());
  if constexpr (!std::is_void_v<T>)
    return std::move(*x);
}

long status_kib(const std::string& field) {
  std::ifstream lines{"/proc/self/status"};
  std::string word;
  while (lines >> word)
    if (word == field + ":") {
      long out = 0;
      lines >> out;
      return out;
    }
  return 0;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::istringstream from{text};
  std::vector<std::string> out;
  for (std::string part; std::getline(from, part, at);)
    out.push_back(part);
  return out;
}

tensors read(const fs::path& file) {
  const auto from = value_of(gpu::safetensors_file::open(file));
  tensors out;
  for (const auto& name : from->names()) {
    const auto x = *from->find(name);
    out[name] =
      torch::from_blob(const_cast<std::byte*>(x.bytes.data()), x.shape,
                       torch::TensorOptions(gpu::torch_type(x.type)))
        .clone();
  }
  return out;
}

void write(const fs::path& file, const tensors& x) {
  std::vector<gpu::named_tensor> out;
  // The tensors whose memory `out` points into.
  std::vector<torch::Tensor> kept;
  for (const auto& [name, any] : x) {
    const auto& y =
      kept.emplace_back(any.to(torch::kCPU, torch::kFloat32).contiguous());
    out.push_back(
      {name,
       {gpu::tensor_type::float32,
        y.sizes().vec(),
        {static_cast<const std::byte*>(y.const_data_ptr()), y.nbytes()}}});
  }
  value_of(gpu::write_safetensors(file, out));
}

network load(const std::string& what, const fs::path& folder,
             torch::Device on) {
  gpu::component from;
  std::ostringstream text;
  text << std::ifstream{folder / "config.json"}.rdbuf();
  from.config = text.str();
  from.config_file = (folder / "config.json").string();
  from.weights = value_of(gpu::safetensors_file::open(
    folder / "diffusion_pytorch_model.safetensors"));
  const gpu::placement where{on, folder.string().ends_with("bfloat16")
                                   ? torch::kBFloat16
                                   : torch::kFloat32};
  if (what == "unet") {
    from.class_name = "UNet2DConditionModel";
    std::shared_ptr<gpu::unet> net = value_of(gpu::unet::load(from, where));
    return [net](const tensors& x) {
      return net->forward(
        {x.at("sample"), x.at("timestep"), x.at("context"), {}, {}, {}});
    };
  }
#ifdef ATELIER_BENCH_VAE
  from.class_name = "AutoencoderKL";
  std::shared_ptr<gpu::autoencoder> net =
    value_of(gpu::autoencoder::load(from, where));
  return [net](const tensors& x) {
    return net->decode(x.at("latent") * net->config().scaling_factor);
  };
#else
  duplex_child::stop("--what is unet");
#endif
}

void finish(torch::Device on) {
  if (on.is_cuda())
    torch::cuda::synchronize(on.index());
}

// Runs our side, which answers the same commands as diffusers_peer.py.
int serve(const std::string& what, const fs::path& folder,
          const std::string& device) {
  const c10::InferenceMode guard;
  const auto before = status_kib("VmRSS");
  const auto start = now_ms();
  const auto on = value_of(gpu::device_named(device));
  const auto net = load(what, folder, on);
  finish(on);
  std::cout << "ready " << now_ms() - start << " " << before << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const auto command = split(line, ' ');
    if (command[0] == "peak") {
      std::cout << status_kib("VmHWM") << std::endl;
      continue;
    }
    auto x = read(command[1]);
    for (auto& [name, values] : x)
      values = values.to(on);
    finish(on);
    const auto begun = now_ms();
    const auto busy = busy_ms();
    const auto y = net(x);
    finish(on);
    const auto taken = fmt::format("{} {}", now_ms() - begun, busy_ms() - busy);
    if (command[2] != "-")
      write(command[2], {{"result", y}});
    std::cout << taken << std::endl;
  }
  return 0;
}

struct options {
  std::string what = "unet";
  fs::path dir = fs::temp_directory_path() / "atelier-unet-bench";
  std::string python = ATELIER_BENCH_PYTHON;
  int rounds = 3;
  std::string types = "float32,bfloat16";
  std::string sizes = "256,512";
  std::string batches = "1,4";
  std::string device = "cpu";
};

struct side {
  explicit side(std::vector<std::string> command) : child(std::move(command)) {
    const auto words = split(child.read(), ' ');
    load_ms = std::stod(words.at(1));
    before_mib = std::stod(words.at(2)) / 1024;
  }

  void run(const fs::path& in, const std::string& out) {
    const auto words = split(child.ask("run " + in.string() + " " + out), ' ');
    if (out != "-") {
      // The first run also includes work that loading postponed.
      first_ms = load_ms + std::stod(words.at(0));
      return;
    }
    times.push_back(std::stod(words.at(0)));
    busy.push_back(std::stod(words.at(1)));
  }

  double peak_mib() {
    return std::stod(child.ask("peak")) / 1024;
  }

  duplex_child child;
  double load_ms = 0;
  /// Time of loading and of the first result together.
  double first_ms = 0;
  double before_mib = 0;
  std::vector<double> times;
  std::vector<double> busy;
};

double median(std::vector<double> x) {
  std::ranges::sort(x);
  return x[x.size() / 2];
}

tensors draw_input(const options& with, int64_t size, int64_t batch) {
  torch::manual_seed(1);
  const auto side = size / 8;
  if (with.what == "vae")
    return {{"latent", torch::randn({batch, 4, side, side})}};
  // A guided step has two rows for each image: one with and one without the
  // prompt.
  const auto rows = 2 * batch;
  return {{"sample", torch::randn({rows, 4, side, side})},
          {"timestep", torch::full({rows}, 481.0)},
          {"context", torch::randn({rows, 77, 768})}};
}

void compare(const options& with, const std::string& program,
             const std::string& type, int64_t size, int64_t batch) {
  const auto folder = (with.dir / (with.what + "-" + type)).string();
  const auto in = with.dir / "input.safetensors";
  const auto out = [&](const char* whose) {
    return (with.dir / (std::string{whose} + ".safetensors")).string();
  };
  write(in, draw_input(with, size, batch));
  side ours{{program, "serve", with.what, folder, with.device}};
  side peer{{with.python, ATELIER_BENCH_DIR "/diffusers_peer.py", "serve",
             with.what, folder, with.device}};
  ours.run(in, out("ours"));
  peer.run(in, out("peer"));
  const auto a = read(out("ours")).at("result");
  const auto b = read(out("peer")).at("result");
  const auto off = ((a - b).abs().max() / b.abs().max()).item<double>();
  // Convolutions on a CUDA device round float32 to a mantissa of ten bits
  // (TF32).
  const auto most = type != "float32"    ? 0.1
                  : with.device == "cpu" ? 1e-4
                                         : 5e-3;
  if (!(off <= most))
    duplex_child::stop(fmt::format("results differ by {}", off).c_str());
  for (int i = 0; i < with.rounds; ++i) {
    ours.run(in, "-");
    peer.run(in, "-");
  }
  const auto ours_peak = ours.peak_mib();
  const auto peer_peak = peer.peak_mib();
  const auto ms = std::pair{median(ours.times), median(peer.times)};
  const auto busy = std::pair{median(ours.busy), median(peer.busy)};
  fmt::print("{:8} {:4} {:2} | {:7.1f} {:7.1f} {:5.2f} | {:7.0f} {:7.0f} "
             "{:5.2f} | {:6.0f} {:6.0f} {:5.2f} | {:6.0f} {:6.0f} | "
             "{:7.0f} {:7.0f} {:5.2f} | {:4.0f} {:4.0f} | {:.1e}\n",
             type, size, batch, ms.first, ms.second, ms.first / ms.second,
             busy.first, busy.second, busy.first / busy.second, ours_peak,
             peer_peak, ours_peak / peer_peak, ours.load_ms, peer.load_ms,
             ours.first_ms, peer.first_ms, ours.first_ms / peer.first_ms,
             ours.before_mib, peer.before_mib, off);
  std::fflush(stdout);
}

int drive(const options& with, const std::string& program) {
  fs::create_directories(with.dir);
  const auto make =
    fmt::format("'{}' '{}/diffusers_peer.py' make '{}'", with.python,
                ATELIER_BENCH_DIR, with.dir.string());
  if (std::system(make.c_str()) != 0)
    duplex_child::stop("the models cannot be made");
  fmt::print("{} on {}, {} threads, medians of {}; ours, peer, ratio\n{:16} | "
             "{:21} "
             "| {:21} | {:19} | {:13} | {:21} | {:9} | {}\n",
             with.what, with.device, at::get_num_threads(), with.rounds,
             "type, size, batch", "ms", "ms of all processors", "peak MiB",
             "load ms", "ms to first result", "before", "difference");
  for (const auto& type : split(with.types, ','))
    for (const auto& size : split(with.sizes, ','))
      for (const auto& batch : split(with.batches, ','))
        compare(with, program, type, std::stol(size), std::stol(batch));
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words{argv, argv + argc};
  if (argc == 5 && words[1] == "serve")
    return serve(words[2], words[3], words[4]);
  options with;
  for (size_t i = 1; i + 1 < words.size(); i += 2) {
    const auto& value = words[i + 1];
    if (words[i] == "--what")
      with.what = value;
    else if (words[i] == "--dir")
      with.dir = value;
    else if (words[i] == "--python")
      with.python = value;
    else if (words[i] == "--rounds")
      with.rounds = std::stoi(value);
    else if (words[i] == "--types")
      with.types = value;
    else if (words[i] == "--sizes")
      with.sizes = value;
    else if (words[i] == "--batches")
      with.batches = value;
    else if (words[i] == "--device")
      with.device = value;
    else
      duplex_child::stop("see the comment at the top of unet_bench.cpp");
  }
  return drive(with, fs::read_symlink("/proc/self/exe").string());
}
