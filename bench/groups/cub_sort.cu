// The device time of CUB's radix sort of 32-bit keys and 32-bit row numbers: what sorting costs a program that groups
// by sorting, and so a measure for Diptych's grouping. Keys are 0 .. groups - 1, all as often, in no order; only the
// bits that they need are sorted. All buffers are allocated before. Prints the median of several sorts as a line of
// JSON.
//
//   bench_cub_sort ROWS GROUPS [RUNS]
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_radix_sort.cuh>
#include <vector>

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "bench_cub_sort: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Device memory, for as long as the program runs.
template <typename T>
T* allocate(size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<size_t>(1, count) * sizeof(T)), "cudaMalloc");
  return static_cast<T*>(memory);
}

/// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014) of the row; its upper half is
/// scaled to the number of groups, as g1_data.py draws keys.
__global__ void make_pairs(uint32_t* keys, uint32_t* row_numbers, uint32_t rows, uint32_t groups) {
  for (uint64_t row = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; row < rows;
       row += uint64_t{gridDim.x} * blockDim.x) {
    uint64_t x = (row + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    keys[row] = static_cast<uint32_t>(((x >> 32) * groups) >> 32);
    row_numbers[row] = static_cast<uint32_t>(row);
  }
}

struct Sort {
  Sort(uint32_t row_count, uint32_t groups)
      : rows(row_count),
        keys(allocate<uint32_t>(rows)),
        sorted_keys(allocate<uint32_t>(rows)),
        row_numbers(allocate<uint32_t>(rows)),
        sorted_numbers(allocate<uint32_t>(rows)) {
    while (bits < 32 && (uint64_t{groups} - 1) >> bits != 0) ++bits;
    make_pairs<<<1024, 256>>>(keys, row_numbers, rows, groups);
    check(cudaGetLastError(), "make_pairs");
    run();  // tells how much it needs
    temporary = allocate<char>(temporary_bytes);
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
  }

  // Its input stays as it is, so that every run does the same; the second pair of buffers is in the temporary memory.
  void run() {
    check(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, keys, sorted_keys, row_numbers, sorted_numbers,
                                          rows, 0, bits),
          "SortPairs");
  }

  float milliseconds() {
    check(cudaEventRecord(begin), "cudaEventRecord");
    run();
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, begin, end), "cudaEventElapsedTime");
    return elapsed;
  }

  uint32_t rows;
  uint32_t *keys, *sorted_keys, *row_numbers, *sorted_numbers;
  int bits = 1;
  void* temporary = nullptr;
  size_t temporary_bytes = 0;
  cudaEvent_t begin = nullptr, end = nullptr;
};

/// A whole number of 1 to most; ends the program otherwise.
uint32_t number(const char* text, const char* name, unsigned long most) {
  char* end = nullptr;
  errno = 0;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && value >= 1 && value <= most)
    return static_cast<uint32_t>(value);
  std::fprintf(stderr, "bench_cub_sort: %s is a number from 1 to %lu, not '%s'\n", name, most, text);
  std::exit(2);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3 || count > 4) {
    std::fprintf(stderr, "usage: bench_cub_sort ROWS GROUPS [RUNS]\n");
    return 2;
  }
  // CUB takes 32-bit row counts with 32-bit offsets; more rows are no row numbers of 32 bits.
  const uint32_t rows = number(arguments[1], "ROWS", 0x7FFFFFFF);
  const uint32_t groups = number(arguments[2], "GROUPS", 0xFFFFFFFF);
  const uint32_t runs = count == 4 ? number(arguments[3], "RUNS", 1000) : 9;
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  Sort sort(rows, groups);
  // Clocks rise with the first sorts.
  for (int i = 0; i < 3; ++i) sort.milliseconds();
  std::vector<float> times(runs);
  std::generate(times.begin(), times.end(), [&] { return sort.milliseconds(); });
  std::sort(times.begin(), times.end());
  std::printf(
      "{\"device\": \"%s\", \"rows\": %u, \"groups\": %u, \"bits\": %d, \"runs\": %u, \"median_ms\": %.6f, "
      "\"least_ms\": %.6f}\n",
      device.name, rows, groups, sort.bits, runs, times[runs / 2], times.front());
  return 0;
}
