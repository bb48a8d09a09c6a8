// SPDX-License-Identifier: Apache-2.0
// How long does one guided step of Stable Diffusion 1.5's denoiser take (or one
// decoding, with --what vae), and how much memory? The peers are diffusers and
// OpenVINO, with the same files, threads and inputs.
//
//   unet_bench [--what unet|vae] [--dir DIR] [--python PYTHON] [--rounds N]
//              [--types float32,bfloat16] [--sizes 256,512] [--batches 1,4]
//              [--device cpu|cuda:N] [--peers diffusers,openvino]
//              [--instructions avx2|avx512|avx512_bf16]
//
// DIR (default: a folder in the system's folder for temporary files) keeps
// random models of 5.5 GB between runs. For each case new processes load the
// model, compute once so that the results can be compared, and then take turns.
// --instructions limits all sides: Atelier's kernels, LibTorch's operators
// (ATEN_CPU_CAPABILITY) and oneDNN (ONEDNN_MAX_CPU_ISA); whether OpenVINO's
// copy of oneDNN keeps to it shows in its times. On a CUDA device the inputs
// are in the device's memory before the clock starts, a time ends when the
// device is done, and the figures for memory and processors are those of the
// host.
#include "duplex_child.hpp"

#ifdef ATELIER_BENCH_VAE
#  include <atelier/gpu/models/vae/autoencoder.hpp>
#endif
#include <atelier/core/instruction_set.hpp>
#include <atelier/gpu/models/files/safetensors.hpp>
#include <atelier/gpu/models/layers/placement.hpp>
#include <atelier/gpu/models/layers/weights.hpp>
#include <atelier/gpu/models/unet/unet.hpp>

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <deque>
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
  std::string peers = "diffusers";
  std::string instructions;
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

// Limits this process, and what it starts, to that instruction set.
void limit(const std::string& name) {
  const auto set = core::parse_instruction_set(name);
  if (!set)
    duplex_child::stop(("no instruction set '" + name + "'").c_str());
  value_of(core::limit_instruction_set(*set));

  struct names {
    const char* aten;
    const char* onednn;
  };

  const auto others = *set == core::instruction_set::avx2
                      ? names{"avx2", "AVX2"}
                    : *set == core::instruction_set::avx512
                      ? names{"avx512", "AVX512_CORE_VNNI"}
                    : *set == core::instruction_set::avx512_bf16
                      ? names{"avx512", "AVX512_CORE_BF16"}
                      : names{"default", "SSE41"};
  ::setenv("ATEN_CPU_CAPABILITY", others.aten, 1);
  ::setenv("ONEDNN_MAX_CPU_ISA", others.onednn, 1);
}

double difference(const tensors& a, const tensors& b) {
  const auto& x = a.at("result");
  const auto& y = b.at("result");
  return ((x - y).abs().max() / y.abs().max()).item<double>();
}

void print(const std::string& name, const side& ours, const side& peer,
           std::pair<double, double> peak_mib, double off) {
  const auto ms = std::pair{median(ours.times), median(peer.times)};
  const auto busy = std::pair{median(ours.busy), median(peer.busy)};
  fmt::print("{:27} | {:7.1f} {:7.1f} {:5.2f} | {:7.0f} {:7.0f} "
             "{:5.2f} | {:6.0f} {:6.0f} {:5.2f} | {:6.0f} {:6.0f} | "
             "{:7.0f} {:7.0f} {:5.2f} | {:4.0f} {:4.0f} | {:.1e}\n",
             name, ms.first, ms.second, ms.first / ms.second, busy.first,
             busy.second, busy.first / busy.second, peak_mib.first,
             peak_mib.second, peak_mib.first / peak_mib.second, ours.load_ms,
             peer.load_ms, ours.first_ms, peer.first_ms,
             ours.first_ms / peer.first_ms, ours.before_mib, peer.before_mib,
             off);
  std::fflush(stdout);
}

void compare(const options& with, const std::string& program,
             const std::string& type, int64_t size, int64_t batch) {
  const auto folder = (with.dir / (with.what + "-" + type)).string();
  const auto in = with.dir / "input.safetensors";
  const auto out = [&](const std::string& whose) {
    return (with.dir / (whose + ".safetensors")).string();
  };
  write(in, draw_input(with, size, batch));
  side ours{
    {program, "serve", with.what, folder, with.device, with.instructions}};
  ours.run(in, out("ours"));
  const auto names = split(with.peers, ',');
  std::deque<side> peers;
  std::vector<double> off;
  // Convolutions on a CUDA device round float32 to a mantissa of ten bits
  // (TF32).
  const auto most = type != "float32"    ? 0.1
                  : with.device == "cpu" ? 1e-4
                                         : 5e-3;
  for (const auto& name : names) {
    auto& peer = peers.emplace_back(std::vector<std::string>{
      with.python, fmt::format(ATELIER_BENCH_DIR "/{}_peer.py", name), "serve",
      with.what, folder, with.device});
    peer.run(in, out(name));
    off.push_back(difference(read(out("ours")), read(out(name))));
    if (!(off.back() <= most))
      duplex_child::stop(
        fmt::format("results differ from {} by {}", name, off.back()).c_str());
  }
  for (int i = 0; i < with.rounds; ++i) {
    ours.run(in, "-");
    for (auto& peer : peers)
      peer.run(in, "-");
  }
  for (size_t i = 0; i < peers.size(); ++i)
    print(fmt::format("{:9} {:8} {:4} {:2}", names[i], type, size, batch), ours,
          peers[i], {ours.peak_mib(), peers[i].peak_mib()}, off[i]);
}

int drive(const options& with, const std::string& program) {
  fs::create_directories(with.dir);
  const auto make =
    fmt::format("'{}' '{}/diffusers_peer.py' make '{}'", with.python,
                ATELIER_BENCH_DIR, with.dir.string());
  if (std::system(make.c_str()) != 0)
    duplex_child::stop("the models cannot be made");
  fmt::print("{} on {}, {} threads, {}, medians of {}; ours, peer, ratio\n"
             "{:27} | "
             "{:21} "
             "| {:21} | {:19} | {:13} | {:21} | {:9} | {}\n",
             with.what, with.device, at::get_num_threads(),
             with.instructions.empty() ? "all instructions"
                                       : "instructions of " + with.instructions,
             with.rounds, "peer, type, size, batch", "ms",
             "ms of all processors", "peak MiB", "load ms",
             "ms to first result", "before", "difference");
  for (const auto& type : split(with.types, ','))
    for (const auto& size : split(with.sizes, ','))
      for (const auto& batch : split(with.batches, ','))
        compare(with, program, type, std::stol(size), std::stol(batch));
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words{argv, argv + argc};
  if (argc == 6 && words[1] == "serve") {
    if (!words[5].empty())
      limit(words[5]);
    return serve(words[2], words[3], words[4]);
  }
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
    else if (words[i] == "--peers")
      with.peers = value;
    else if (words[i] == "--instructions")
      with.instructions = value;
    else
      duplex_child::stop("see the comment at the top of unet_bench.cpp");
  }
  if (!with.instructions.empty())
    limit(with.instructions);
  return drive(with, fs::read_symlink("/proc/self/exe").string());
}
