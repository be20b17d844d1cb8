#pragma once
#include <csignal>

#include <ingot/ingot.hpp>

namespace ingot::tool {

// While it lives, SIGINT (Ctrl-C) cancels runs with its token; a second one ends the process. One at a time.
class CancelOnInterrupt {
 public:
  CancelOnInterrupt();
  ~CancelOnInterrupt();
  CancelOnInterrupt(const CancelOnInterrupt&) = delete;
  CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;

  const api::CancelToken& token() const { return token_; }

 private:
  api::CancelToken token_;
  struct sigaction before_ {};
};

}  // namespace ingot::tool
