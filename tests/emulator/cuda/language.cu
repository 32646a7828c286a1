// The C++ of device code: recursion, virtual functions, pointers to functions, new and delete. Passes on a
// GPU as well.
#include "cuda/support.cuh"

namespace {

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void recurse(int* out) {
    const int i = static_cast<int>(threadIdx.x);
    out[i] = fibonacci(i % 10) * 100 + ackermann(2, i % 4);
}

using Function = float (*)(float);
__device__ float plus_one(float x) { return x + 1; }
__device__ float twice(float x) { return 2 * x; }
__device__ float square(float x) { return x * x; }
__device__ Function table[3] = {plus_one, twice, square};
__device__ Function single = twice;

__global__ void call(float* out, Function handed) {
    const int i = static_cast<int>(threadIdx.x);
    const auto x = static_cast<float>(i);
    out[i] = table[i % 3](x) + handed(x) * 1000;
}

class Shape {
  public:
    __device__ virtual ~Shape() {}
    __device__ virtual int area() const = 0;
};
class Square final : public Shape {
  public:
    __device__ explicit Square(int side) : side_(side) {}
    __device__ int area() const override { return side_ * side_; }

  private:
    int side_;
};
class Strip final : public Shape {
  public:
    __device__ explicit Strip(int length) : length_(length) {}
    __device__ int area() const override { return 3 * length_; }

  private:
    int length_;
};

__global__ void shapes(int* out) {
    const int i = static_cast<int>(threadIdx.x);
    const Shape* shape = i % 2 ? static_cast<Shape*>(new Square(i)) : static_cast<Shape*>(new Strip(i));
    auto* list = static_cast<int*>(malloc(16 * sizeof(int)));
    for (int k = 0; k < 16; ++k)
        list[k] = k;
    int sum = 0;
    for (int k = 0; k < 16; ++k)
        sum += list[k];
    out[i] = shape->area() + sum;
    free(list);
    delete shape;
}

} // namespace

TEST_CASE("functions that call themselves") {
    CHECK_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
    const Memory<int> out(64);
    recurse<<<1, 64>>>(out.data());
    const auto result = out.read();
    CHECK(result[0] == 3);
    CHECK(result[9] == 3405);
    CHECK(result[11] == 109);
}

TEST_CASE("functions called through a table and through a pointer from the host") {
    Function handed = nullptr;
    CHECK_CUDA(cudaMemcpyFromSymbol(&handed, single, sizeof handed));
    const Memory<float> out(96);
    call<<<1, 96>>>(out.data(), handed);
    const auto result = out.read();
    CHECK(result[3] == 6004);
    CHECK(result[4] == 8008);
    CHECK(result[5] == 10025);
}

TEST_CASE("virtual functions, new and delete, malloc and free") {
    const Memory<int> out(64);
    shapes<<<1, 64>>>(out.data());
    const auto result = out.read();
    CHECK(result[7] == 49 + 120);
    CHECK(result[8] == 24 + 120);
}
