#include "engine/gpu/section_kernels.h"

#include "base/error.h"
#include "engine/gpu/interpreter/section_lowering.h"

namespace diptych::gpu {

KernelChoice kernel_choice_named(const std::string& name) {
  if (name == "interpreter") return KernelChoice::Interpreter;
  if (name == "generated") return KernelChoice::Generated;
  check_invariant(name == "auto", "gpu_engine is one of its choices");
  return KernelChoice::Auto;
}

SectionKernel SectionKernels::choose(const Program& program, int32_t address, const SectionShape& shape,
                                     KernelChoice choice) {
  if (choice == KernelChoice::Auto) return choose_now(program, address, shape);
  if (choice == KernelChoice::Interpreter) {
    SectionKernel kernel = interpret_section(program, address, shape);
    if (kernel.unsupported.empty()) return kernel;
  }
  return generate_section(program, address, shape);
}

// The interpreter takes longer to compile than any section's kernel: the first section of all does not wait for it.
SectionKernel SectionKernels::choose_now(const Program& program, int32_t address, const SectionShape& shape) {
  SectionKernel generated = generate_section(program, address, shape);
  if (!generated.unsupported.empty() || device_.find_compiled(generated.text, generated.entry) != nullptr)
    return generated;
  SectionKernel interpreted = interpret_section(program, address, shape);
  if (!interpreted.unsupported.empty()) return generated;
  if (device_.find_compiled(interpreted.text, interpreted.entry) == nullptr) {
    compiler_.ask(interpreted.text, interpreted.entry);
    return generated;
  }
  compiler_.ask(generated.text, generated.entry);
  return interpreted;
}

}  // namespace diptych::gpu
