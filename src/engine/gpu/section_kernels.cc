#include "engine/gpu/section_kernels.h"

#include "base/error.h"
#include "engine/gpu/interpreter/interpreter_text.h"
#include "engine/gpu/interpreter/section_lowering.h"

namespace diptych::gpu {

namespace {

// So many sections wait for the compiler before the interpreter, if it was not compiled ahead of time, is compiled for
// those that come later.
constexpr int unasked_waits = 4;

// Keys of statements that are known at a time. One that comes again after that is looked through in vain.
constexpr size_t most_prepared = 4096;

using Asker = BackgroundCompiler::Asker;

}  // namespace

KernelChoice kernel_choice_named(const std::string& name) {
  if (name == "interpreter") return KernelChoice::Interpreter;
  if (name == "generated") return KernelChoice::Generated;
  check_invariant(name == "auto", "gpu_engine is one of its choices");
  return KernelChoice::Auto;
}

void compile_interpreter(Device& device) { device.compile(interpreter_text(false)); }

SectionKernels::Outlook SectionKernels::look(Device& device, const Program& program, int32_t address,
                                             const SectionShape& shape, KernelChoice choice, SectionKernels* kernels) {
  const auto is_compiled = [&](const SectionKernel& kernel) {
    return kernel.unsupported.empty() && device.find_compiled(kernel.source) != nullptr;
  };
  std::shared_ptr<const SectionKernel> kernel;
  if (choice == KernelChoice::Interpreter)
    kernel = std::make_shared<const SectionKernel>(interpret_section(program, address, shape));
  else if (kernels != nullptr)
    kernel = kernels->generated(program, address, shape);
  else
    kernel = std::make_shared<const SectionKernel>(generate_section(program, address, shape));
  if (!kernel->unsupported.empty() || is_compiled(*kernel)) return {kernel->unsupported, kernel->unsupported.empty()};
  const bool may_be_interpreted = choice == KernelChoice::Auto && !device.info().is_host;
  return {"", may_be_interpreted && is_compiled(interpret_section(program, address, shape))};
}

std::shared_ptr<const SectionKernel> SectionKernels::choose(const Program& program, int32_t address,
                                                            const SectionShape& shape, KernelChoice choice) {
  switch (choice) {
    case KernelChoice::Interpreter:
      return std::make_shared<const SectionKernel>(interpret_section(program, address, shape));
    case KernelChoice::Generated: return generated_.get(program, address, shape);
    case KernelChoice::Auto: break;
  }
  return choose_now(program, address, shape);
}

// The interpreter takes seconds to compile, which the end of the process would wait for: it has to be worth it. On the
// host's own cores nothing is.
std::shared_ptr<const SectionKernel> SectionKernels::choose_now(const Program& program, int32_t address,
                                                                const SectionShape& shape) {
  auto generated = generated_.get(program, address, shape);
  if (device_.info().is_host) return generated;
  if (!generated->unsupported.empty() || device_.find_compiled(generated->source) != nullptr) return generated;
  auto interpreted = std::make_shared<const SectionKernel>(interpret_section(program, address, shape));
  if (!interpreted->unsupported.empty()) return generated;
  if (device_.find_compiled(interpreted->source) == nullptr) {
    if (++waits_ > unasked_waits) compiler_.ask(interpreted->source, Asker::Nobody);
    return generated;
  }
  compiler_.ask(generated->source, Asker::Nobody);
  return interpreted;
}

std::shared_ptr<const Kernel> SectionKernels::compile(const SectionKernel& kernel, CompileReport& report) {
  compiler_.take(kernel.source);
  return device_.compile(kernel.source, &report);
}

void SectionKernels::prepare(uint64_t key, const std::function<std::vector<KernelText>()>& find) {
  {
    std::lock_guard guard(mutex_);
    if (prepared_.size() >= most_prepared) prepared_.clear();
    if (!prepared_.insert(key).second) return;
  }
  for (const KernelText& kernel : find()) compiler_.ask(kernel, Asker::Section);
}

}  // namespace diptych::gpu
