// Runs programs: on the CPU, and what is better there or asked for on devices. An engine knows programs and tablets,
// and nothing of SQL.
#pragma once

#include <memory>

#include "engine/run/context.h"
#include "program/program.h"

namespace diptych {

// The result: tablets in the order of the rows. Keeps what it needs alive (dictionaries through the program's sources).
// Errors: those of rows, 53200, 57014.
std::shared_ptr<const TabletSource> run_program(std::shared_ptr<const Program> program,
                                                const ExecutionContext& context);

}  // namespace diptych
