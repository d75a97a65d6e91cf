// EXPLAIN: the optimised plan and the program. EXPLAIN ANALYZE: the same after running it, with what each section did.
// EXPLAIN KERNEL: the text of the kernels that a device would run.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "session/commands.h"
#include "session/statement.h"

namespace diptych {

namespace {

constexpr double bytes_per_gigabyte = 1e9;

std::string section_line(const SectionProfile& section) {
  const double seconds = static_cast<double>(section.nanoseconds) * 1e-9;
  const double rate = seconds > 0 ? static_cast<double>(section.bytes_read) / seconds / bytes_per_gigabyte : 0;
  const std::string where = section.residency.empty()
                                ? fmt::format("{} thread{}", section.threads, section.threads == 1 ? "" : "s")
                                : section.residency;
  std::string line = fmt::format(
      "section at {}: engine {}, {}, {:.3f} ms; rows {} -> {}; tablets {}, skipped {}; read {:.2f} MB, {:.2f} GB/s",
      section.address, section.engine, where, seconds * 1e3, section.rows_in, section.rows_out, section.tablets,
      section.tablets_skipped, static_cast<double>(section.bytes_read) * 1e-6, rate);
  if (!section.residency.empty())
    line += fmt::format("; kernel {:.3f} ms, {} launch{}, compile {:.3f} ms, moved {:.2f} MB",
                        static_cast<double>(section.kernel_nanoseconds) * 1e-6, section.launches,
                        section.launches == 1 ? "" : "es", static_cast<double>(section.compile_nanoseconds) * 1e-6,
                        static_cast<double>(section.bytes_moved) * 1e-6);
  if (section.rows_on_cpu > 0)
    line += fmt::format("; shared: {} rows on {} thread{} of the CPU", section.rows_on_cpu, section.threads,
                        section.threads == 1 ? "" : "s");
  if (section.limit > 0)
    line += fmt::format("; {:.0f} % of the {:.1f} GB/s that this machine gives",
                        rate * bytes_per_gigabyte / section.limit * 100, section.limit / bytes_per_gigabyte);
  if (section.estimate_nanoseconds > 0)
    line += fmt::format("; estimated {:.3f} ms", static_cast<double>(section.estimate_nanoseconds) * 1e-6);
  if (!section.why.empty()) line += "; why: " + section.why;
  if (!section.fallback.empty()) line += "; not on the device asked for: " + section.fallback;
  return line;
}

void append_profile(Statement& query, const ExecutionProfile& profile, int64_t rows, std::vector<std::string>& lines) {
  lines.push_back("");
  for (const SectionProfile& section : profile.sections) lines.push_back(section_line(section));
  for (const OperationProfile& operation : profile.operations)
    lines.push_back(fmt::format("operation at {}: {}, {:.3f} ms", operation.address, operation.what,
                                static_cast<double>(operation.nanoseconds) * 1e-6));
  lines.push_back(fmt::format("result: {} row{}; peak memory {:.2f} MB", rows, rows == 1 ? "" : "s",
                              static_cast<double>(profile.peak_bytes) * 1e-6));
  if (profile.spilled_bytes > 0)
    lines.back() +=
        fmt::format("; spilled {:.2f} MB to temporary files", static_cast<double>(profile.spilled_bytes) * 1e-6);
  std::string times = "time:";
  for (size_t i = 0; i < stage_count; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (stage == Stage::Parse || stage == Stage::Bind) continue;  // done before EXPLAIN itself ran
    times += fmt::format(" {} {:.3f} ms{}", name_of(stage), static_cast<double>(query.nanoseconds(stage)) * 1e-6,
                         stage == Stage::Run ? "" : ",");
  }
  lines.push_back(times);
}

void append_lines(std::string_view text, std::vector<std::string>& lines) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
}

// Literals, addresses and row counts are parameters, so the text depends on no device and on no value.
std::vector<std::string> explain_kernels(const Program& program) {
  std::vector<std::string> lines;
  std::vector<const TabletSource*> cursors(program.cursors.size(), nullptr);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const auto cursor = static_cast<size_t>(instruction.p1);
    if (instruction.opcode == Opcode::Table)
      cursors[cursor] = program.sources[static_cast<size_t>(instruction.p2)].get();
    if (instruction.opcode != Opcode::Parallel) continue;
    if (!lines.empty()) lines.emplace_back();
    lines.push_back(fmt::format("-- section at {}", i));
    if (cursors[cursor] == nullptr) {
      lines.emplace_back("-- its rows are made by a section before: runs on the CPU");
      continue;
    }
    if (const char* what = cursors[cursor]->read_by_cpu(); what != nullptr) {
      lines.push_back(fmt::format("-- rows of {}: runs on the CPU", what));
      continue;
    }
    const gpu::SectionKernel kernel = Placement::kernel_of(program, static_cast<int32_t>(i), *cursors[cursor]);
    if (!kernel.unsupported.empty()) {
      lines.push_back("no kernel: " + kernel.unsupported);
      continue;
    }
    std::string_view shared = std::string_view(kernel.text).substr(0, kernel.library_bytes);
    // The definitions at the head are this kernel's own.
    for (; shared.starts_with("#define DK_"); shared.remove_prefix(shared.find('\n') + 1))
      lines.emplace_back(shared.substr(0, shared.find('\n')));
    lines.push_back(fmt::format("// {} lines of src/kernel", std::count(shared.begin(), shared.end(), '\n')));
    append_lines(std::string_view(kernel.text).substr(kernel.library_bytes), lines);
  }
  return lines;
}

}  // namespace

std::vector<std::string> explain(Connection& connection, BoundSelect inner, BoundExplain::What what) {
  Statement query(connection, std::move(inner));
  if (what == BoundExplain::What::Kernel) return explain_kernels(query.program());
  std::vector<std::string> lines = describe(query.optimized_plan());
  lines.push_back("");
  for (std::string& line : disassemble(query.program())) lines.push_back(std::move(line));
  if (what == BoundExplain::What::Analyze) {
    ExecutionProfile profile;
    const auto rows = query.run_profiled(profile);
    append_profile(query, profile, rows->row_count(), lines);
  }
  return lines;
}

}  // namespace diptych
