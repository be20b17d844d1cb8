#pragma once

namespace ingot {

// Gives what deallocate_system freed back to the operating system, where the allocator still keeps it. Slow.
void trim_system() noexcept;

}  // namespace ingot
