// Which form an index has on a device, before it is built, and whether it has one at all.
#pragma once

#include <string>

#include "engine/gpu/section_kernel.h"
#include "program/program.h"

namespace diptych::gpu {

// Of so many rows, with NULLs wherever there may be some. Keys are taken to be unique unless rows are expected to
// repeat them, and this is a guess where they are expected not to. repeat: what is known of that.
IndexShape planned_index(const Program& program, int32_t index, int64_t rows, KeysRepeat repeat);

// Places of a dense index, of which there is one.
int64_t places_of(const Program& program, int32_t index);

// Adds the indexes that the section's rows meet, as they are expected to be before there are any.
void add_expected_indexes(const Program& program, int32_t address, SectionShape& shape);

// Why no device builds it, whatever its rows are; empty: one does.
std::string why_not_built(const Program& program, int32_t index);
// The same, or why it would be built there in vain: a section whose rows meet it meets another one that is not.
std::string why_not_met(const Program& program, int32_t index);
// Why no device runs the section for the sake of the indexes that its rows meet or are made for; empty: one may.
std::string why_no_join(const Program& program, int32_t address);

}  // namespace diptych::gpu
