#include "compute/cpu/library_product.h"

#ifdef LOOSELEAF_HAVE_ONEDNN
#include <omp.h>
#include <dnnl.hpp>

#include <array>
#include <exception>
#include <map>
#include <optional>
#endif

namespace looseleaf {

#ifdef LOOSELEAF_HAVE_ONEDNN

namespace {

// A product that oneDNN has generated code for, and the memory that its calls describe.
struct Generated {
  dnnl::matmul product;
  dnnl::memory x, w, y;
};

using Shape = std::array<int64_t, 5>;  // rows, cols, depth, y_stride, accumulate

Generated generate(const dnnl::engine& engine, const LibraryProduct& args) {
  using dnnl::memory;
  constexpr auto kBf16 = memory::data_type::bf16;
  const memory::desc x({args.rows, args.depth}, kBf16, memory::dims{args.depth, 1});
  const memory::desc w({args.depth, args.cols}, kBf16, memory::dims{1, args.depth});
  const memory::desc y({args.rows, args.cols}, memory::data_type::f32,
                       memory::dims{args.y_stride, 1});
  dnnl::primitive_attr attributes;
  if (args.accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc description(engine, x, w, y, attributes);
#else
  const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(x, w, y), attributes, engine);
#endif
  return {dnnl::matmul(description), memory(x, engine, nullptr), memory(w, engine, nullptr),
          memory(y, engine, nullptr)};
}

}  // namespace

bool have_library() { return true; }

bool library_has_bf16() {
  const auto isa = dnnl::get_effective_cpu_isa();
  return isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx;
}

// The pool's threads each call the library, so its OpenMP threads stay unused.
bool library_product(const LibraryProduct& args, const float* x, const float* w) {
  omp_set_num_threads(1);
  return dnnl_sgemm('N', 'T', args.rows, args.cols, args.depth, 1.0f, x, args.depth, w, args.depth,
                    args.accumulate ? 1.0f : 0.0f, args.y, args.y_stride) == dnnl_success;
}

bool library_product(const LibraryProduct& args, const uint16_t* x, const uint16_t* w) {
  // Generating code takes tens of microseconds; a pass has a handful of shapes.
  constexpr size_t kMostShapes = 64;
  thread_local const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  thread_local dnnl::stream stream(engine);
  thread_local std::map<Shape, Generated> known;
  omp_set_num_threads(1);
  try {
    const Shape shape = {args.rows, args.cols, args.depth, args.y_stride, args.accumulate};
    auto found = known.find(shape);
    if (found == known.end()) {
      if (known.size() == kMostShapes) known.clear();
      found = known.emplace(shape, generate(engine, args)).first;
    }
    Generated& it = found->second;
    it.x.set_data_handle(const_cast<uint16_t*>(x));  // which the library reads only
    it.w.set_data_handle(const_cast<uint16_t*>(w));
    it.y.set_data_handle(args.y);
    it.product.execute(stream,
                       {{DNNL_ARG_SRC, it.x}, {DNNL_ARG_WEIGHTS, it.w}, {DNNL_ARG_DST, it.y}});
    stream.wait();
    return true;
  } catch (const std::exception&) {  // dnnl::error, std::bad_alloc
    return false;
  }
}

#else

bool have_library() { return false; }
bool library_has_bf16() { return false; }
bool library_product(const LibraryProduct&, const float*, const float*) { return false; }
bool library_product(const LibraryProduct&, const uint16_t*, const uint16_t*) { return false; }

#endif

}  // namespace looseleaf
