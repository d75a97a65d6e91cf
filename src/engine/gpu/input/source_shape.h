// How the columns that a section reads are stored, found without moving them to a device: for choosing an engine before
// anything is moved, and for showing a kernel that nobody runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/input/column_segment.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

// Of the tablets of the source that the section behind the Parallel at `address` needs; one that does not tell is
// pinned. Errors: those of TabletSource::pin().
SectionShape find_source_shape(const Program& program, int32_t address, const TabletSource& source);

// The same, or nothing where a tablet does not tell. all_alike: nor where tablets are stored in several ways, so that
// batches of them may have other shapes.
std::optional<SectionShape> find_known_shape(const Program& program, int32_t address, const TabletSource& source,
                                             bool all_alike);

// Adds what the device decides.
void add_device(const Device& device, SectionShape& shape);

// Whether a kernel that reads one reads the other.
bool is_stored_alike(const SegmentTablet& a, const SegmentTablet& b);

// How a column is stored in no tablet (as it is in registers; strings as numbers are), and what each of its tablets
// adds to that. dictionary: that of the tablets so far; unsupported: set when no kernel can read them together.
ColumnShape empty_shape(const TabletSource& source, size_t column);
// Then the source's part in it.
void add_source(const TabletSource& source, ColumnShape& shape);
void add_to_shape(const SegmentTablet& tablet, bool is_first, ColumnShape& shape, const Dictionary*& dictionary,
                  std::string& unsupported);

}  // namespace diptych::gpu
