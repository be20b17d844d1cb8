#include <iostream>

#include <ingot/ingot.hpp>

int main(int argc, char** argv) try {
  using namespace ingot::api;
  const Executable model = Executable::load(argc > 1 ? argv[1] : "digits.ingot");
  Session session(model);

  const std::vector<float> images(2 * 8 * 8, 0.5f);
  session.set("image", Value::tensor<float>(images, {2, 1, 8, 8}));
  session.run();

  const Value probability = session.output(0);
  std::cout << probability.dims()[0] << " images:";
  for (float p : probability.elements<float>()) std::cout << ' ' << p;
  std::cout << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
