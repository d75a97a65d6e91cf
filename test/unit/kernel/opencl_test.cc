// The kernel subset compiled as OpenCL C by whatever platform there is (PoCL where no GPU is), run on random rows, and
// compared with the C++ compiler's results.
#include <gtest/gtest.h>

#ifdef DIPTYCH_HAVE_OPENCL
#include <CL/cl.h>

#include <vector>

#include "kernel/kernel_testing.h"
#include "kernel/kernel_text.h"
#include "kernel/probe.h"

namespace diptych::testing {
namespace {

constexpr int rows = 500;
constexpr int scratch_bytes = 256;
constexpr size_t ilike_probe = 28;  // of letters beyond ASCII it is left to the CPU

const char* const opencl_probe_kernel = R"(
__kernel void probe(__global const dk_i64* numbers, __global const char* bytes, __global const dk_i32* ends,
                    __global char* scratch, __global dk_u64* results) {
  dk_i32 row = (dk_i32)get_global_id(0);
  dk_text texts[3];
  for (dk_i32 i = 0; i < 3; i++) {
    dk_i32 from = ends[3 * row + i];
    texts[i] = dk_make_text(bytes + from, ends[3 * row + i + 1] - from);
  }
  for (dk_i32 which = 0; which < DK_PROBES; which++) {
    results[row * DK_PROBES + which] = dk_probe(which, numbers[2 * row], numbers[2 * row + 1], texts[0], texts[1],
                                                texts[2], scratch + row * 256);
  }
}
)";

struct Input {
  std::vector<dk_i64> numbers;
  std::string bytes;
  std::vector<dk_i32> ends{0};  // of the texts, three a row, before which comes the end of the last
};

std::string random_text(Random& random, const std::vector<std::string>& parts, int most) {
  std::string text;
  for (dk_i64 n = random.below(most + 1); n > 0; n--)
    text += parts[static_cast<size_t>(random.below(static_cast<dk_i64>(parts.size())))];
  return text;
}

Input random_input(Random& random) {
  Input input;
  for (int row = 0; row < rows; row++) {
    input.numbers.push_back(random.any_i64());
    input.numbers.push_back(random.any_i64());
    for (const auto& text :
         {random_text(random, {"a", "b", "A", "c", "d", "\xC3\xA9", "\xC3\x89", " "}, 12),
          random_text(random, {"a", "b", "%", "_", "\\", "\xC3\xA9"}, 5),
          random_text(random, {"1", "20", "2024-02-29", " ", ".", "-", ":34", "e3", " days", "T", " mons"}, 6)}) {
      input.bytes += text;
      input.ends.push_back(static_cast<dk_i32>(input.bytes.size()));
    }
  }
  return input;
}

std::vector<dk_u64> results_of_cpp(const Input& input) {
  std::vector<dk_u64> results;
  char scratch[scratch_bytes];
  auto piece = [&](size_t i) {
    return dk_make_text(input.bytes.data() + input.ends[i], input.ends[i + 1] - input.ends[i]);
  };
  for (size_t row = 0; row < rows; row++) {
    for (int which = 0; which < DK_PROBES; which++) {
      results.push_back(dk_probe(which, input.numbers[2 * row], input.numbers[2 * row + 1], piece(3 * row),
                                 piece(3 * row + 1), piece(3 * row + 2), scratch));
    }
  }
  return results;
}

// The objects of one device; made once, since building the program takes seconds.
class OpenCL : public ::testing::Test {
 protected:
  void SetUp() override {
    cl_platform_id platform = nullptr;
    cl_uint count = 0;
    if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0) GTEST_SKIP() << "no OpenCL platform";
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr) != CL_SUCCESS)
      GTEST_SKIP() << "no OpenCL device";
    cl_int error = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
    ASSERT_EQ(error, CL_SUCCESS);
    queue_ = clCreateCommandQueueWithProperties(context_, device_, nullptr, &error);
    ASSERT_EQ(error, CL_SUCCESS);
  }
  void TearDown() override {
    for (cl_mem buffer : buffers_) clReleaseMemObject(buffer);
    if (program_ != nullptr) clReleaseProgram(program_);
    if (queue_ != nullptr) clReleaseCommandQueue(queue_);
    if (context_ != nullptr) clReleaseContext(context_);
  }

  void build(const std::string& text) {
    const char* source = text.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, nullptr);
    if (clBuildProgram(program_, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr) == CL_SUCCESS) return;
    std::string log(1 << 16, ' ');
    clGetProgramBuildInfo(program_, device_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
    FAIL() << log.c_str();
  }

  template <typename T>
  cl_mem buffer_of(const std::vector<T>& values) {
    auto* data = const_cast<T*>(values.data());
    buffers_.push_back(clCreateBuffer(context_, CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T), data, nullptr));
    return buffers_.back();
  }

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  std::vector<cl_mem> buffers_;
};

TEST_F(OpenCL, AgreesWithCpp) {
  ASSERT_NO_FATAL_FAILURE(build(text_with_probe() + opencl_probe_kernel));
  Random random;
  Input input = random_input(random);
  std::vector<dk_u64> results(static_cast<size_t>(rows) * DK_PROBES);
  std::vector<char> bytes(input.bytes.begin(), input.bytes.end());
  cl_mem arguments[] = {buffer_of(input.numbers), buffer_of(bytes), buffer_of(input.ends),
                        buffer_of(std::vector<char>(rows * scratch_bytes)), buffer_of(results)};
  cl_kernel kernel = clCreateKernel(program_, "probe", nullptr);
  ASSERT_NE(kernel, nullptr);
  for (cl_uint i = 0; i < 5; i++) ASSERT_EQ(clSetKernelArg(kernel, i, sizeof(cl_mem), &arguments[i]), CL_SUCCESS);
  size_t global = rows;
  ASSERT_EQ(clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr), CL_SUCCESS);
  ASSERT_EQ(clEnqueueReadBuffer(queue_, arguments[4], CL_TRUE, 0, results.size() * sizeof(dk_u64), results.data(), 0,
                                nullptr, nullptr),
            CL_SUCCESS);
  clReleaseKernel(kernel);
  std::vector<dk_u64> expected = results_of_cpp(input);
  size_t left_to_cpu = 0;
  for (size_t i = 0; i < results.size(); i++) {
    if (i % DK_PROBES == ilike_probe && results[i] == DK_CASE_BEYOND_ASCII) {
      ++left_to_cpu;
      continue;
    }
    ASSERT_EQ(results[i], expected[i]) << "row " << i / DK_PROBES << ", probe " << i % DK_PROBES;
  }
  EXPECT_GT(left_to_cpu, 0U);
  EXPECT_LT(left_to_cpu, size_t{rows} / 4);
}

}  // namespace
}  // namespace diptych::testing

#else

TEST(OpenCL, AgreesWithCpp) { GTEST_SKIP() << "built without OpenCL"; }

#endif
