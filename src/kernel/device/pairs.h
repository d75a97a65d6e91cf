// The pairs of a team's rows with the rows that each of them has met, shared out evenly among the team's items.
//
//   counts of rows 0, 1, 2, 3     0, 3, 0, 1
//   lines                         row 1 from pair 0 on | row 3 from pair 3 on
//   pair 2                        line 0, row 1: the third that it has met
//
// A row counts for so many pairs at a time, so that those of a team fit 32 bits.
#pragma once

#define DK_PAIRS_AT_A_TIME 262144U

// That a team may count in a tile, so that those of a work-group fit 32 bits; an item alone may count a 32nd of them.
#define DK_MOST_PAIRS 268435456U

// After so many turns of a team it looks whether the host has stopped the kernel: a word beyond the bus, often enough
// to end within milliseconds.
#define DK_TURNS_BEFORE_LOOK 1024U

// Called by a whole team.
DK_SHARED_FN dk_u32 dk_team_is_stopped(DK_GLOBAL const dk_u64* stop, DK_LOCAL dk_u64* scratch) {
  return dk_team_first_u32((dk_u32)dk_atomic_load_global_u64(stop), scratch);
}

DK_FN dk_u32 dk_pairs_left(dk_u32 count, dk_u32 skip) {
  const dk_u32 left = count > skip ? count - skip : 0;
  return left < DK_PAIRS_AT_A_TIME ? left : DK_PAIRS_AT_A_TIME;
}

// Lists the rows that have more than `skip` pairs; returns how many pairs they have now. starts, rows: of the team,
// with room for all of its rows. The caller waits for the team before it reads them.
DK_SHARED_FN dk_u32 dk_list_pairs(DK_LOCAL dk_u32* starts, DK_LOCAL dk_u16* rows, DK_PRIVATE const dk_u32* counts,
                                  dk_u32 skip, DK_LOCAL dk_u64* scratch, DK_PRIVATE dk_u32* lines) {
  dk_u32 mine = 0, my_lines = 0, total;
  DK_FOR_ROWS(k) {
    const dk_u32 pairs = dk_pairs_left(counts[k], skip);
    mine += pairs;
    my_lines += pairs != 0 ? 1U : 0U;
  }
  dk_u32 start = dk_team_scan_u32(mine, scratch, &total);
  dk_u32 line = dk_team_scan_u32(my_lines, scratch, lines);
  DK_TEAM_BARRIER();
  DK_FOR_ROWS(k) {
    const dk_u32 pairs = dk_pairs_left(counts[k], skip);
    if (pairs != 0) {
      starts[line] = start;
      rows[line] = (dk_u16)(DK_LANE * DK_ROWS + k);
      line++;
    }
    start += pairs;
  }
  return total;
}

// The line of a pair: the last that does not start behind it.
DK_NEAR dk_u32 dk_find_pair(DK_LOCAL const dk_u32* starts, dk_u32 lines, dk_u32 total, dk_u32 pair) {
  if (lines == total) return pair;
  dk_u32 low = 0, high = lines - 1;
  while (low < high) {
    const dk_u32 middle = (low + high + 1) >> 1;
    if (starts[middle] <= pair) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}
