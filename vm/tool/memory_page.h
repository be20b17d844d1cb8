#pragma once
#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace ingot::tool {

// "512 B", "12.3 kB", "4.5 MB".
std::string size_text(uint64_t bytes);

// A page of HTML that draws the memory plan of each function in `description` (what `ingot inspect --json` prints) that
// has one: time across, addresses up, one rectangle for each tensor and scratch area, details where the pointer is.
// Stands alone: no other files, no network.
std::string memory_page(const nlohmann::json& description, const std::string& title);

}  // namespace ingot::tool
