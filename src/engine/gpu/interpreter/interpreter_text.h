// The text of the interpreter: one kernel that runs any section as steps in device memory. It is the same for all
// programs, so that a device compiles it once.
#pragma once

#include <string>

#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

inline constexpr int interpreter_rows = 16;  // of a work-item

// Steps of a tile whose passed rows a work-item can remember.
inline constexpr int interpreter_steps = 64 / interpreter_rows;

// The words of its parameters, in the order that interpret.h reads them.
inline constexpr KernelParameter::Kind interpreter_parameters[] = {
    KernelParameter::Kind::Tablets,        KernelParameter::Kind::TabletCount,  KernelParameter::Kind::TileCount,
    KernelParameter::Kind::TilesPerTablet, KernelParameter::Kind::StepsPerTile, KernelParameter::Kind::Control,
    KernelParameter::Kind::TileStatus,     KernelParameter::Kind::Capacity,     KernelParameter::Kind::Partials,
    KernelParameter::Kind::Section,        KernelParameter::Kind::ControlReport};

// with_functions: the larger kernel, which has the functions of SQL besides the operators.
const KernelText& interpreter_text(bool with_functions);

}  // namespace diptych::gpu
