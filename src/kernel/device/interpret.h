// The interpreter's kernel: runs any section as steps in device memory (interpreter_codes.h). It is the same for all
// programs, so that a device compiles it once. The text before it defines the operations:
//
//   dk_value_case, dk_compare_case    of a quad of rows, operands of at most 8 bytes
//   dk_row_case                       of one row
//
// Tiles and teams are those of generated kernels: where rows are written, the steps of a tile first tell which passed,
// and then these are written where they belong (interpreter_rows.h). The steps run again only if what is written was
// computed.
#pragma once

// Steps that work on values of the `active` rows, quad by quad; returns the rows for which a condition holds. *known:
// those of which all operands are not NULL; in the end, of which the result is not.
DK_NEAR dk_u32 dk_run_quads(DK_SPACES_PARAM, DK_LOCAL const dk_u64* step, DK_LOCAL const dk_u64* table,
                            DK_LOCAL const dk_u64* tablet, dk_i64 first, dk_u32 active, DK_PRIVATE dk_u32* known,
                            DK_PRIVATE dk_u64* registers, DK_PRIVATE const dk_u32* masks, DK_PRIVATE dk_u64* states,
                            DK_PRIVATE dk_u64* failure) {
  const dk_u32 what = DK_LOW_HALF(step[0]);
  const dk_u32 kind = what & 255U;
  const dk_u32 case_number = (what >> 8) & 0xFFFFU;
  const dk_u32 flags = what >> 24;
  const dk_u32 a_operand = DK_HIGH_HALF(step[0]);
  const dk_u32 b_operand = DK_LOW_HALF(step[1]);
  const dk_u32 out = DK_HIGH_HALF(step[1]);
  dk_u32 holds = 0;
  for (dk_i32 at = 0; at < DK_ROWS; at += DK_QUAD_ROWS) {
    const dk_u32 rows = active >> at & ((1U << DK_QUAD_ROWS) - 1);
    if (rows == 0) continue;
    const dk_u32 live = rows & *known >> at;
    dk_i64 a[DK_QUAD_ROWS];
    dk_i64 b[DK_QUAD_ROWS];
    dk_fetch_quad(DK_SPACES_ARG, a_operand, table, tablet, first + at, at, registers, masks, a);
    if (kind == DK_STEP_VALUE || kind == DK_STEP_COMPARE) {
      dk_fetch_quad(DK_SPACES_ARG, b_operand, table, tablet, first + at, at, registers, masks, b);
    }
    switch (kind) {
      case DK_STEP_ROWID: {
        DK_FOR_QUAD(k) { a[k] = (dk_i64)tablet[2] + first + at + k; }
        dk_keep_quad(registers, out, at, rows, a);
        break;
      }
      case DK_STEP_MOVE: dk_keep_quad(registers, out, at, rows, a); break;
      case DK_STEP_VALUE: {
        dk_i64 values[DK_QUAD_ROWS];
        const dk_u32 numbers = DK_HIGH_HALF(step[2]);
        dk_i32 error =
            dk_value_case(case_number, a, b, live, (dk_i32)(numbers & 0xFFFFU), (dk_i32)(numbers >> 16), values);
        DK_NOTE_FAILURE(*failure, error, 1, DK_LOW_HALF(step[3]));
        dk_keep_quad(registers, out, at, rows, values);
        break;
      }
      case DK_STEP_COMPARE: holds |= dk_compare_case(case_number, a, b) << at; break;
      case DK_STEP_LOOKUP: {
        const dk_u64 entries = table[DK_OPERAND_PLACE(b_operand)];
        const dk_u64 there = table[DK_OPERAND_PLACE(b_operand) + 1];
        DK_FOR_QUAD(k) {
          if ((live >> k & 1U) != 0) {
            if (DK_AT(const dk_u8, there)[a[k]] == 0) *known &= ~(1U << (at + k));
            a[k] = dk_lookup_entry(DK_SPACES_ARG, entries, case_number, a[k]);
            holds |= (dk_u32)(a[k] != 0) << (at + k);
          }
        }
        if ((flags & DK_SETS) == 0) dk_keep_quad(registers, out, at, rows, a);
        break;
      }
      case DK_STEP_IN: {
        const dk_u64 list = table[DK_OPERAND_PLACE(b_operand)];
        const dk_i32 count = (dk_i32)table[DK_OPERAND_PLACE(b_operand) + 1];
        DK_FOR_QUAD(k) {
          if ((live >> k & 1U) != 0) {
            holds |= (dk_u32)dk_is_listed(DK_SPACES_ARG, case_number, list, count, a[k]) << (at + k);
          }
        }
        break;
      }
      default: {
        if (!dk_update_state(states + out, case_number, flags, rows, a)) {
          states[0] |= (dk_u64)2 << (DK_LOW_HALF(step[2]) & 63U);
        }
      }
    }
  }
  return holds;
}

// A step that works row by row; returns as dk_run_quads does.
DK_NEAR dk_u32 dk_run_by_rows(DK_SPACES_PARAM, DK_LOCAL const dk_u64* step, DK_LOCAL const dk_u64* table,
                              DK_LOCAL const dk_u64* tablet, dk_i64 first, dk_u32 active, DK_PRIVATE dk_u32* known_a,
                              DK_PRIVATE dk_u32* known_b, DK_PRIVATE dk_u32* known, DK_PRIVATE dk_u64* registers,
                              DK_PRIVATE const dk_u32* masks, DK_PRIVATE dk_u64* failure) {
  const dk_u32 what = DK_LOW_HALF(step[0]);
  const dk_bool is_condition = (what >> 24 & (DK_SETS | DK_JUMPS)) != 0;
  DK_LOCAL const dk_u64* operands = table + DK_OPERAND_PLACE(DK_HIGH_HALF(step[0]));
  const dk_u32 count = DK_LOW_HALF(step[1]);
  const dk_u32 numbers = DK_HIGH_HALF(step[2]);
  dk_u32 holds = 0;
  for (dk_u32 i = 0; i < count && active != 0; i++) {
    dk_u32 one = dk_known_operand(DK_SPACES_ARG, DK_LOW_HALF(operands[i]), tablet, first, masks);
    if (i == 0) *known_a = one;
    if (i == 1) *known_b = one;
    *known &= one;
  }
  const dk_u32 live = active & *known;
  for (dk_i32 k = 0; k < DK_ROWS; k++) {
    if ((live >> k & 1U) != 0) {
      dk_i128 x[DK_ROW_OPERANDS];
      for (dk_u32 i = 0; i < count; i++) {
        x[i] = dk_fetch_row(DK_SPACES_ARG, DK_LOW_HALF(operands[i]), table, tablet, first, registers, masks, k);
      }
      dk_i32 error = 0;
      dk_i128 value =
          dk_row_case((what >> 8) & 0xFFFFU, x, (dk_i32)(numbers & 0xFFFFU), (dk_i32)(numbers >> 16), &error);
      DK_NOTE_FAILURE(*failure, error, 1, DK_LOW_HALF(step[3]));
      if (is_condition) {
        holds |= (dk_u32)(value.lo & 1U) << k;
      } else {
        dk_keep_row(registers, DK_HIGH_HALF(step[1]), k, value);
      }
    }
  }
  return holds;
}

// The rows of `taking` whose argument a state takes; those of a state that takes them one by one are taken here.
DK_NEAR dk_u32 dk_begin_aggregate(DK_SPACES_PARAM, DK_LOCAL const dk_u64* step, DK_LOCAL const dk_u64* table,
                                  DK_LOCAL const dk_u64* tablet, dk_i64 first, dk_u32 taking, dk_u32 known,
                                  DK_PRIVATE dk_u64* registers, DK_PRIVATE const dk_u32* masks,
                                  DK_PRIVATE dk_u64* states, DK_PRIVATE dk_u64* failure) {
  const dk_u32 what = DK_LOW_HALF(step[0]);
  const dk_u32 state = (what >> 8) & 0xFFFFU;
  const dk_u32 flags = what >> 24;
  const dk_u32 out = DK_HIGH_HALF(step[1]);
  const dk_u32 rows = taking & known;
  if ((flags & DK_LAST_SINK) != 0) states[DK_HIGH_HALF(step[2])] += DK_POPCOUNT_U32(taking);
  if (rows == 0) return 0;
  states[0] |= (dk_u64)1 << (DK_LOW_HALF(step[2]) & 63U);
  if (state == DK_STATE_COUNT) {
    states[out] += DK_POPCOUNT_U32(rows);
    return 0;
  }
  if (state <= DK_STATE_GREATEST && state != DK_STATE_SUM192) return rows;
  for (dk_i32 k = 0; k < DK_ROWS; k++) {
    if ((rows >> k & 1U) != 0) {
      dk_i32 error = 0;
      dk_i128 value = dk_fetch_row(DK_SPACES_ARG, DK_HIGH_HALF(step[0]), table, tablet, first, registers, masks, k);
      if (!dk_update_state_by_row(states + out, state, flags, value, &error)) {
        states[0] |= (dk_u64)2 << (DK_LOW_HALF(step[2]) & 63U);
      }
      DK_NOTE_FAILURE(*failure, error, 1, DK_LOW_HALF(step[3]));
    }
  }
  return 0;
}

// Runs the steps on the rows from `first` on; returns those that reached the end. tablet: the words of their tablet;
// ranges: placed in it.
DK_NEAR dk_u32 dk_run_steps(DK_SPACES_PARAM, DK_LOCAL const dk_u64* section, DK_LOCAL const dk_u64* tablet,
                            DK_LOCAL const dk_u64* ranges, dk_i64 first, dk_u32 active, DK_PRIVATE dk_u64* registers,
                            DK_PRIVATE dk_u32* masks, DK_PRIVATE dk_u64* states, DK_PRIVATE dk_u64* failure) {
  DK_LOCAL const dk_u64* steps = section + DK_SECTION_HEAD_WORDS;
  DK_LOCAL const dk_u64* table = section + section[DK_SECTION_TABLE];
  dk_u32 valid = active;
  dk_u32 next = 0;
  while (1) {
    DK_LOCAL const dk_u64* step = steps + 4 * next;
    const dk_u32 what = DK_LOW_HALF(step[0]);
    const dk_u32 kind = what & 255U;
    if (kind == DK_STEP_END) break;
    const dk_u32 case_number = (what >> 8) & 0xFFFFU;
    const dk_u32 flags = what >> 24;
    const dk_u32 a_operand = DK_HIGH_HALF(step[0]);
    const dk_u32 b_operand = DK_LOW_HALF(step[1]);
    const dk_u32 out = DK_HIGH_HALF(step[1]);
    const dk_u32 out_known = DK_LOW_HALF(step[2]);
    const dk_u32 skip = DK_HIGH_HALF(step[3]);
    dk_u32 known_a = DK_ALL_ROWS;
    dk_u32 known_b = DK_ALL_ROWS;
    dk_u32 holds = 0;
    next++;
    if (kind == DK_STEP_JOIN) {
      active |= masks[DK_OPERAND_PLACE(a_operand)];
      masks[DK_OPERAND_PLACE(a_operand)] = 0;
      if (!DK_ANY_LANE(active != 0)) next = skip;
      continue;
    }
    if (kind == DK_STEP_DROP) {
      active &= valid;
      continue;
    }
    if (kind == DK_STEP_INVALID) {
      valid &= ~active;
      if ((flags & DK_FINISHES) != 0) active = 0;
      continue;
    }
    if (active != 0 && kind != DK_STEP_ROWS) {
      known_a = dk_known_operand(DK_SPACES_ARG, a_operand, tablet, first, masks);
      known_b = dk_known_operand(DK_SPACES_ARG, b_operand, tablet, first, masks);
    }
    dk_u32 known = known_a & known_b;
    if (kind == DK_STEP_RANGE) {
      if (active != 0) {
        holds = dk_rows_in_range(DK_SPACES_ARG, ranges + case_number * DK_RANGE_WORDS, first, active);
      }
    } else if (kind == DK_STEP_LOGIC) {
      dk_u32 truth_a = 0;
      dk_u32 truth_b = 0;
      if (active != 0 && case_number >= DK_LOGIC_TRUE) {
        truth_a = dk_truth(DK_SPACES_ARG, a_operand, table, tablet, first, masks);
        truth_b = dk_truth(DK_SPACES_ARG, b_operand, table, tablet, first, masks);
      }
      holds = dk_logic_of(case_number, truth_a, known_a, truth_b, known_b, &known);
    } else if (kind == DK_STEP_ROWS) {
      holds = dk_run_by_rows(DK_SPACES_ARG, step, table, tablet, first, active, &known_a, &known_b, &known, registers,
                             masks, failure);
    } else {
      dk_u32 rows = active;
      if (kind == DK_STEP_AGGREGATE) {
        rows = dk_begin_aggregate(DK_SPACES_ARG, step, table, tablet, first, active & valid, known_a, registers, masks,
                                  states, failure);
      }
      holds = dk_run_quads(DK_SPACES_ARG, step, table, tablet, first, rows, &known, registers, masks, states, failure);
      if (kind == DK_STEP_IN && (flags & DK_NULL_UNLESS_TRUE) != 0) known &= holds;
      if (kind == DK_STEP_AGGREGATE) continue;
    }
    if ((flags & (DK_SETS | DK_JUMPS)) == 0) {
      if (out_known != DK_MASK_ALL) dk_set_mask(masks, out_known, active, known);
      continue;
    }
    if ((flags & DK_DISTINCT) != 0) {
      // Of two NULLs neither is distinct from the other; of one NULL and one value both are.
      const dk_u32 both = known_a & known_b;
      holds = (both & holds) | ((flags & DK_NULL_UNLESS_TRUE) != 0 ? ~(known_a | known_b) : known_a ^ known_b);
      known = DK_ALL_ROWS;
    }
    if ((flags & DK_SETS) != 0) {
      dk_set_mask(masks, (dk_u32)DK_OPERAND_PLACE(out), active, holds);
      if (out_known != DK_MASK_ALL) dk_set_mask(masks, out_known, active, known);
      continue;
    }
    const dk_u32 taken = active & ((flags & DK_JUMPS_IF_NULL) != 0 ? holds | ~known : holds & known);
    active &= ~taken;
    if ((flags & DK_FINISHES) == 0) {
      if ((flags & DK_MAKES_VALID) != 0) valid |= taken;
      if ((flags & DK_MAKES_INVALID) != 0) valid &= ~taken;
      if (DK_OPERAND_FORM(out) == DK_AT_MASK) masks[DK_OPERAND_PLACE(out)] |= taken;
    }
    if (!DK_ANY_LANE(active != 0)) next = skip;
  }
  return active & valid;
}

// The states of all work-items of the group into the partial states, one after the other through the stage.
DK_NEAR void dk_write_states(DK_LOCAL const dk_u64* section, DK_PRIVATE dk_u64* states, DK_LOCAL dk_u64* stage,
                             DK_GLOBAL dk_u64* partials, DK_GLOBAL dk_u64* rows_out) {
  DK_LOCAL const dk_u64* list = section + section[DK_SECTION_STATES];
  const dk_i32 count = (dk_i32)section[DK_SECTION_STATE_COUNT];
  const dk_i32 words_in_all = (dk_i32)DK_LOW_HALF(list[4 * (count - 1)]) >> 8;
  DK_GLOBAL dk_u64* partial = partials + (dk_i64)DK_GROUP_ID * words_in_all;
  for (dk_i32 i = 0; i < count; i++) {
    const dk_u32 state = DK_LOW_HALF(list[4 * i]) & 255U;
    const dk_i32 first = (dk_i32)DK_LOW_HALF(list[4 * i]) >> 8;
    const dk_i32 words = (dk_i32)DK_HIGH_HALF(list[4 * i]);
    for (dk_i32 j = 0; j < words; j++) stage[DK_LOCAL_ID * 3 + j] = states[first + j];
    DK_BARRIER();
    for (dk_i32 others = DK_GROUP_SIZE / 2; others > 0; others >>= 1) {
      if (DK_LOCAL_ID < others) {
        dk_u64 more[3];
        DK_UNROLL for (dk_i32 j = 0; j < 3; j++) { more[j] = stage[(DK_LOCAL_ID + others) * 3 + j]; }
        dk_combine_states(states + first, state, more);
        for (dk_i32 j = 0; j < words; j++) stage[DK_LOCAL_ID * 3 + j] = states[first + j];
      }
      DK_BARRIER();
    }
    if (DK_LOCAL_ID == 0) {
      if (i == count - 1) {
        dk_atomic_add_global_u64(rows_out, states[first]);
      } else {
        for (dk_i32 j = 0; j < words; j++) partial[first + j] = states[first + j];
      }
    }
    DK_BARRIER();
  }
}

// Costly operations would take registers from all; 3 groups of 256 leave 80.
DK_KERNEL_OF(3)
void interpret_section(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  DK_SHARED dk_u64 section[DK_SECTION_ROOM];
  DK_SHARED dk_u64 tablet[DK_TABLET_ROOM];
  DK_SHARED dk_u64 ranges[DK_RANGE_ROOM * DK_RANGE_WORDS];
  DK_SHARED dk_u16 passed[64 / DK_ROWS * DK_GROUP_SIZE];
  DK_SHARED dk_u16 picked_rows[DK_PICK_ROWS * (DK_GROUP_SIZE / DK_TEAM_SIZE)];
  DK_SHARED dk_u64 stage_values[DK_STAGE_VALUES * (DK_GROUP_SIZE / DK_TEAM_SIZE)];
  DK_LOCAL dk_u16* picked = picked_rows + DK_TEAM * DK_PICK_ROWS;
  DK_LOCAL dk_u64* stage = stage_values + DK_TEAM * DK_STAGE_VALUES;
  DK_GLOBAL const dk_u64* tablets = DK_AT(const dk_u64, parameters.word[0]);
  const dk_i64 tiles = (dk_i64)parameters.word[2];
  const dk_i32 steps = (dk_i32)parameters.word[4];
  const dk_u64 capacity = parameters.word[7];
  DK_GLOBAL dk_u64* control = DK_AT(dk_u64, parameters.word[5]);
  DK_GLOBAL const dk_u64* given = DK_AT(const dk_u64, parameters.word[9]);
  const dk_i32 section_words = (dk_i32)given[DK_SECTION_WORDS_USED];
  for (dk_i32 i = DK_LOCAL_ID; i < section_words; i += DK_GROUP_SIZE) section[i] = given[i];
  DK_BARRIER();
  const dk_i32 tablet_words = (dk_i32)section[DK_SECTION_TABLET_WORDS];
  const dk_i32 range_count = (dk_i32)section[DK_SECTION_RANGE_COUNT];
  const dk_i32 pass_count = (dk_i32)section[DK_SECTION_PASS_COUNT];
  const dk_bool reruns = section[DK_SECTION_RERUNS] != 0;
  const dk_i32 state_count = (dk_i32)section[DK_SECTION_STATE_COUNT];
  DK_LOCAL const dk_u64* table = section + section[DK_SECTION_TABLE];
  DK_LOCAL const dk_u64* passes = section + section[DK_SECTION_PASSES];
  dk_u64 registers[DK_VALUE_ROOM * DK_ROWS];
  dk_u32 masks[DK_MASK_ROOM];
  dk_u64 states[DK_STATE_ROOM];
  dk_u64 failure = 0;
  for (dk_i32 i = 0; i < DK_MASK_ROOM; i++) masks[i] = i == DK_MASK_ALL ? DK_ALL_ROWS : 0;
  for (dk_i32 i = 0; i < state_count; i++) {
    DK_LOCAL const dk_u64* state = section + section[DK_SECTION_STATES] + 4 * i;
    const dk_i32 words = (dk_i32)DK_HIGH_HALF(state[0]);
    for (dk_i32 j = 0; j < words; j++) states[((dk_i32)DK_LOW_HALF(state[0]) >> 8) + j] = state[1 + j];
  }
  for (dk_i64 tile = dk_next_tile(control, scratch); tile < tiles; tile = dk_next_tile(control, scratch)) {
    const dk_i64 number =
        dk_find_tablet(tablets, tablet_words, (dk_i64)parameters.word[1], (dk_i64)parameters.word[3], tile);
    for (dk_i32 i = DK_LOCAL_ID; i < tablet_words; i += DK_GROUP_SIZE) tablet[i] = tablets[number * tablet_words + i];
    DK_BARRIER();
    for (dk_i32 i = DK_LOCAL_ID; i < range_count; i += DK_GROUP_SIZE) {
      dk_place_range(section + section[DK_SECTION_RANGES] + 3 * i, tablet, ranges + i * DK_RANGE_WORDS);
    }
    DK_BARRIER();
    const dk_i64 tablet_rows = (dk_i64)tablet[0];
    const dk_i64 start = (tile - (dk_i64)tablet[1]) * steps * (DK_GROUP_SIZE * DK_ROWS) +
                         (dk_i64)DK_TEAM * steps * (DK_TEAM_SIZE * DK_ROWS);
    const dk_i64 steps_left = (tablet_rows - start + (DK_TEAM_SIZE * DK_ROWS - 1)) / (DK_TEAM_SIZE * DK_ROWS);
    const dk_i32 steps_done = steps_left < steps ? (dk_i32)steps_left : steps;
    dk_u32 mine = 0;
    dk_u32 all = 0;
    dk_u64 place = 0;
    // The second turn makes the values again that are to be written.
    for (dk_i32 turn = 0; turn == 0 || (turn == 1 && reruns && all != 0); turn++) {
      for (dk_i32 step = 0; step < steps_done; step++) {
        const dk_i64 first = start + (dk_i64)step * (DK_TEAM_SIZE * DK_ROWS) + DK_LANE * DK_ROWS;
        const dk_u32 rows =
            dk_run_steps(DK_SPACES_ARG, section, tablet, ranges, first, dk_rows_left((dk_i32)(tablet_rows - first)),
                         registers, masks, states, &failure);
        if (turn == 0) {
          passed[step * DK_GROUP_SIZE + DK_LOCAL_ID] = (dk_u16)rows;
          mine += DK_POPCOUNT_U32(rows);
          continue;
        }
        dk_u32 total;
        const dk_u32 position = dk_team_scan_u32(DK_POPCOUNT_U32(rows), scratch, &total);
        const dk_u64 room = place < capacity ? capacity - place : 0;
        for (dk_i32 i = 0; i < pass_count; i++) {
          dk_stage_pass(DK_SPACES_ARG, passes + 2 * i, table, tablet, first, rows, position,
                        total < room ? total : (dk_u32)room, place, registers, masks, stage);
        }
        place += total;
      }
      if (turn == 0 && pass_count != 0) {
        const dk_u32 before = dk_block_scan_u32(mine, scratch, &all);
        place = dk_look_back(DK_AT(dk_u64, parameters.word[6]), tile, all, scratch);
        if (tile == tiles - 1 && DK_LOCAL_ID == 0) control[1] = place + all;
        place += dk_team_first_u32(before, scratch);
      }
    }
    for (dk_i32 step = 0; step < steps_done && all != 0 && !reruns; step += DK_PICK_STEPS) {
      const dk_u32 total = dk_pick_rows(passed, step, steps_done, picked, scratch);
      const dk_u64 room = place < capacity ? capacity - place : 0;
      const dk_i64 batch = start + (dk_i64)step * (DK_TEAM_SIZE * DK_ROWS);
      for (dk_i32 i = 0; i < pass_count && total != 0; i++) {
        dk_gather_pass(DK_SPACES_ARG, passes + 2 * i, table, tablet, batch, picked, total < room ? total : (dk_u32)room,
                       place);
      }
      place += total;
      DK_TEAM_BARRIER();
    }
    if (failure != 0) dk_show_failure(control, failure);
  }
  if (state_count != 0) {
    dk_write_states(section, states, stage_values, DK_AT(dk_u64, parameters.word[8]), control + 1);
  }
  dk_report(control, DK_AT(dk_u64, parameters.word[10]));
}
