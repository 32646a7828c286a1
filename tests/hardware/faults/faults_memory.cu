// Ordinary accesses to memory.
#include "faults_ptx.cuh"

namespace faults {
namespace {

__constant__ int constant_value = 4;
__device__ int ordinary_function(int x) { return x + 1; }

__device__ void store(std::uint64_t address) { *reinterpret_cast<volatile int*>(address) = 1; }
__device__ int load(std::uint64_t address) { return *reinterpret_cast<volatile int*>(address); }
__device__ void store_shared(std::uint32_t address) {
    asm volatile("st.shared.u32 [%0], %0;" ::"r"(address) : "memory");
}
__device__ void store_local(std::uint32_t address) {
    asm volatile("st.local.u32 [%0], %0;" ::"r"(address) : "memory");
}
__device__ void add_at(std::uint64_t address) {
    asm volatile("red.relaxed.gpu.add.u32 [%0], 1;" ::"l"(address) : "memory");
}
__device__ std::uint64_t number(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

void add_global(Cases& c) {
    c.add("global_null_read", "reads 4 bytes at a null pointer", "out-of-bounds",
          [] __device__(const Arguments& a) { keep(a, load(a.zero)); });
    c.add("global_null_write", "writes 4 bytes at a null pointer", "out-of-bounds",
          [] __device__(const Arguments& a) { store(a.zero); });
    c.add("global_null_atomic", "adds to 4 bytes at a null pointer", "out-of-bounds",
          [] __device__(const Arguments& a) { add_at(a.zero); });
    c.add("global_host", "writes to the host's memory", "out-of-bounds",
          [] __device__(const Arguments& a) { store(number(a.host)); });
    c.add("global_far", "writes 64 GiB past the end of an allocation", "out-of-bounds",
          [] __device__(const Arguments& a) { store(number(a.memory) + (std::uint64_t{a.large} << 6)); });
    c.add("global_near", "writes 4 KiB past the end of an allocation of 1 MiB", "out-of-bounds",
          [] __device__(const Arguments& a) { store(number(a.memory) + (1 << 20) + (a.one << 12)); });
    c.add("global_misaligned_read", "reads 4 bytes at an odd address", "misaligned",
          [] __device__(const Arguments& a) { keep(a, load(number(a.memory) + a.one)); });
    c.add("global_misaligned_write", "writes 4 bytes at an odd address", "misaligned",
          [] __device__(const Arguments& a) { store(number(a.memory) + a.one); });
    c.add("global_misaligned_vector", "reads 16 bytes at a multiple of 8", "misaligned",
          [] __device__(const Arguments& a) {
              asm volatile(
                  "{\n\t.reg .b32 a, b, c, d;\n\tld.volatile.global.v4.u32 {a, b, c, d}, [%0];\n\t}" ::"l"(
                      a.memory + 8 * a.one));
          });
    c.add("global_misaligned_atomic", "adds to 4 bytes at an odd address", "misaligned",
          [] __device__(const Arguments& a) { add_at(number(a.memory) + a.one); });
    c.add("global_misaligned_nowhere", "writes 4 bytes at an odd address where no memory is", "out-of-bounds",
          [] __device__(const Arguments& a) { store(a.one); });
    c.add("atomic_local", "adds to a local variable through a generic address", "",
          [] __device__(const Arguments& a) {
              volatile int x[4] = {};
              add_at(number(const_cast<int*>(&x[a.zero])));
              keep(a, x[a.one]);
          });
    c.add("global_shared_address", "ld.global of a generic address of shared memory", "out-of-bounds",
          [] __device__(const Arguments& a) {
              __shared__ int x;
              x = 1;
              int y;
              asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(y) : "l"(&x));
              keep(a, y);
          });
    c.add("global_local_address", "ld.global of a generic address of local memory", "out-of-bounds",
          [] __device__(const Arguments& a) {
              volatile int x[4] = {};
              int y;
              asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(y) : "l"(&x[a.zero]));
              keep(a, y);
          });
    c.add("code_read", "reads through a pointer to a device function", "out-of-bounds",
          [] __device__(const Arguments& a) {
              int (*volatile f)(int) = ordinary_function;
              keep(a, load(reinterpret_cast<std::uint64_t>(f)));
          });
    c.add("code_write", "writes through a pointer to a device function", "out-of-bounds",
          [] __device__(const Arguments&) {
              int (*volatile f)(int) = ordinary_function;
              store(reinterpret_cast<std::uint64_t>(f));
          });
}

void add_shared(Cases& c) {
    c.add("shared_past_block", "writes 64 KiB past the end of the block's shared memory", "out-of-bounds",
          [] __device__(const Arguments& a) {
              __shared__ int x;
              store_shared(shared_address(&x) + (a.one << 16));
          });
    c.add("shared_past_sm", "writes to shared memory at 1 MiB", "out-of-bounds",
          [] __device__(const Arguments& a) {
              __shared__ int x;
              store_shared(shared_address(&x) + (a.one << 20));
          });
    c.add("shared_just_past", "writes 4 bytes right behind a shared array of 1024 bytes", "out-of-bounds",
          [] __device__(const Arguments& a) {
              __shared__ int x[256];
              store_shared(shared_address(&x[256 * a.one]));
          });
    c.add("shared_generic_past", "writes 64 KiB past the block's shared memory through a generic address",
          "out-of-bounds", [] __device__(const Arguments& a) {
              __shared__ int x;
              store(number(&x) + (a.one << 16));
          });
    c.add("shared_generic_before",
          "writes 4096 bytes before the block's shared memory through a generic address", "out-of-bounds",
          [] __device__(const Arguments& a) {
              __shared__ int x;
              store(number(&x) - (a.one << 12));
          });
    c.add("shared_misaligned", "writes 4 bytes at an odd address of shared memory", "misaligned",
          [] __device__(const Arguments& a) {
              __shared__ int x[2];
              store_shared(shared_address(x) + a.one);
          });
    c.add("shared_generic_misaligned", "writes 4 bytes at an odd generic address of shared memory",
          "misaligned", [] __device__(const Arguments& a) {
              __shared__ int x[2];
              store(number(x) + a.one);
          });
    c.add("shared_global_pointer", "st.shared with the low half of a global address", "rank-out-of-range",
          [] __device__(const Arguments& a) {
              store_shared(static_cast<std::uint32_t>(number(a.memory)) | 0x40000000u);
          });
}

void add_other_spaces(Cases& c) {
    c.add("local_past", "writes to local memory at 16 MiB", "out-of-bounds",
          [] __device__(const Arguments& a) { store_local(a.one << 24); });
    c.add("local_misaligned", "writes 4 bytes at an odd address of local memory", "misaligned",
          [] __device__(const Arguments& a) {
              volatile int x[4] = {};
              std::uint64_t p;
              asm volatile("cvta.to.local.u64 %0, %1;" : "=l"(p) : "l"(&x[a.zero]));
              store_local(static_cast<std::uint32_t>(p) + a.one);
              keep(a, x[a.one]);
          });
    c.add("local_generic_past", "writes 1 MiB past a local array through a generic address", "out-of-bounds",
          [] __device__(const Arguments& a) {
              volatile int x[4] = {};
              store(number(const_cast<int*>(&x[a.zero])) + (a.one << 20));
              keep(a, x[a.one]);
          });
    c.add("const_past", "reads constant memory at 1 MiB", "out-of-bounds", [] __device__(const Arguments& a) {
        int x;
        asm volatile("ld.const.u32 %0, [%1];" : "=r"(x) : "l"(std::uint64_t{a.one} << 20));
        keep(a, x);
    });
    c.add("const_misaligned", "reads 4 bytes at an odd address of constant memory", "misaligned",
          [] __device__(const Arguments& a) {
              std::uint64_t p;
              int x;
              asm volatile("cvta.to.const.u64 %0, %1;" : "=l"(p) : "l"(&constant_value));
              asm volatile("ld.const.u32 %0, [%1];" : "=r"(x) : "l"(p + a.one));
              keep(a, x);
          });
    c.add("const_write", "writes to constant memory through a generic address", "",
          [] __device__(const Arguments& a) { store(number(&constant_value) + a.zero); });
    c.add("parameter_write", "writes to a kernel parameter through a generic address", "",
          [] __device__(const Arguments& a) { store(number(&a.zero)); });
    c.add("heap_double_free", "free() of a pointer twice", "out-of-bounds",
          [] __device__(const Arguments& a) {
              if (threadIdx.x == 0) {
                  void* p = malloc(64);
                  free(p);
                  if (a.one)
                      free(p);
              }
          });
    c.add("heap_foreign_free", "free() of memory that malloc() in a kernel did not return", "out-of-bounds",
          [] __device__(const Arguments& a) {
              if (threadIdx.x == 0)
                  free(a.memory);
          });
    c.add("discard_misaligned", "discard.L2 of 128 bytes at a multiple of 64", "",
          [] __device__(const Arguments& a) {
              asm volatile("discard.global.L2 [%0], 128;" ::"l"(a.memory + 64 * a.one) : "memory");
          });
    c.add("prefetch_null", "prefetch of a null pointer", "", [] __device__(const Arguments& a) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(std::uint64_t{a.zero}));
    });
}

} // namespace

void add_memory(Cases& c) {
    add_global(c);
    add_shared(c);
    add_other_spaces(c);
}

} // namespace faults
