#pragma once
#include <cstddef>
#include <functional>

namespace ingot {

// Runs `body` on a thread of its own with a stack of that many bytes (reserved, touched as it is used), waits for it
// and passes on what it throws. For walks whose depth is bounded by a limit of ours, not by the caller's stack. Throws
// OutOfMemory where the system gives no such thread.
void run_with_stack(size_t bytes, const std::function<void()>& body);

// Does the system give a thread with such a stack?
bool may_have_stack(size_t bytes);

}  // namespace ingot
