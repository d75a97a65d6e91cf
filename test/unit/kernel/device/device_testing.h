// Kernels made of the files of kernel/device, run by whatever OpenCL device there is (PoCL where no GPU is) on memory
// that the test fills and reads back. NVRTC, where it is there, has to compile the same text without complaints.
#pragma once

#include <gtest/gtest.h>

#ifdef DIPTYCH_HAVE_OPENCL
#include <CL/cl.h>

#include <cstring>
#include <vector>

#include "kernel/kernel_library.h"
#include "kernel/kernel_testing.h"
#include "kernel/nvrtc_compiler.h"

namespace diptych::testing {

class DeviceKernel : public ::testing::Test {
 protected:
  static constexpr size_t parameter_words = 16;

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
    release_program();
    if (queue_ != nullptr) clReleaseCommandQueue(queue_);
    if (context_ != nullptr) clReleaseContext(context_);
  }

  // Compiles a text that defines the kernel `entry`.
  void build(std::initializer_list<std::string_view> files, const std::string& body, int group_size) {
    release_program();
    group_size_ = static_cast<size_t>(group_size);
    const std::string text = "#define DK_GROUP_SIZE " + std::to_string(group_size) + "\n#define DK_PARAMETER_WORDS " +
                             std::to_string(parameter_words) + "\n" + kernel_text(files) + body;
    Nvrtc nvrtc;
    if (nvrtc.load()) {
      for (const char* architecture : {"compute_80", "sm_90"}) EXPECT_EQ(nvrtc.complaints(text, architecture), "");
    }
    const char* source = text.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, nullptr);
    if (clBuildProgram(program_, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr) == CL_SUCCESS) return;
    std::string log(1 << 16, ' ');
    clGetProgramBuildInfo(program_, device_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
    FAIL() << log.c_str();
  }

  // Device memory begins anew with each clear(); put() returns the address of a copy of the values, on a multiple of
  // 256 and with 256 bytes after it that can be read.
  void clear() { memory_.clear(); }
  template <typename T>
  dk_u64 put(const std::vector<T>& values) {
    const size_t address = memory_.size();
    memory_.resize(address + (values.size() * sizeof(T) + 511) / 256 * 256);
    if (!values.empty()) std::memcpy(memory_.data() + address, values.data(), values.size() * sizeof(T));
    return address;
  }
  template <typename T>
  std::vector<T> get(dk_u64 address, size_t count) const {
    std::vector<T> values(count);
    if (count != 0) std::memcpy(values.data(), memory_.data() + address, count * sizeof(T));
    return values;
  }

  void run(int groups, std::initializer_list<dk_u64> parameters) {
    cl_int error = 0;
    cl_mem memory =
        clCreateBuffer(context_, CL_MEM_COPY_HOST_PTR, std::max<size_t>(memory_.size(), 256), memory_.data(), &error);
    ASSERT_EQ(error, CL_SUCCESS);
    cl_mem mapped = clCreateBuffer(context_, CL_MEM_COPY_HOST_PTR, sizeof mapped_, mapped_, &error);
    cl_kernel kernel = clCreateKernel(program_, "entry", &error);
    ASSERT_EQ(error, CL_SUCCESS);
    dk_u64 words[parameter_words] = {};
    std::copy(parameters.begin(), parameters.end(), words);
    ASSERT_EQ(clSetKernelArg(kernel, 0, sizeof memory, &memory), CL_SUCCESS);
    ASSERT_EQ(clSetKernelArg(kernel, 1, sizeof mapped, &mapped), CL_SUCCESS);
    ASSERT_EQ(clSetKernelArg(kernel, 2, sizeof words, words), CL_SUCCESS);
    size_t global = static_cast<size_t>(groups) * group_size_;
    ASSERT_EQ(clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &global, &group_size_, 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueueReadBuffer(queue_, memory, CL_TRUE, 0, memory_.size(), memory_.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    clReleaseKernel(kernel);
    clReleaseMemObject(memory);
    clReleaseMemObject(mapped);
  }

  dk_u64 mapped_[32] = {};  // what addresses with the top bit lead to

 private:
  void release_program() {
    if (program_ != nullptr) clReleaseProgram(program_);
    program_ = nullptr;
  }

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  size_t group_size_ = 0;
  std::vector<std::byte> memory_;
};

// The head of every kernel here.
inline const std::string kernel_head =
    "DK_KERNEL void entry(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {\n";

}  // namespace diptych::testing

#endif
