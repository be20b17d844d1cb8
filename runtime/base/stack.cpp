#include "runtime/base/stack.h"

#include <exception>

#include <pthread.h>

#include "runtime/base/error.h"

namespace ingot {
namespace {

struct Task {
  const std::function<void()>* body;
  std::exception_ptr thrown;
};

void* run(void* argument) {
  auto& task = *static_cast<Task*>(argument);
  try {
    (*task.body)();
  } catch (...) {
    task.thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

bool may_have_stack(size_t bytes) {
  try {
    run_with_stack(bytes, [] {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

void run_with_stack(size_t bytes, const std::function<void()>& body) {
  Task task{&body, nullptr};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  const bool started =
      pthread_attr_setstacksize(&attributes, bytes) == 0 && pthread_create(&thread, &attributes, run, &task) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) fail(ErrorCode::OutOfMemory, "no thread with a stack of {} bytes can be had", bytes);
  pthread_join(thread, nullptr);
  if (task.thrown) std::rethrow_exception(task.thrown);
}

}  // namespace ingot
