// Where in a recording somebody speaks: runs Silero's voice activity detector over a .wav chunk by chunk.
//
// usage: speech MODEL.ingot RECORDING.wav [CHUNKS]      one probability per line, for each chunk of 32 ms
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

namespace {

struct Recording {
  uint32_t rate = 0;
  std::vector<float> samples;  // one channel, from -1 to 1
};

template <typename T>
T number(const std::string& bytes, size_t at) {
  if (at + sizeof(T) > bytes.size()) throw std::runtime_error("the recording ends early");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// RIFF: chunks of a name, a size and contents, which begin at even places.
Recording read_wav(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.compare(0, 4, "RIFF") != 0 || bytes.compare(8, 4, "WAVE") != 0)
    throw std::runtime_error(path + " is no .wav file");
  Recording recording;
  for (size_t at = 12; at + 8 <= bytes.size();) {
    const std::string name = bytes.substr(at, 4);
    const size_t size = number<uint32_t>(bytes, at + 4), begin = at + 8;
    if (name == "fmt ") {
      recording.rate = number<uint32_t>(bytes, begin + 4);
      if (number<uint16_t>(bytes, begin) != 1 || number<uint16_t>(bytes, begin + 2) != 1 ||
          number<uint16_t>(bytes, begin + 14) != 16)
        throw std::runtime_error(path + " must have one channel of 16 bits");
    } else if (name == "data") {
      for (size_t i = begin; i + 2 <= begin + size && i + 2 <= bytes.size(); i += 2)
        recording.samples.push_back(static_cast<float>(number<int16_t>(bytes, i)) / 32768.0F);
    }
    at = begin + size + size % 2;
  }
  return recording;
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace ingot::api;
  if (argc < 3) throw std::runtime_error("usage: speech MODEL.ingot RECORDING.wav [CHUNKS]");
  const Recording recording = read_wav(argv[2]);
  if (recording.rate != 16000 && recording.rate != 8000)
    throw std::runtime_error("the rate must be 8000 or 16000, it is " + std::to_string(recording.rate));
  const size_t chunk = recording.rate == 16000 ? 512 : 256, context = chunk / 8;

  const Executable model = Executable::load(argv[1]);
  Session session(model);
  session.set("sr", Value::scalar(static_cast<int64_t>(recording.rate)));

  // Each chunk comes behind the last samples of the one before; the state is carried over.
  std::vector<float> input(context + chunk, 0.0F);
  Value state = Value::tensor<float>(std::vector<float>(2 * 128, 0.0F), {2, 1, 128});
  const size_t whole = recording.samples.size() / chunk;
  const size_t chunks = argc > 3 ? std::min<size_t>(whole, std::stoul(argv[3])) : whole;
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < chunks; ++i) {
    std::copy(input.end() - static_cast<ptrdiff_t>(context), input.end(), input.begin());
    std::copy_n(recording.samples.begin() + static_cast<ptrdiff_t>(i * chunk), chunk,
                input.begin() + static_cast<ptrdiff_t>(context));
    session.set("input", Value::tensor<float>(input, {1, static_cast<int64_t>(input.size())}));
    session.set("state", state);
    session.run();
    state = session.output(1);
    std::cout << session.output(0).elements<float>()[0] << '\n';
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  std::cerr << chunks << " chunks, " << (chunks == 0 ? 0 : took.count() / static_cast<double>(chunks)) << " us each\n";
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
