#pragma once
#include <memory>
#include <string>
#include <vector>

#include "vm/interpreter/session.h"
#include <ingot/ingot.h>

// What the handles of ingot.h stand for.

struct ingot_error {
  ingot_status status;
  std::string label;
  std::string message;
  std::string backtrace;
};

struct ingot_executable {
  struct Param {
    std::string name;
    std::string info;
  };
  struct Function {
    uint32_t index;
    std::string name;
    std::string signature;
    std::vector<Param> params;
  };

  std::shared_ptr<const ingot::vm::Executable> executable;
  std::vector<Function> functions;  // the exported ones
};

// `args` is set while the value is an argument lent to a PackedFunc of the host: it then shows the session's own value,
// and must be taken out of the session before it is kept.
struct ingot_value {
  ingot::Value value;
  const ingot::PackedArgs* args = nullptr;
  size_t index = 0;
};

struct ingot_cancel_token {
  std::shared_ptr<ingot::vm::CancelToken> token = std::make_shared<ingot::vm::CancelToken>();
};

struct ingot_session {
  // Arguments set for one function; those that are missing are empty.
  struct Inputs {
    uint32_t function;
    std::vector<ingot::Value> values;
    std::vector<bool> set;
  };

  std::shared_ptr<ingot::vm::Session> session;
  std::vector<Inputs> inputs;
  ingot::Value result;
  bool has_result = false;
};
