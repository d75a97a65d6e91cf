// Where the registers of a section keep their values: registers that are never in use at the same time share a place.
//
//   address     0   1   2   3   4   5
//   r0  place 0 w-------r                 in use from the first opcode that writes it to the last one that reads it
//   r1  place 1     w-------r
//   r2  place 0             w-------r     (steps run in order, and rows only move forward)
//
// A place serves registers of one physical type: where a row is not at an opcode it then still holds a value of the
// type. Constants keep places of their own, with the values of one word, which are the same in all words.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"
#include "program/section_flow.h"

namespace diptych::cpu {

struct RegisterPlace {
  PhysicalType physical = PhysicalType::Int32;
  bool is_constant = false;
};

struct RegisterPlaces {
  std::vector<int32_t> of_register;  // -1: the section does not write it
  std::vector<RegisterPlace> places;
};

// A linear scan over the section's addresses (Poletto and Sarkar, Linear Scan Register Allocation, 1999), without
// spilling.
RegisterPlaces place_registers(const Program& program, const SectionFlow& flow);

}  // namespace diptych::cpu
