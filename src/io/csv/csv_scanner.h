// Looks for the bytes that a CSV file's structure is made of, 64 at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace diptych {

class CsvScanner {
 public:
  // end: nothing is read from there on.
  CsvScanner(const char* begin, const char* end, char delimiter, char quote)
      : end_(end), delimiter_(delimiter), quote_(quote) {
    seek(begin);
  }

  // The first delimiter, quote or line's end not before the place that was sought or given last; `end` when there is
  // none.
  const char* next() {
    while (found_ == 0) {
      if (end_ - window_ <= width) return end_;
      window_ += width;
      found_ = find(window_);
    }
    const char* place = window_ + std::countr_zero(found_);
    found_ &= found_ - 1;
    return place;
  }
  // Goes on from another place.
  void seek(const char* place) {
    window_ = place;
    found_ = place < end_ ? find(place) : 0;
  }

 private:
  static constexpr int64_t width = 64;

  uint64_t find(const char* place) const {
    if (end_ - place >= width) return find_in_window(place);
    char window[width] = {};  // holds none of the bytes behind the end
    std::memcpy(window, place, static_cast<size_t>(end_ - place));
    return find_in_window(window) & ((uint64_t{1} << (end_ - place)) - 1);
  }

#if defined(__SSE2__)
  uint64_t find_in_window(const char* window) const {
    const __m128i delimiter = _mm_set1_epi8(delimiter_), quote = _mm_set1_epi8(quote_);
    const __m128i newline = _mm_set1_epi8('\n'), carriage_return = _mm_set1_epi8('\r');
    uint64_t found = 0;
    for (int i = 0; i < width; i += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(window + i));
      const __m128i separators = _mm_or_si128(_mm_cmpeq_epi8(bytes, delimiter), _mm_cmpeq_epi8(bytes, newline));
      const __m128i others = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, carriage_return));
      found |= uint64_t{static_cast<uint16_t>(_mm_movemask_epi8(_mm_or_si128(separators, others)))} << i;
    }
    return found;
  }
#else
  uint64_t find_in_window(const char* window) const {
    uint64_t found = 0;
    for (int i = 0; i < width; ++i) {
      const char c = window[i];
      found |= uint64_t{c == delimiter_ || c == quote_ || c == '\n' || c == '\r'} << i;
    }
    return found;
  }
#endif

  const char* end_;
  char delimiter_, quote_;
  const char* window_ = nullptr;
  uint64_t found_ = 0;  // bits of the window's bytes that are still to be given
};

}  // namespace diptych
