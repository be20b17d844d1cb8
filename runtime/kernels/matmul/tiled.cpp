#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "runtime/jit/product_tile.h"
#include "runtime/kernels/check.h"
#include "runtime/kernels/family_cache.h"
#include "runtime/kernels/matmul/frame.h"
#include "runtime/kernels/matmul/matmul.h"
#include "runtime/kernels/matmul/panels.h"
#include "runtime/kernels/onednn/program.h"
#include "runtime/kernels/post_op_func.h"
#include "runtime/parallel/thread_team.h"

// Matrix products whose sizes vary from call to call: the code is that of ProductTiles for all of them.
namespace ingot {
namespace {

using jit::ProductTileArgs;
using jit::ProductTiles;

// Rows of b that are multiplied in one go: with AVX-512, a block of 64 columns takes 96 KB of the second cache.
constexpr int64_t kDepth = 384;
// A b with contiguous rows is read where it lies, unless so many rows of a read it that it pays to copy rows which lie
// whole pages apart: these share few lines of the first cache.
constexpr int64_t kRowsToPack = 256;
constexpr int64_t kPageElements = 1024;
// Multiplications that are worth a second thread.
constexpr uint64_t kParallelWork = uint64_t{1} << 17;

struct CommonTiles final : Family {
  std::unique_ptr<const ProductTiles> tiles;
};

struct TiledFamily final : Family {
  std::unique_ptr<const PostOpFunc> post_ops;  // null where the call has none, or the generator does not take them
};

std::shared_ptr<const Family> common_tiles(const Problem& problem) {
  return problem.families->get("product tiles", [&] {
    auto common = std::make_shared<CommonTiles>();
    common->tiles = ProductTiles::make(problem.cpu, problem.perf_map);
    return common;
  });
}

int64_t parts_of(int64_t whole, int64_t most) { return (whole + most - 1) / most; }

// Part `index` of `parts` parts that differ by at most one.
struct Part {
  int64_t begin, size;
};
Part part_of(int64_t whole, int64_t parts, int64_t index) {
  const int64_t begin = index * (whole / parts) + std::min(index, whole % parts);
  return {begin, whole / parts + (index < whole % parts ? 1 : 0)};
}

// The product as it is computed, in elements.
struct Product {
  std::vector<int64_t> batch;
  std::vector<int64_t> a_batch, b_batch, c_batch, initial_batch;
  int64_t batches = 1;
  int64_t m, n, k;
  int64_t a_row, a_column, b_row, b_column, c_row;
  std::optional<size_t> bias, initial;  // inputs
  int64_t initial_row = 0;
  float scale = 1;
  bool in_place = false;  // may c lie on `initial`?

  struct Offsets {
    int64_t a, b, c, initial;
  };
  Offsets offsets(int64_t index) const {
    Offsets at{};
    for (size_t d = batch.size(); d-- > 0;) {
      const int64_t i = index % batch[d];
      index /= batch[d];
      at.a += i * a_batch[d];
      at.b += i * b_batch[d];
      at.c += i * c_batch[d];
      if (initial) at.initial += i * initial_batch[d];
    }
    return at;
  }
};

class TiledMatmul final : public Kernel {
 public:
  TiledMatmul(const Problem& problem, Product product, std::shared_ptr<const Family> common,
              std::shared_ptr<const Family> family, std::unique_ptr<const jit::CompiledFunc> post_ops)
      : product_(std::move(product)),
        common_(std::move(common)),
        family_(std::move(family)),
        tiles_(*static_cast<const CommonTiles&>(*common_).tiles),
        post_ops_(std::move(post_ops)),
        team_(problem.threads),
        panels_(parts_of(product_.n, tiles_.width())),
        depths_(parts_of(product_.k, kDepth)),
        work_(saturating_product({product_.batches, product_.m, product_.n, product_.k})) {
    if (problem.inputs[1].constant != nullptr)
      pack(problem);
    else
      packs_ = product_.b_column != 1 || (product_.m >= kRowsToPack && product_.b_row % kPageElements == 0);
    const int64_t wanted = team_ != nullptr && work_ >= kParallelWork ? team_->size() : 1;
    // A few pieces for each thread, so that they end together.
    const int64_t columns = product_.batches * panels_;
    if (columns < 4 * wanted) groups_ = std::min(parts_of(4 * wanted, columns), parts_of(product_.m, tiles_.rows()));
    threads_ = std::min(wanted, columns * groups_);
  }

  tir::RunStatus run(const KernelArgs& args) const noexcept override {
    Share share{.kernel = this, .args = &args};
    if (threads_ > 1) {
      team_->parallel_for(
          threads_,
          [](void* context, int64_t begin, int64_t end) {
            auto& shared = *static_cast<Share*>(context);
            for (int64_t thread = begin; thread < end; ++thread) shared.kernel->run_thread(shared, thread);
          },
          &share);
    } else {
      run_thread(share, 0);
    }
    if (share.stopped) return {.code = ErrorCode::Cancelled, .failed = true, .message = "stopped"};
    return post_ops_ != nullptr ? run_post_ops(args) : tir::RunStatus{};
  }

  size_t scratch_bytes() const override {
    const size_t packing = packs_ ? panel_bytes() * static_cast<size_t>(threads_) : 0;
    return std::max(packing, post_ops_ ? post_ops_->scratch_bytes() + table_bytes() : 0);
  }
  bool runs_in_place(size_t input) const override { return product_.in_place && product_.initial == input; }
  std::string_view implementation() const override {
    return tiles_.cpu() == Cpu::Avx512 ? "tiled:avx512" : "tiled:avx2";
  }
  uint64_t work() const override { return work_; }

 private:
  struct Share {
    const TiledMatmul* kernel;
    const KernelArgs* args;
    std::atomic<bool> stopped = false;
  };

  const PostOpFunc& post_op_func() const { return *static_cast<const TiledFamily&>(*family_).post_ops; }
  size_t table_bytes() const { return (post_op_func().operands().size() + 2) * sizeof(void*); }
  size_t panel_bytes() const {
    return static_cast<size_t>(std::min(product_.k, kDepth) * tiles_.width()) * sizeof(float);
  }

  // The constant b: panels of all columns for each batch of its own.
  void pack(const Problem& problem) {
    const int64_t width = tiles_.width();
    const int64_t matrix = panels_ * width * product_.k;
    std::vector<int64_t> packed_batch(product_.batch.size(), 0);
    int64_t matrices = 1;
    for (size_t d = product_.batch.size(); d-- > 0;) {
      if (product_.b_batch[d] == 0) continue;
      packed_batch[d] = matrices * matrix;
      matrices *= product_.batch[d];
    }
    const auto make = [&] {
      PackCache::Packed packed;
      packed.bytes = static_cast<size_t>(matrices * matrix) * sizeof(float);
      auto memory = allocate_packed(packed.bytes);
      for (int64_t batch = 0; batch < product_.batches; ++batch) {
        const int64_t from = product_.offsets(batch).b;
        int64_t to = 0;
        for (int64_t rest = batch, d = static_cast<int64_t>(product_.batch.size()); d-- > 0;) {
          const auto at = static_cast<size_t>(d);
          to += rest % product_.batch[at] * packed_batch[at];
          rest /= product_.batch[at];
        }
        for (int64_t panel = 0; panel < panels_; ++panel)
          pack_panel(
              tiles_,
              {reinterpret_cast<const float*>(problem.inputs[1].constant) + from + panel * width * product_.b_column,
               product_.b_row, product_.b_column},
              product_.k, std::min(width, product_.n - panel * width),
              reinterpret_cast<float*>(memory.get()) + to + panel * width * product_.k);
      }
      packed.data = std::move(memory);
      return packed;
    };
    const std::string signature = fmt::format("panels:{}:{}x{}:{}:{}x{}", width, product_.k, product_.n, matrices,
                                              product_.b_row, product_.b_column);
    packed_ = problem.packs != nullptr ? problem.packs->get(problem.inputs[1].constant, signature, make) : make();
    product_.b_batch = std::move(packed_batch);
  }

  void run_thread(Share& share, int64_t thread) const {
    const Part own = part_of(product_.batches * panels_ * groups_, threads_, thread);
    auto* scratch = reinterpret_cast<float*>(share.args->scratch + panel_bytes() * static_cast<size_t>(thread));
    for (int64_t task = own.begin; task < own.begin + own.size; ++task) {
      if (share.stopped.load(std::memory_order_relaxed)) return;
      run_task(*share.args, task, packs_ ? scratch : nullptr);
      const tir::PollPoint& poll = share.args->poll;
      if (thread == 0 && poll.poll != nullptr && poll.poll(poll.context)) share.stopped = true;
    }
  }

  // Some rows of one panel of columns.
  void run_task(const KernelArgs& args, int64_t task, float* scratch) const {
    constexpr int64_t kBytes = sizeof(float);
    const int64_t width = tiles_.width();
    const int64_t panel = task / groups_ % panels_;
    const Part rows = part_of(product_.m, groups_, task % groups_);
    const Product::Offsets at = product_.offsets(task / groups_ / panels_);
    const int64_t column = panel * width;
    const int64_t columns = std::min(width, product_.n - column);
    const float* a = reinterpret_cast<const float*>(args.inputs[0]) + at.a + rows.begin * product_.a_row;
    float* c = reinterpret_cast<float*>(args.outputs[0]) + at.c + rows.begin * product_.c_row + column;
    const float* b = packed_.data ? reinterpret_cast<const float*>(packed_.data.get()) + at.b + column * product_.k
                                  : reinterpret_cast<const float*>(args.inputs[1]) + at.b + column * product_.b_column;
    const float* initial = nullptr;
    if (product_.initial)
      initial = reinterpret_cast<const float*>(args.inputs[*product_.initial]) + at.initial +
                rows.begin * product_.initial_row + column;
    for (int64_t depth = 0; depth < depths_; ++depth) {
      const Part part = part_of(product_.k, depths_, depth);
      ProductTileArgs tile{};
      tile.depth = part.size;
      tile.a_row = product_.a_row * kBytes;
      tile.a_column = product_.a_column * kBytes;
      tile.c_row = product_.c_row * kBytes;
      tile.scale = 1;
      if (packed_.data) {
        tile.b = b + part.begin * width;
        tile.b_row = width * kBytes;
      } else if (scratch != nullptr) {
        pack_panel(tiles_, {b + part.begin * product_.b_row, product_.b_row, product_.b_column}, part.size, columns,
                   scratch);
        tile.b = scratch;
        tile.b_row = width * kBytes;
      } else {
        tile.b = b + part.begin * product_.b_row;
        tile.b_row = product_.b_row * kBytes;
      }
      if (depth + 1 == depths_) {
        tile.scale = product_.scale;
        if (product_.bias) tile.bias = reinterpret_cast<const float*>(args.inputs[*product_.bias]) + column;
      }
      const bool first = depth == 0;
      tile.initial_row = (first ? product_.initial_row : product_.c_row) * kBytes;
      const int64_t steps = parts_of(rows.size, tiles_.rows());
      for (int64_t step = 0; step < steps; ++step) {
        const Part some = part_of(rows.size, steps, step);
        tile.a = a + some.begin * product_.a_row + part.begin * product_.a_column;
        tile.c = c + some.begin * product_.c_row;
        tile.initial = tile.c;
        if (first) tile.initial = initial != nullptr ? initial + some.begin * product_.initial_row : nullptr;
        tiles_.run(tile, some.size, columns);
      }
    }
  }

  tir::RunStatus run_post_ops(const KernelArgs& args) const {
    auto** buffers = reinterpret_cast<std::byte**>(args.scratch + post_ops_->scratch_bytes());
    size_t count = 0;
    buffers[count++] = args.outputs[0];
    for (const size_t operand : post_op_func().operands())
      buffers[count++] = const_cast<std::byte*>(args.inputs[operand]);
    buffers[count++] = args.outputs[0];
    return post_ops_->run({buffers, count}, {}, args.scratch, team_, args.poll);
  }

  Product product_;
  std::shared_ptr<const Family> common_, family_;
  const ProductTiles& tiles_;
  std::unique_ptr<const jit::CompiledFunc> post_ops_;
  const ThreadTeam* team_;
  int64_t panels_, depths_;
  int64_t groups_ = 1;  // of rows
  int64_t threads_ = 1;
  uint64_t work_;
  bool packs_ = false;  // b, as it runs
  PackCache::Packed packed_;
};

// nullopt where a bias or a scale is none that tiles apply.
std::optional<Product> product_of(const Problem& problem) {
  const MatmulAttributes attributes = matmul_attributes(*problem.call);
  const MatmulShape shape = matmul_shape(problem);
  const MatmulFrame frame = matmul_frame(problem, shape);
  const size_t rank = frame.dims.size();
  const auto batch_of = [&](const std::vector<int64_t>& strides) {
    return std::vector<int64_t>(strides.begin(), strides.end() - 2);
  };
  Product product{.batch = batch_of(frame.dims),
                  .a_batch = batch_of(frame.strides[0]),
                  .b_batch = batch_of(frame.strides[1]),
                  .c_batch = batch_of(frame.output),
                  .initial_batch = {},
                  .m = frame.dims[rank - 2],
                  .n = frame.dims[rank - 1],
                  .k = shape.k,
                  .a_row = frame.strides[0][rank - 2],
                  .a_column = shape.a_column,
                  .b_row = shape.b_row,
                  .b_column = frame.dims[rank - 1] == 1 ? 1 : frame.strides[1][rank - 1],
                  .c_row = frame.output[rank - 2],
                  .bias = {},
                  .initial = {}};
  for (const int64_t dim : product.batch) product.batches *= dim;
  if (product.n > 1 && frame.output[rank - 1] != 1) return std::nullopt;
  product.scale = static_cast<float>(attributes.alpha);
  if (attributes.has_bias && attributes.beta != 0) {
    const std::vector<int64_t>& strides = frame.strides[2];
    const bool is_row = std::all_of(strides.begin(), strides.end() - 1, [](int64_t stride) { return stride == 0; }) &&
                        (strides.back() == 1 || product.n == 1);
    if (!is_row || attributes.beta != 1) return std::nullopt;
    product.bias = 2;
  }
  const size_t first = attributes.has_bias ? 3 : 2;
  const std::vector<PostOp>& ops = problem.call->post_ops;
  if (!ops.empty() && ops[0].kind == PostOpKind::Add && product.scale == 1 &&
      problem.inputs[first].dims == problem.outputs[0].dims) {
    product.initial = first;
    product.initial_batch = batch_of(frame.strides[first]);
    product.initial_row = frame.strides[first][rank - 2];
    product.in_place = product.initial_row == product.c_row && product.initial_batch == product.c_batch;
  }
  return product;
}

}  // namespace

bool accept_matmul_tiled(const Problem& problem) {
  return problem.families != nullptr && varies(problem) && onednn::is_plain_float_problem(problem);
}

std::unique_ptr<Kernel> make_matmul_tiled(const Problem& problem) {
  auto product = product_of(problem);
  if (!product) return nullptr;
  auto common = common_tiles(problem);
  if (static_cast<const CommonTiles&>(*common).tiles == nullptr) return nullptr;

  const size_t folded = product->initial ? 1 : 0;
  const bool more = problem.call->post_ops.size() > folded;
  std::shared_ptr<const Family> family;
  std::unique_ptr<const jit::CompiledFunc> post_ops;
  if (more) {
    const size_t first_input = (matmul_attributes(*problem.call).has_bias ? 3 : 2) + folded;
    family = problem.families->get(problem, [&] {
      auto made = std::make_shared<TiledFamily>();
      made->post_ops = PostOpFunc::make(problem, folded, first_input);
      return made;
    });
    const auto& func = static_cast<const TiledFamily&>(*family).post_ops;
    if (func) post_ops = func->at(problem, problem.threads != nullptr ? problem.threads->size() : 1);
    if (!post_ops) return nullptr;
  }
  return std::make_unique<TiledMatmul>(problem, std::move(*product), std::move(common), std::move(family),
                                       std::move(post_ops));
}

}  // namespace ingot
