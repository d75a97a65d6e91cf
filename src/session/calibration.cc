#include "session/calibration.h"

#include <algorithm>
#include <chrono>

#include "base/machine.h"
#include "engine/gpu/section_kernels.h"
#include "engine/placement/section_facts.h"
#include "session/statement.h"

namespace diptych {
namespace {

constexpr int64_t memory_bytes = int64_t{256} << 20;
constexpr int tries = 3;

// A statement for each kind of work. What it needs besides stands before it in the list.
struct Measurement {
  WorkKind kind;
  const char* statement;
};
constexpr Measurement measurements[] = {
    {WorkKind::Aggregate, "SELECT count(*), count(*), sum(a), min(a), max(a), sum(b), min(b), max(b) FROM measured"},
    {WorkKind::Load, "SELECT sum(a) FROM measured"},
    {WorkKind::Compare, "SELECT count(*) FROM measured WHERE a <> b"},
    {WorkKind::Arithmetic, "SELECT sum(a * 2 + b - a) FROM measured"},
    {WorkKind::Wide, "SELECT sum(n * n + n) FROM measured"},
    {WorkKind::Divide, "SELECT sum(n / 7) FROM measured"},
    {WorkKind::Text, "SELECT sum(length(upper(s))) FROM measured"},
    {WorkKind::Group, "SELECT a % 1000, count(*) FROM measured GROUP BY 1"},
    {WorkKind::Sort, "SELECT a FROM measured ORDER BY b, a"},
    {WorkKind::Result, "SELECT a, b FROM measured"},
};

// Strings differ all, so that no dictionary takes them.
constexpr const char* table =
    "CREATE TABLE measured AS SELECT i::integer AS a, ((i::bigint * 7919) % 1000003 + 2000000)::integer AS b, "
    "(i::bigint * 1000003 + 1234567890123)::numeric(18, 2) AS n, 'row ' || i AS s FROM generate_series(1, 500000) AS "
    "t(i)";

double nanoseconds_of(Connection& connection, const char* text) {
  double least = 0;
  for (int i = 0; i < tries; ++i) {
    Statement statement(connection, text);
    statement.program();
    const auto start = std::chrono::steady_clock::now();
    statement.run();
    const auto taken = static_cast<double>((std::chrono::steady_clock::now() - start).count());
    least = i == 0 ? taken : std::min(least, taken);
  }
  return least;
}

// The work of all its sections that read the table.
WorkCounts work_of(const Program& program) {
  WorkCounts work{};
  for (size_t at = 0; at < program.instructions.size(); ++at) {
    const Instruction& instruction = program.instructions[at];
    if (instruction.opcode != Opcode::Parallel) continue;
    const CursorInfo& cursor = program.cursors[static_cast<size_t>(instruction.p1)];
    if (cursor.name != "measured") continue;
    const NeededTablets needed(cursor, *program.sources[0]);
    const SectionFacts facts = find_facts(program, static_cast<int32_t>(at), *program.sources[0], needed, -1);
    for (size_t kind = 0; kind < work_kind_count; ++kind) work[kind] += facts.work[kind];
  }
  return work;
}

}  // namespace

void calibrate_host(HostCalibration& host) {
  measure_host_memory(host, machine_threads(), memory_bytes);
  Database database(":memory:");
  Connection connection(database);
  const std::string one = "1", cpu = "cpu";
  connection.set("threads", &one);
  connection.set("device", &cpu);
  Statement(connection, table).run();
  for (const Measurement& measurement : measurements) {
    Statement statement(connection, measurement.statement);
    const WorkCounts work = work_of(statement.program());
    double nanoseconds = nanoseconds_of(connection, measurement.statement);
    const auto kind = static_cast<size_t>(measurement.kind);
    for (size_t other = 0; other < work_kind_count; ++other)
      if (other != kind) nanoseconds -= work[other] * host.row_ns[other];
    // What is not told apart from the rest costs little, but something.
    constexpr double least_row_ns = 0.02;
    if (work[kind] > 0) host.row_ns[kind] = std::max(least_row_ns, nanoseconds / work[kind]);
  }
  host.is_measured = true;
}

void prepare_device(Device& device) { gpu::compile_interpreter(device); }

}  // namespace diptych
