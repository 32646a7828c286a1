// mbarrier objects.
#include "faults_ptx.cuh"

namespace faults {
namespace {

/// One thread with a barrier that it has initialised with the count 1 (if `count` is not another).
template <class Body>
struct OneThread {
    Body body;
    unsigned count;
    __device__ void operator()(const Arguments& a) const {
        __shared__ alignas(16) std::uint64_t barriers[4];
        if (threadIdx.x == 0) {
            const std::uint32_t barrier = shared_address(&barriers[a.zero]);
            init(barrier, count);
            body(a, barrier);
        }
    }
};

class Adder {
  public:
    explicit Adder(Cases& cases) : cases_(cases) {}
    template <class Body>
    void operator()(const char* name, const char* what, const char* finding, Body body, unsigned count = 1) {
        cases_.add(name, what, finding, OneThread<Body>{body, count});
    }

  private:
    Cases& cases_;
};

void add_states(Adder& add) {
    add("mbarrier_init_0", "mbarrier.init with a count of 0", "arrival-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t barrier) { init(barrier + 8, a.zero); });
    add("mbarrier_init_too_large", "mbarrier.init with a count of 2^20", "arrival-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t barrier) { init(barrier + 8, a.one << 20); });
    add("mbarrier_init_misaligned", "mbarrier.init at a multiple of 4", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t barrier) { init(barrier + 4 * a.one, 1); });
    add("mbarrier_init_outside", "mbarrier.init 64 KiB past the block's shared memory", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t barrier) { init(barrier + (a.one << 16), 1); });
    add(
        "mbarrier_init_again", "mbarrier.init of a valid mbarrier in the middle of a phase",
        "barrier-reinit-in-use",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            arrive(barrier, a.one);
            init(barrier, 1);
        },
        2);
    add("mbarrier_uninitialised", "mbarrier.arrive at eight bytes of zeros", "barrier-uninitialised",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            asm volatile("st.shared.b64 [%0], 0;" ::"r"(barrier + 8) : "memory");
            arrive(barrier + 8, a.one);
        });
    add("mbarrier_garbage", "mbarrier.arrive at eight bytes of ones", "barrier-uninitialised",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            asm volatile("st.shared.b64 [%0], -1;" ::"r"(barrier + 8) : "memory");
            arrive(barrier + 8, a.one);
        });
    add("mbarrier_invalidated", "mbarrier.arrive after mbarrier.inval", "barrier-uninitialised",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
            arrive(barrier, a.one);
        });
    add("mbarrier_wait_misaligned", "mbarrier.try_wait at a multiple of 4", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            keep(a, try_wait(barrier + 4 * a.one, 0));
        });
    add("mbarrier_arrive_misaligned", "mbarrier.arrive at a multiple of 4", "misaligned",
        [] __device__(const Arguments& a, std::uint32_t barrier) { arrive(barrier + 4 * a.one); });
    add("mbarrier_arrive_outside", "mbarrier.arrive 64 KiB past the block's shared memory", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t barrier) { arrive(barrier + (a.one << 16)); });
    add("mbarrier_generic_global", "mbarrier.init with a generic address of global memory", "out-of-bounds",
        [] __device__(const Arguments& a, std::uint32_t) {
            asm volatile("mbarrier.init.b64 [%0], 1;" ::"l"(a.memory) : "memory");
        });
}

void add_counts(Adder& add) {
    add(
        "mbarrier_too_many_arrivals", "an arrival of 3 where 2 are pending", "arrival-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t barrier) { arrive(barrier, 3 * a.one); }, 2);
    add("mbarrier_arrive_0", "mbarrier.arrive with a count of 0", "arrival-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t barrier) { arrive(barrier, a.zero); });
    add("mbarrier_arrive_too_large", "mbarrier.arrive with a count of 2^20", "arrival-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t barrier) { arrive(barrier, a.one << 20); });
    add("mbarrier_arrive_twice", "two arrivals in a row at an mbarrier for one, which ends two phases", "",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            arrive(barrier, a.one);
            arrive(barrier, a.one);
        });
    add("mbarrier_no_complete", "mbarrier.arrive.noComplete that ends the phase", "arrival-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            asm volatile(
                "{\n\t.reg .b64 s;\n\tmbarrier.arrive.noComplete.shared::cta.b64 s, [%0], %1;\n\t}" ::"r"(
                    barrier),
                "r"(a.one)
                : "memory");
        });
    add(
        "mbarrier_drop_too_many", "mbarrier.arrive_drop of 3 where 2 are expected", "arrival-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            asm volatile(
                "{\n\t.reg .b64 s;\n\tmbarrier.arrive_drop.shared::cta.b64 s, [%0], %1;\n\t}" ::"r"(barrier),
                "r"(3 * a.one)
                : "memory");
        },
        2);
    add("mbarrier_expect_too_much", "mbarrier.expect_tx of 2^20 bytes", "tx-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t barrier) { expect_tx(barrier, a.one << 20); });
    add("mbarrier_expect_overflow", "mbarrier.expect_tx of 2^20 - 1 bytes twice", "tx-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            expect_tx(barrier, (a.one << 20) - 1);
            expect_tx(barrier, (a.one << 20) - 1);
        });
    add("mbarrier_complete_too_much", "mbarrier.complete_tx of 2^20 - 1 bytes twice", "tx-count-mismatch",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            for (unsigned i = 0; i < 2 * a.one; ++i)
                asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier),
                             "r"((a.one << 20) - 1)
                             : "memory");
        });
    add("mbarrier_complete_unexpected", "mbarrier.complete_tx of 64 bytes that nobody expects", "",
        [] __device__(const Arguments& a, std::uint32_t barrier) {
            asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier),
                         "r"(64 * a.one)
                         : "memory");
        });
}

} // namespace

void add_mbarriers(Cases& cases) {
    Adder add(cases);
    add_states(add);
    add_counts(add);
}

} // namespace faults
