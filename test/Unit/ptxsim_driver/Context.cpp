#include "test/Unit/ptxsim_driver/Context.h"

using namespace ptxsim::cuda;
using namespace ptxsim::cuda::test;

const std::string ptxsim::cuda::test::kernels = R"(.version 8.4
.target sm_90a
.address_size 64
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.extern .shared .align 16 .b8 dynamic[];

.visible .entry add(.param .u64 x, .param .u32 value) {
  .reg .b64 %x, %o; .reg .b32 %i, %v, %w;
  ld.param.u64 %x, [x]; ld.param.u32 %v, [value]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; add.u64 %x, %x, %o;
  ld.global.u32 %w, [%x]; add.u32 %w, %w, %v; st.global.u32 [%x], %w; ret;
}
.visible .entry scale(.param .u64 x, .param .u32 value) {
  .reg .b64 %x, %o; .reg .b32 %i, %v, %w;
  ld.param.u64 %x, [x]; ld.param.u32 %v, [value]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; add.u64 %x, %x, %o;
  ld.global.u32 %w, [%x]; mul.lo.u32 %w, %w, %v; st.global.u32 [%x], %w; ret;
}
.visible .entry combine(.param .u64 a, .param .u64 b, .param .u64 out) {
  .reg .b64 %a, %b, %c, %o; .reg .b32 %i, %v, %w;
  ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4;
  add.u64 %a, %a, %o; add.u64 %b, %b, %o; add.u64 %c, %c, %o;
  ld.global.u32 %v, [%a]; ld.global.u32 %w, [%b]; mad.lo.u32 %v, %v, 1000, %w; st.global.u32 [%c], %v; ret;
}
.visible .entry wild(.param .u64 address) {
  .reg .b64 %x; .reg .b32 %v;
  ld.param.u64 %x, [address]; ld.global.u32 %v, [%x]; ret;
}
.visible .entry stop() { trap; ret; }
.visible .entry shared(.param .u64 out) {
  .reg .b64 %x, %o; .reg .b32 %i, %v, %a;
  ld.param.u64 %x, [out]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; add.u64 %x, %x, %o;
  mov.u32 %v, %dynamic_smem_size; mov.u32 %a, dynamic; st.global.u32 [%x], %v; ret;
}
.visible .entry cluster(.param .u64 out) {
  .reg .b64 %x, %o; .reg .b32 %i, %v;
  ld.param.u64 %x, [out]; mov.u32 %i, %ctaid.x; mul.wide.u32 %o, %i, 4; add.u64 %x, %x, %o;
  mov.u32 %v, %cluster_nctarank; st.global.u32 [%x], %v; ret;
}
.visible .entry barrier(.param .u64 counter, .param .u64 out) {
  .reg .b64 %c, %x, %o; .reg .b32 %i, %n, %v; .reg .pred %p;
  ld.param.u64 %c, [counter]; ld.param.u64 %x, [out]; mov.u32 %i, %ctaid.x; mov.u32 %n, %nctaid.x;
  atom.global.add.u32 %v, [%c], 1;
SPIN:
  ld.volatile.global.u32 %v, [%c]; setp.lt.u32 %p, %v, %n; @%p bra SPIN;
  mul.wide.u32 %o, %i, 4; add.u64 %x, %x, %o; st.global.u32 [%x], %i; ret;
}
)";

void InContext::SetUp() {
  ptxsimReportToStderr(0);
  ASSERT_CUDA(cuInit(0));
  ASSERT_CUDA(cuCtxCreate_v2(&context, 0, 0));
  ASSERT_CUDA(cuModuleLoadData(&module, kernels.c_str()));
}

void InContext::TearDown() { EXPECT_CUDA(cuCtxDestroy_v2(context)); }

CUfunction InContext::function(const char *name) {
  CUfunction f = nullptr;
  EXPECT_CUDA(cuModuleGetFunction(&f, module, name));
  return f;
}

CUdeviceptr InContext::buffer(const std::vector<uint32_t> &values) {
  CUdeviceptr pointer = 0;
  EXPECT_CUDA(cuMemAlloc_v2(&pointer, values.size() * 4));
  EXPECT_CUDA(cuMemcpyHtoD_v2(pointer, values.data(), values.size() * 4));
  return pointer;
}

std::vector<uint32_t> InContext::read(CUdeviceptr pointer, size_t n) {
  std::vector<uint32_t> values(n);
  EXPECT_CUDA(cuMemcpyDtoH_v2(values.data(), pointer, n * 4));
  return values;
}
