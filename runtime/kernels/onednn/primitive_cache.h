#pragma once
#include <cstddef>

namespace ingot {

// How many primitives oneDNN keeps for the whole process, whoever made them; 1,024 where nobody says so, 0 for none. A
// setting of the process: the program that owns it decides, never a library by itself. Prepared kernels keep what they
// need whatever it is. Throws InvalidArgument above INT_MAX.
void set_primitive_cache_capacity(size_t primitives);
size_t primitive_cache_capacity();

}  // namespace ingot
