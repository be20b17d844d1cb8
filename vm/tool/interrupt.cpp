#include "vm/tool/interrupt.h"

#include <atomic>

namespace ingot::tool {
namespace {

std::atomic<const api::CancelToken*>& current() {
  static std::atomic<const api::CancelToken*> token = nullptr;
  return token;
}

// Cancelling stores one atomic flag, which a signal handler may.
void on_interrupt(int) {
  if (const api::CancelToken* token = current().exchange(nullptr)) {
    api::table().cancel(token->get());
  } else {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
}

}  // namespace

CancelOnInterrupt::CancelOnInterrupt() {
  current() = &token_;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, &before_);
}

CancelOnInterrupt::~CancelOnInterrupt() {
  ::sigaction(SIGINT, &before_, nullptr);
  current() = nullptr;
}

}  // namespace ingot::tool
