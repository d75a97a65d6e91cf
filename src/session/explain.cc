// EXPLAIN: the optimised plan and the program. EXPLAIN ANALYZE: the same after running it, with what each section did.
// EXPLAIN KERNEL: the text of the kernels that a device would run. All of them as lines of text, or as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/scoped_timer.h"
#include "plan/plan_text.h"
#include "session/commands.h"
#include "session/explain_document.h"
#include "session/statement.h"

namespace diptych {

using nlohmann::ordered_json;

namespace {

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
    const gpu::SectionKernel kernel = Engines::kernel_of(program, static_cast<int32_t>(i), *cursors[cursor]);
    if (!kernel.unsupported.empty()) {
      lines.push_back("no kernel: " + kernel.unsupported);
      continue;
    }
    std::string_view shared = std::string_view(kernel.source.text()).substr(0, kernel.library_bytes);
    // The definitions at the head are this kernel's own.
    for (; shared.starts_with("#define DK_"); shared.remove_prefix(shared.find('\n') + 1))
      lines.emplace_back(shared.substr(0, shared.find('\n')));
    lines.push_back(fmt::format("// {} lines of src/kernel", std::count(shared.begin(), shared.end(), '\n')));
    append_lines(std::string_view(kernel.source.text()).substr(kernel.library_bytes), lines);
  }
  return lines;
}

// What is done with the rows stands above the operators that give them.
ordered_json describe_plan(const std::vector<OperatorLine>& operators, const std::optional<ExplainedChange>& change) {
  ordered_json plan = ordered_json::array();
  const auto add = [&](int64_t level, const std::string& text, int64_t rows) {
    plan.push_back({{"level", level}, {"operator", text}, {"estimated_rows", rows}});
  };
  if (change) add(0, change->line, operators.empty() ? change->all_rows : operators.front().estimated_rows);
  for (const OperatorLine& op : operators) add(op.level + (change ? 1 : 0), op.text, op.estimated_rows);
  return plan;
}

ChangeProfile make_change(Connection& connection, const ExplainedChange& change,
                          std::shared_ptr<const TabletSource> rows, Writing& writing) {
  ChangeProfile profile{change.kind, change.table, 0, {}, 0};
  profile.rows = change.make(std::move(rows), profile.times);
  const ScopedTimer timer(profile.commit_nanoseconds);
  connection.finish(writing);
  return profile;
}

}  // namespace

std::vector<std::string> explain(Connection& connection, LogicalOperatorPtr inner, const BoundExplain& command,
                                 const std::optional<ExplainedChange>& change, Writing* writing,
                                 const TextTimes& times) {
  std::optional<Statement> query;
  if (inner) query.emplace(connection, std::move(inner), times.explained_key);
  ordered_json document = empty_document();
  if (command.what == BoundExplain::What::Kernel) {
    document["kernels"] =
        query ? explain_kernels(query->program()) : std::vector<std::string>{"-- no query: nothing runs on a device"};
  } else {
    document["plan"] =
        describe_plan(query ? list_operators(query->optimized_plan()) : std::vector<OperatorLine>(), change);
    if (query) document["program"] = disassemble(query->program());
  }
  if (command.what == BoundExplain::What::Analyze) {
    ExecutionProfile profile;
    std::shared_ptr<const TabletSource> rows = query ? query->run_profiled(profile) : nullptr;
    const int64_t row_count = rows ? rows->row_count() : 0;
    std::optional<ChangeProfile> changed;
    if (change) changed = make_change(connection, *change, std::move(rows), *writing);
    document["run"] = describe_run(profile, row_count, changed, query ? &*query : nullptr, times);
  }
  if (!command.json) return lines_of(document);
  return {document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
}

}  // namespace diptych
