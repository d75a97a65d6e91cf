// What the library of ahead-of-time code holds, as far as no GPU is needed to see it.
#include "engine/device/cub/cub_library.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/gpu/interpreter/interpreter_text.h"

namespace diptych {
namespace {

TEST(CubLibrary, HasTheInterpreterAsItIs) {
  std::string reason;
  const auto library = CubLibrary::open(reason);
  if (library == nullptr) GTEST_SKIP() << reason;
  for (const bool with_functions : {false, true}) {
    const std::string& text = gpu::interpreter_text(with_functions).text();
    const void* image = library->image_of(text);
    if (image == nullptr) GTEST_SKIP() << library->path() << " was built with another text of the interpreter";
    // What CUDA's documentation of fatbins calls FATBIN_MAGIC.
    uint32_t magic = 0;
    std::memcpy(&magic, image, sizeof(magic));
    EXPECT_EQ(magic, 0xBA55ED50U);
    EXPECT_EQ(library->image_of(text + " "), nullptr);
    EXPECT_EQ(library->image_of(text.substr(1) + "}"), nullptr);
  }
  EXPECT_EQ(library->image_of(""), nullptr);
}

}  // namespace
}  // namespace diptych
