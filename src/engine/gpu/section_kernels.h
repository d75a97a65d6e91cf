// Which kernel runs a section: the one generated for it, or the interpreter's, which is compiled once for all.
#pragma once

#include <atomic>

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
        compiler_([&device](const std::string& text, const std::string& entry) { device.compile(text, entry); }) {}

  // What choose() would come to, without asking a compiler for anything.
  struct Outlook {
    std::string unsupported;  // why there is no kernel; empty: there is
    bool is_ready = false;    // the section need not wait for a compiler
  };
  static Outlook look(Device& device, const Program& program, int32_t address, const SectionShape& shape,
                      KernelChoice choice);
  SectionKernel choose(const Program& program, int32_t address, const SectionShape& shape, KernelChoice choice);
  BackgroundCompiler& compiler() { return compiler_; }

 private:
  SectionKernel choose_now(const Program& program, int32_t address, const SectionShape& shape);

  Device& device_;
  BackgroundCompiler compiler_;
  GeneratedKernels generated_;
  std::atomic<int> waits_ = 0;  // sections whose kernel was compiled while they waited
};

}  // namespace diptych::gpu
