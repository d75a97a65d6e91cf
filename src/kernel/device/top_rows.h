// The first rows in the order of their words, for a small limit and without the host: by radix select over the words
// one after the other, after T. Alabi et al.: Fast K-selection Algorithms for Graphics Processing Units (2012).
//
//   dk_top_begin   one group: all rows are alike so far
//   dk_top_step    finds the bits of the word at hand in which rows that are alike so far differ; or, of these bits,
//                  how many rows have each next digit. The group that is done last chooses the digit of the last row
//                  wanted, or the next word. To be launched DK_TOP_STEPS times a word: steps too many end at once
//   dk_top_tally   of each group, how many rows come before those that are alike, and how many are alike; dk_run_scan
//                  makes prefix sums of both
//   dk_top_rows    the numbers of the rows before, and of the first that are alike
//   dk_top_sort    one group: these rows in order
//
// Parameters of all: state, counts of digits (0 at first), tallies, numbers, order; then what dk_top_begin alone reads:
// address of how many rows there are, at most so many, the limit; then how many words a row has, and their addresses.
#pragma once

#define DK_TOP_STEPS 7
#define DK_TOP_DIGIT_BITS 11
#define DK_TOP_DIGITS 2048
// Rows that one group sorts. Fewer are wanted, so that most often the last digits need not be looked at.
#define DK_TOP_ROOM 2048
#define DK_TOP_MOST_WORDS 16

// The state, in words of 64 bits.
#define DK_TOP_STATE_ROWS 0
#define DK_TOP_STATE_WANTED 1
#define DK_TOP_STATE_WORD 2    // at hand
#define DK_TOP_STATE_SHIFT 3   // its bits below this one are not chosen yet; 64: none is
#define DK_TOP_STATE_PREFIX 4  // those above it
#define DK_TOP_STATE_BEFORE 5  // rows that come before those that are alike
#define DK_TOP_STATE_ALIKE 6
#define DK_TOP_STATE_IS_DONE 7
#define DK_TOP_STATE_GROUPS_DONE 8
#define DK_TOP_STATE_HAS_RANGE 9  // where the word differs between rows that are alike is known
#define DK_TOP_STATE_LEAST 10     // of the word, among these rows
#define DK_TOP_STATE_GREATEST 11
#define DK_TOP_STATE_EXACT 12  // the words before the one at hand
#define DK_TOP_STATE_WORDS (DK_TOP_STATE_EXACT + DK_TOP_MOST_WORDS)

#define DK_TOP_WORD(number, row) (DK_AT(dk_u64, parameters.word[9 + (number)])[row])

// Of the chosen bits: whether a row comes before the rows that are alike, is one of them, or comes after.
#define DK_TOP_BEFORE 0
#define DK_TOP_ALIKE 1
#define DK_TOP_AFTER 2
#define DK_TOP_PLACE(row, place)                                                    \
  {                                                                                 \
    (place) = DK_TOP_ALIKE;                                                         \
    for (dk_i32 w = 0; w < word && (place) == DK_TOP_ALIKE; w++) {                  \
      dk_u64 exact = state[DK_TOP_STATE_EXACT + w];                                 \
      dk_u64 value = DK_TOP_WORD(w, row);                                           \
      if (value != exact) (place) = value < exact ? DK_TOP_BEFORE : DK_TOP_AFTER;   \
    }                                                                               \
    if ((place) == DK_TOP_ALIKE && shift < 64) {                                    \
      dk_u64 value = DK_TOP_WORD(word, row) >> shift;                               \
      if (value != prefix) (place) = value < prefix ? DK_TOP_BEFORE : DK_TOP_AFTER; \
    }                                                                               \
  }

// The next word begins with nothing known of it.
DK_FN void dk_top_next_word(DK_GLOBAL dk_u64* state, dk_u64 word) {
  state[DK_TOP_STATE_WORD] = word;
  state[DK_TOP_STATE_SHIFT] = 64;
  state[DK_TOP_STATE_PREFIX] = 0;
  state[DK_TOP_STATE_HAS_RANGE] = 0;
  state[DK_TOP_STATE_LEAST] = ~DK_U64(0);
  state[DK_TOP_STATE_GREATEST] = 0;
}

DK_KERNEL void dk_top_begin(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  if (DK_LOCAL_ID != 0) return;
  DK_GLOBAL dk_u64* state = DK_AT(dk_u64, parameters.word[0]);
  dk_u64 rows = *DK_AT(dk_u64, parameters.word[5]);
  rows = rows < parameters.word[6] ? rows : parameters.word[6];
  dk_top_next_word(state, 0);
  state[DK_TOP_STATE_ROWS] = rows;
  state[DK_TOP_STATE_WANTED] = rows < parameters.word[7] ? rows : parameters.word[7];
  state[DK_TOP_STATE_BEFORE] = 0;
  state[DK_TOP_STATE_ALIKE] = rows;
  state[DK_TOP_STATE_IS_DONE] = rows <= DK_TOP_ROOM;
  state[DK_TOP_STATE_GROUPS_DONE] = 0;
}

// The least and the greatest of the word are known. One work-item.
DK_FN void dk_top_choose_bits(DK_GLOBAL dk_u64* state, dk_u64 word, dk_u64 words) {
  dk_u64 least = dk_atomic_load_global_u64(state + DK_TOP_STATE_LEAST);
  dk_u64 differing = least ^ dk_atomic_load_global_u64(state + DK_TOP_STATE_GREATEST);
  dk_u64 bits = 0;
  for (; bits < 64 && differing >> bits != 0; bits++) continue;
  if (bits > 0 || word + 1 == words) {
    state[DK_TOP_STATE_SHIFT] = bits;
    state[DK_TOP_STATE_PREFIX] = bits < 64 ? least >> bits : 0;
    state[DK_TOP_STATE_HAS_RANGE] = 1;
    if (bits == 0) state[DK_TOP_STATE_IS_DONE] = 1;
  } else {
    state[DK_TOP_STATE_EXACT + word] = least;
    dk_top_next_word(state, word + 1);
  }
}

// The digit of the last row wanted is known, with how many rows come before those that have it.
DK_FN void dk_top_choose_digit(DK_GLOBAL dk_u64* state, dk_u64 shift, dk_u64 digit, dk_u64 before, dk_u64 alike,
                               dk_u64 words) {
  dk_u64 word = state[DK_TOP_STATE_WORD];
  dk_u64 width = shift < DK_TOP_DIGIT_BITS ? shift : DK_TOP_DIGIT_BITS;
  dk_u64 prefix = state[DK_TOP_STATE_PREFIX] << width | digit;
  state[DK_TOP_STATE_SHIFT] = shift - width;
  state[DK_TOP_STATE_PREFIX] = prefix;
  state[DK_TOP_STATE_BEFORE] = before;
  state[DK_TOP_STATE_ALIKE] = alike;
  if (before + alike <= DK_TOP_ROOM || (shift == width && word + 1 == words)) {
    state[DK_TOP_STATE_IS_DONE] = 1;
  } else if (shift == width) {
    state[DK_TOP_STATE_EXACT + word] = prefix;
    dk_top_next_word(state, word + 1);
  }
}

DK_KERNEL void dk_top_step(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SHARED dk_u32 tally[DK_TOP_DIGITS];
  DK_SCRATCH(scratch);
  DK_GLOBAL dk_u64* state = DK_AT(dk_u64, parameters.word[0]);
  DK_GLOBAL dk_u32* counts = DK_AT(dk_u32, parameters.word[1]);
  // Written by the group that is done last, when all others have read it.
  if (state[DK_TOP_STATE_IS_DONE] != 0) return;
  const dk_i64 rows = (dk_i64)state[DK_TOP_STATE_ROWS];
  const dk_i32 word = (dk_i32)state[DK_TOP_STATE_WORD];
  const dk_i32 shift = (dk_i32)state[DK_TOP_STATE_SHIFT];
  const dk_u64 prefix = state[DK_TOP_STATE_PREFIX];
  const dk_u64 before = state[DK_TOP_STATE_BEFORE];
  const dk_u64 needed = state[DK_TOP_STATE_WANTED] - before;
  const dk_bool has_range = state[DK_TOP_STATE_HAS_RANGE] != 0;
  const dk_i32 next = shift < DK_TOP_DIGIT_BITS ? 0 : shift - DK_TOP_DIGIT_BITS;
  const dk_u64 mask = (DK_U64(1) << (shift - next)) - 1;
  const dk_i64 distance = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  dk_u64 least = ~DK_U64(0);
  dk_u64 greatest = 0;
  for (dk_i32 i = DK_LOCAL_ID; i < DK_TOP_DIGITS; i += DK_GROUP_SIZE) tally[i] = 0;
  DK_BARRIER();
  for (dk_i64 row = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; row < rows; row += distance) {
    dk_i32 place;
    DK_TOP_PLACE(row, place);
    if (place != DK_TOP_ALIKE) continue;
    dk_u64 value = DK_TOP_WORD(word, row);
    if (has_range) {
      dk_atomic_add_local_u32(&tally[value >> next & mask], 1);
    } else {
      least = value < least ? value : least;
      greatest = value > greatest ? value : greatest;
    }
  }
  DK_BARRIER();
  if (has_range) {
    for (dk_i32 i = DK_LOCAL_ID; i < DK_TOP_DIGITS; i += DK_GROUP_SIZE) {
      if (tally[i] != 0) dk_atomic_add_global_u32(&counts[i], tally[i]);
    }
  } else {
    least = dk_block_min_u64(least, scratch);
    greatest = dk_block_max_u64(greatest, scratch);
    if (DK_LOCAL_ID == 0) {
      dk_atomic_min_global_u64(state + DK_TOP_STATE_LEAST, least);
      dk_atomic_max_global_u64(state + DK_TOP_STATE_GREATEST, greatest);
    }
  }
  DK_FENCE_GLOBAL();
  DK_BARRIER();
  dk_u64 is_last = 0;
  if (DK_LOCAL_ID == 0)
    is_last = dk_atomic_add_global_u64(state + DK_TOP_STATE_GROUPS_DONE, 1) + 1 == (dk_u64)DK_GROUP_COUNT;
  is_last = dk_block_broadcast_u64(is_last, scratch);
  // Nothing returns from here: PoCL (3.1) takes a way out of the kernel behind a barrier for one that all work-items
  // take.
  if (is_last != 0) {
    DK_FENCE_GLOBAL();
    if (has_range) {
      dk_u32 sum = 0;
      for (dk_i32 i = 0; i < DK_TOP_DIGITS / DK_GROUP_SIZE; i++)
        sum += dk_atomic_load_global_u32(counts + DK_LOCAL_ID * (DK_TOP_DIGITS / DK_GROUP_SIZE) + i);
      dk_u32 total = 0;
      dk_u64 passed = dk_block_scan_u32(sum, scratch, &total);
      for (dk_i32 i = 0; i < DK_TOP_DIGITS / DK_GROUP_SIZE; i++) {
        dk_i32 digit = DK_LOCAL_ID * (DK_TOP_DIGITS / DK_GROUP_SIZE) + i;
        dk_u64 count = dk_atomic_load_global_u32(counts + digit);
        counts[digit] = 0;
        if (passed < needed && needed <= passed + count)
          dk_top_choose_digit(state, (dk_u64)shift, (dk_u64)digit, before + passed, count, parameters.word[8]);
        passed += count;
      }
    } else if (DK_LOCAL_ID == 0) {
      dk_top_choose_bits(state, (dk_u64)word, parameters.word[8]);
    }
    if (DK_LOCAL_ID == 0) state[DK_TOP_STATE_GROUPS_DONE] = 0;
  }
}

// How many of the rows that are alike are among the numbers.
DK_FN dk_u64 dk_top_taken(DK_GLOBAL const dk_u64* state) {
  dk_u64 before = state[DK_TOP_STATE_BEFORE];
  dk_u64 alike = state[DK_TOP_STATE_ALIKE];
  return before + alike <= DK_TOP_ROOM ? alike : state[DK_TOP_STATE_WANTED] - before;
}

#define DK_TOP_READ_STATE()                                             \
  DK_GLOBAL dk_u64* state = DK_AT(dk_u64, parameters.word[0]);          \
  DK_GLOBAL dk_u32* tallies = DK_AT(dk_u32, parameters.word[2]);        \
  const dk_i64 rows = (dk_i64)state[DK_TOP_STATE_ROWS];                 \
  const dk_i32 word = (dk_i32)state[DK_TOP_STATE_WORD];                 \
  const dk_i32 shift = (dk_i32)state[DK_TOP_STATE_SHIFT];               \
  const dk_u64 prefix = state[DK_TOP_STATE_PREFIX];                     \
  const dk_i64 first = dk_run_start(rows, DK_GROUP_ID, DK_GROUP_COUNT); \
  const dk_i64 end = dk_run_start(rows, DK_GROUP_ID + 1, DK_GROUP_COUNT)

DK_KERNEL void dk_top_tally(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  DK_TOP_READ_STATE();
  dk_u32 before = 0;
  dk_u32 alike = 0;
  for (dk_i64 row = first + DK_LOCAL_ID; row < end; row += DK_GROUP_SIZE) {
    dk_i32 place;
    DK_TOP_PLACE(row, place);
    before += place == DK_TOP_BEFORE;
    alike += place == DK_TOP_ALIKE;
  }
  before = dk_block_sum_u32(before, scratch);
  alike = dk_block_sum_u32(alike, scratch);
  // No return behind a barrier, as in dk_top_step.
  if (DK_LOCAL_ID == 0) {
    tallies[DK_GROUP_ID] = before;
    tallies[DK_GROUP_COUNT + DK_GROUP_ID] = alike;
  }
}

DK_KERNEL void dk_top_rows(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  DK_TOP_READ_STATE();
  DK_GLOBAL dk_u32* numbers = DK_AT(dk_u32, parameters.word[3]);
  const dk_u32 all_before = (dk_u32)state[DK_TOP_STATE_BEFORE];
  const dk_u32 taken = (dk_u32)dk_top_taken(state);
  dk_u32 next_before = tallies[DK_GROUP_ID];
  dk_u32 next_alike = tallies[DK_GROUP_COUNT + DK_GROUP_ID];
  for (dk_i64 start = first; start < end; start += DK_RUN_TILE) {
    dk_i64 mine = start + DK_LOCAL_ID * DK_RUN_ROWS;
    dk_u32 before = 0;
    dk_u32 alike = 0;
    for (dk_i32 i = 0; i < DK_RUN_ROWS; i++) {
      dk_i32 place = DK_TOP_AFTER;
      if (mine + i < end) DK_TOP_PLACE(mine + i, place);
      before |= (dk_u32)(place == DK_TOP_BEFORE) << i;
      alike |= (dk_u32)(place == DK_TOP_ALIKE) << i;
    }
    dk_u32 total = 0;
    dk_u32 at = next_before + dk_block_scan_u32(DK_POPCOUNT_U32(before), scratch, &total);
    next_before += total;
    for (; before != 0; before &= before - 1) numbers[at++] = (dk_u32)(mine + DK_CTZ_U32(before));
    at = next_alike + dk_block_scan_u32(DK_POPCOUNT_U32(alike), scratch, &total);
    next_alike += total;
    for (; alike != 0 && at < taken; alike &= alike - 1)
      numbers[all_before + at++] = (dk_u32)(mine + DK_CTZ_U32(alike));
  }
}

// A bitonic sort, K. E. Batcher: Sorting Networks and their Applications (1968). Rows that are equal in all words stay
// in the order of their numbers; the greatest number, which no row has, fills up to a power of two.
DK_KERNEL void dk_top_sort(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SHARED dk_u64 firsts[DK_TOP_ROOM];
  DK_SHARED dk_u32 sorted[DK_TOP_ROOM];
  DK_GLOBAL const dk_u64* state = DK_AT(dk_u64, parameters.word[0]);
  DK_GLOBAL const dk_u32* numbers = DK_AT(dk_u32, parameters.word[3]);
  DK_GLOBAL dk_u32* order = DK_AT(dk_u32, parameters.word[4]);
  const dk_i32 limit = (dk_i32)parameters.word[7];
  const dk_i32 words = (dk_i32)parameters.word[8];
  const dk_i32 wanted = (dk_i32)state[DK_TOP_STATE_WANTED];
  const dk_i32 count = (dk_i32)(state[DK_TOP_STATE_BEFORE] + dk_top_taken(state));
  dk_i32 room = 2;
  for (; room < count; room *= 2) continue;
  for (dk_i32 i = DK_LOCAL_ID; i < room; i += DK_GROUP_SIZE) {
    sorted[i] = i < count ? numbers[i] : ~0U;
    firsts[i] = i < count ? DK_TOP_WORD(0, sorted[i]) : ~DK_U64(0);
  }
  DK_BARRIER();
  for (dk_i32 length = 2; length <= room; length *= 2) {
    for (dk_i32 step = length / 2; step > 0; step /= 2) {
      for (dk_i32 i = DK_LOCAL_ID; i < room / 2; i += DK_GROUP_SIZE) {
        const dk_i32 a = 2 * i - (i & (step - 1));
        const dk_i32 b = a + step;
        const dk_u32 row_a = sorted[a];
        const dk_u32 row_b = sorted[b];
        dk_bool b_is_less = row_b < row_a;
        if (firsts[a] != firsts[b]) {
          b_is_less = firsts[b] < firsts[a];
        } else if (row_a != ~0U && row_b != ~0U) {
          for (dk_i32 w = 1; w < words; w++) {
            const dk_u64 word_a = DK_TOP_WORD(w, row_a);
            const dk_u64 word_b = DK_TOP_WORD(w, row_b);
            if (word_a == word_b) continue;
            b_is_less = word_b < word_a;
            break;
          }
        }
        if (b_is_less == ((a & length) == 0)) {
          const dk_u64 first_a = firsts[a];
          firsts[a] = firsts[b];
          firsts[b] = first_a;
          sorted[a] = row_b;
          sorted[b] = row_a;
        }
      }
      DK_BARRIER();
    }
  }
  // Who gathers does not know yet how many there are.
  for (dk_i32 i = DK_LOCAL_ID; i < limit; i += DK_GROUP_SIZE) order[i] = i < wanted ? sorted[i] : 0;
}
