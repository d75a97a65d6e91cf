// Which kernel runs a section: the one generated for it, or the interpreter's, which is compiled once for all.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "engine/device/background_compiler.h"
#include "engine/device/device.h"
#include "engine/gpu/generator/generated_kernels.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

enum class KernelChoice : uint8_t {
  Auto,         // the section's own where it is compiled; else the interpreter's, while a thread compiles the other
  Interpreter,  // and nothing where it can't do it
  Generated
};
// As the setting gpu_engine names them.
KernelChoice kernel_choice_named(const std::string& name);

// Has the interpreter compiled where that was not done ahead of time, which takes seconds. Errors: 58000.
void compile_interpreter(Device& device);

// Thread safety: all members may be called by many threads at once.
class SectionKernels {
 public:
  explicit SectionKernels(Device& device)
      : device_(device),
        compiler_([&device](const KernelText& kernel) { device.prepare(kernel); }, device.info().compiles_at_once) {}

  // What choose() would come to, without asking a compiler for anything. kernels: those of the device; null: it has
  // none yet.
  struct Outlook {
    std::string unsupported;  // why there is no kernel; empty: there is
    bool is_ready = false;    // the section need not wait for a compiler
  };
  static Outlook look(Device& device, const Program& program, int32_t address, const SectionShape& shape,
                      KernelChoice choice, SectionKernels* kernels = nullptr);
  std::shared_ptr<const SectionKernel> choose(const Program& program, int32_t address, const SectionShape& shape,
                                              KernelChoice choice);
  // The kernel that was chosen, compiled. Errors: as Device::compile().
  std::shared_ptr<const Kernel> compile(const SectionKernel& kernel, CompileReport& report);
  // As generate_section(), but of what was generated lately from memory.
  std::shared_ptr<const SectionKernel> generated(const Program& program, int32_t address, const SectionShape& shape) {
    return generated_.get(program, address, shape);
  }
  // Of sections of one signature, on this device, the kernel is the same.
  SectionSignature signature(const Program& program, int32_t address, const SectionShape& shape) {
    return generated_.signature(program, address, shape);
  }
  // Has the kernels compiled that `find` names, all at the same time; statements of one key name them once.
  void prepare(uint64_t key, const std::function<std::vector<KernelText>()>& find);
  BackgroundCompiler& compiler() { return compiler_; }

 private:
  std::shared_ptr<const SectionKernel> choose_now(const Program& program, int32_t address, const SectionShape& shape);

  Device& device_;
  BackgroundCompiler compiler_;
  GeneratedKernels generated_;
  std::atomic<int> waits_ = 0;  // sections whose kernel was compiled while they waited
  std::mutex mutex_;            // guards what follows
  std::unordered_set<uint64_t> prepared_;
};

}  // namespace diptych::gpu
