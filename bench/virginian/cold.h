// What a query takes before anything is warm: the first of a process, the first of a shape that was never seen.
#pragma once

#include <string>

#include "report.h"

namespace diptych::bench {

// Processes of this program on a database file with `rows` rows: on the CPU; on the device with no kernel compiled; and
// on the device once more, with the kernels on disk. device: empty: the CPU alone.
void measure_cold(size_t rows, uint64_t seed, const std::string& device, int threads, Report& report);

// In such a process: prints its figures as JSON.
void run_cold_process(const std::string& file, const std::string& device, int threads);

}  // namespace diptych::bench
