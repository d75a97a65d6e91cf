#include "kernel/kernel_library.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "kernel/kernel_text.h"
#include "kernel/nvrtc_compiler.h"

namespace diptych::testing {
namespace {

const std::string definitions = "#define DK_GROUP_SIZE 256\n#define DK_PARAMETER_WORDS 4\n#define DK_ROWS 4\n";

TEST(KernelLibrary, HasTheFilesOfKernelHInItsOrder) {
  std::istringstream includes(file_text(std::string(DIPTYCH_SOURCE_DIR) + "/src/kernel/kernel.h"));
  std::vector<std::string> expected;
  const std::string prefix = "#include \"kernel/";
  for (std::string line; std::getline(includes, line);) {
    if (line.starts_with(prefix) && line.find("_host") == std::string::npos)
      expected.push_back(line.substr(prefix.size(), line.size() - prefix.size() - 1));
  }
  std::vector<std::string> names;
  for (std::string_view name : kernel_file_names()) {
    if (!name.starts_with("device/")) names.emplace_back(name);
  }
  EXPECT_EQ(names, expected);
}

TEST(KernelLibrary, EveryFileComesWithAllThatItNeeds) {
  Nvrtc nvrtc;
  if (!nvrtc.load()) GTEST_SKIP() << "no libnvrtc";
  for (std::string_view name : kernel_file_names()) {
    // The interpreter's operations, which are made from the opcodes, stand before it: engine/gpu/interpreter_test.cc.
    // The declarations are OpenCL's.
    if (name == "device/interpret.h" || name == "device/opencl_declarations.h") continue;
    EXPECT_EQ(nvrtc.complaints(definitions + kernel_text({name}), "compute_90"), "") << name;
  }
}

TEST(KernelLibrary, TakesFilesOnceAndInOrder) {
  const std::string text = kernel_text({"numeric.h", "wide.h", "numeric.h"});
  EXPECT_EQ(text, kernel_text({"numeric.h"}));
  EXPECT_LT(text.find("typedef int dk_i32;"), text.find("dk_mul_u64("));
  EXPECT_LT(text.find("dk_mul_u64("), text.find("dk_mul_i64("));
  EXPECT_EQ(text.find("dk_hash_i64("), std::string::npos);
  EXPECT_THROW(kernel_text({"nothing.h"}), Error);
}

TEST(KernelLibrary, LeavesOutWhatCompilersDoNotNeed) {
  const auto names = kernel_file_names();
  const std::string text = kernel_text(names);
  for (const char* absent : {"//", "#include", "#pragma once", "\n\n"})
    EXPECT_EQ(text.find(absent), std::string::npos) << absent;
}

TEST(KernelLibrary, KnowsTheFileOfEveryFunction) {
  for (size_t i = 0; i < function_count; ++i) {
    const auto id = static_cast<FunctionId>(i);
    EXPECT_EQ(file_of_function(id).empty(), info_of(id).has_flag(DK_HOST)) << info_of(id).kernel_name;
  }
  EXPECT_EQ(file_of_function(FunctionId::abs_i32), "integer.h");
  EXPECT_EQ(file_of_function(FunctionId::round_n64), "numeric.h");
  EXPECT_EQ(file_of_function(FunctionId::extract_year_date), "extract.h");
  EXPECT_EQ(file_of_function("dk_eq_i64"), "integer.h");
  EXPECT_EQ(file_of_function("dk_eq_f64"), "float.h");
  EXPECT_EQ(file_of_function("dk_lt_i128"), "wide.h");
  EXPECT_EQ(file_of_function("dk_lt_text"), "text.h");
  EXPECT_EQ(file_of_function("dk_add_i128"), "numeric.h");
  EXPECT_EQ(file_of_function("dk_nothing"), "");
}

}  // namespace
}  // namespace diptych::testing
