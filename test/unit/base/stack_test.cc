#include "base/stack.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <thread>

#include "base/error.h"

namespace diptych {
namespace {

void on_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 << 10);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Stack, TellsWhatIsLeft) {
  EXPECT_GT(stack_bytes_left(), size_t{64} << 10);
  on_small_stack([] {
    EXPECT_GT(stack_bytes_left(), size_t{64} << 10);
    EXPECT_LT(stack_bytes_left(), size_t{512} << 10);
    EXPECT_TRUE(has_stack_for(0));
    EXPECT_FALSE(has_stack_for(1000));
  });
}

TEST(Stack, ShallowWorkStaysOnItsThread) {
  std::thread::id where;
  run_at_depth(10, [&] { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(Stack, DeepWorkGetsRoom) {
  on_small_stack([] {
    const std::thread::id here = std::this_thread::get_id();
    run_at_depth(10'000, [&] {
      EXPECT_NE(std::this_thread::get_id(), here);
      EXPECT_TRUE(has_stack_for(10'000));
      run_at_depth(10'000, [where = std::this_thread::get_id()] { EXPECT_EQ(where, std::this_thread::get_id()); });
    });
  });
}

TEST(Stack, ErrorsComeBack) {
  on_small_stack([] {
    try {
      run_at_depth(10'000, [] { throw Error(SqlState::division_by_zero, "division by zero", 7); });
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.state(), SqlState::division_by_zero);
      EXPECT_EQ(error.position(), 7);
    }
  });
}

TEST(Stack, WhatNoSystemHasIsAnError) {
  try {
    run_on_larger_stack(2'000'000'000, [] {});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::statement_too_complex);
  }
}

}  // namespace
}  // namespace diptych
