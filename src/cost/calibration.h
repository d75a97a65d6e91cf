// What this machine and its devices can do, as measured: the figures that the cost model computes with.
//
//   calibration.json   {"machines": {"Xeon 8480, 16 threads": {"host": {...}, "devices": {"NVIDIA H200, driver 580":
//   {...}}}}}
//
// `diptych calibrate` writes it. Without one, a short measurement at a device's first use stands in. A calibration of
// another machine, device or driver does not match and is left alone.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace diptych {

// Kinds of work that a row makes: name, nanoseconds a row on one core when nobody has measured, and the work on a
// device in 64-bit multiply-adds.
#define DIPTYCH_WORK_KINDS(X)                                      \
  X(Load, 0.25, 2)      /* a column's value, decoded */            \
  X(Compare, 0.25, 2)   /* comparisons, logic, jumps */            \
  X(Arithmetic, 0.4, 3) /* up to 64 bits, floats */                \
  X(Wide, 2.5, 12)      /* 128-bit sums and products */            \
  X(Divide, 12, 150)    /* 128-bit division */                     \
  X(Text, 25, 200)      /* functions of strings and other calls */ \
  X(Aggregate, 0.5, 3)  /* one state of one row */                 \
  X(Group, 8, 40)       /* finding a row's group */                \
  X(Sort, 80, 60)       /* a row that is sorted */                 \
  X(Result, 1.5, 4)     /* a value of a row of the result */

enum class WorkKind : uint8_t {
#define DIPTYCH_WORK_ENUM(name, nanoseconds, device_work) name,
  DIPTYCH_WORK_KINDS(DIPTYCH_WORK_ENUM)
#undef DIPTYCH_WORK_ENUM
};
inline constexpr size_t work_kind_count = static_cast<size_t>(WorkKind::Result) + 1;
using WorkCounts = std::array<double, work_kind_count>;

const char* name_of(WorkKind kind);
// Of one row on a device, in 64-bit multiply-adds.
double device_work_of(WorkKind kind);

// Rates are bytes a second.
struct HostCalibration {
  double read_one = 10e9;  // one thread reads memory
  double read_all = 40e9;  // all threads together
  WorkCounts row_ns{};     // nanoseconds a row on one core
  bool is_measured = false;
  HostCalibration();
};

struct DeviceCalibration {
  double read = 500e9;  // a kernel reads the device's memory
  double to_device_pinned = 12e9, to_device_pageable = 5e9;
  double to_host_pinned = 12e9, to_host_pageable = 5e9;
  double mapped = 10e9;        // a kernel reads pinned host memory
  double launch_ns = 10e3;     // launch of a kernel and waiting for it
  double compile_ns = 60e6;    // a kernel's text of a usual section
  double multiply_ns = 0.002;  // a 64-bit multiply-add, all units at work
  bool is_short = true;        // measured in passing, without a kernel
};

struct MachineCalibration {
  HostCalibration host;
  std::map<std::string, DeviceCalibration> devices;  // by name and driver
};

// "AMD EPYC 9654, 16 threads"
std::string machine_key();

// DIPTYCH_CALIBRATION, else calibration.json in diptych/ of XDG_CONFIG_HOME or ~/.config; empty where the environment
// names no place.
std::string calibration_path();

// This machine's part of the file. Nothing when it is missing, unreadable or not what was written.
std::optional<MachineCalibration> read_calibration(const std::string& path);
// Replaces this machine's part of the file and keeps the others'. Errors: 58030.
void write_calibration(const std::string& path, const MachineCalibration& calibration);
// Whether write_calibration could: makes the file's folder, and writes and removes a draft. Errors: 58030.
void check_calibration_writable(const std::string& path);

}  // namespace diptych
