/// \file
/// Kernels that race. Where it looks meant the emulator warns and the launch goes on; others look alike and
/// are wrong; and where the code says that it is meant nothing is said.
///
/// usage: deliberate NAME | --list

#include <cuda/atomic>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr int vertices = 512;
constexpr int degree = 4;

struct Data {
    int keys[1024];
    float values[1024];
    int edges[vertices * degree];
    int label[vertices], parent[vertices];
    unsigned char visited[vertices], fresh[vertices];
    int out[1024];
    int found, where, row, column, changed, best, count;
    float sum;
};

__device__ int global_thread() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// ---------------------------------------------------------------- meant

__global__ void find_any(Data* d, int wanted) {
    const int i = global_thread();
    if (d->keys[i] == wanted)
        d->where = i;
}

__global__ void find_any_once(Data* d, int wanted) {
    const int i = global_thread();
    if (d->where == -1 && d->keys[i] == wanted)
        d->where = i;
}

__global__ void early_exit(Data* d, int wanted, int rounds) {
    for (int k = 0; k < rounds; ++k) {
        if (d->found)
            return;
        if (d->keys[(global_thread() * 7 + k) % 1024] == wanted)
            d->found = 1;
        __threadfence();
    }
}

__global__ void early_exit_in_block(Data* d, int wanted, int rounds) {
    __shared__ int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    for (int k = 0; k < rounds; ++k) {
        if (found)
            break;
        if (d->keys[(global_thread() * 7 + k) % 1024] == wanted)
            found = 1;
        __threadfence_block();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        d->out[blockIdx.x] = found;
}

/// A level of a breadth-first search, with distances.
__global__ void bfs_distance(Data* d, int level) {
    const int u = global_thread();
    if (d->label[u] != level)
        return;
    for (int e = 0; e < degree; ++e) {
        const int v = d->edges[u * degree + e];
        if (d->label[v] < 0) {
            d->label[v] = level + 1;
            d->changed = 1;
        }
    }
}

/// As Rodinia's, with the tree of predecessors.
__global__ void bfs_parent(Data* d) {
    const int u = global_thread();
    if (!d->visited[u])
        return;
    for (int e = 0; e < degree; ++e) {
        const int v = d->edges[u * degree + e];
        if (!d->fresh[v]) {
            d->parent[v] = u;
            d->fresh[v] = 1;
        }
    }
}

/// Labels sink along the edges, and the host repeats the launch until none has changed.
__global__ void label_propagation(Data* d) {
    const int u = global_thread();
    for (int e = 0; e < degree; ++e) {
        const int v = d->edges[u * degree + e];
        const int mine = d->label[u];
        if (mine < d->label[v]) {
            d->label[v] = mine;
            d->changed = 1;
        }
    }
}

/// The same inside one block, with its own rounds.
__global__ void components_in_block(Data* d) {
    __shared__ int label[vertices];
    __shared__ int changed;
    const int u = static_cast<int>(threadIdx.x);
    label[u] = u;
    do {
        __syncthreads();
        if (u == 0)
            changed = 0;
        __syncthreads();
        for (int e = 0; e < degree; ++e) {
            const int other = label[d->edges[u * degree + e] % vertices];
            if (other < label[u]) {
                label[u] = other;
                changed = 1;
            }
        }
        __syncthreads();
    } while (changed);
    d->label[u] = label[u];
}

/// Which keys occur: a histogram of flags, set only where they are not.
__global__ void seen_keys(Data* d) {
    const int key = d->keys[global_thread()] & 511;
    if (!d->visited[key])
        d->visited[key] = 1;
}

/// Sets a flag where a value is far off, and looks first, to save the store.
__global__ void convergence(Data* d, float limit) {
    const int i = global_thread();
    const float off = fabsf(d->values[i] - d->values[(i + 1) % 1024]);
    if (off > limit && d->changed == 0)
        d->changed = 1;
}

// ---------------------------------------------------------------- meant, and said as the warning advises

using Shared = cuda::atomic_ref<int, cuda::thread_scope_block>;
using Global = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr auto relaxed = cuda::memory_order_relaxed;

__global__ void find_any_said(Data* d, int wanted) {
    const int i = global_thread();
    if (d->keys[i] == wanted)
        Global(d->where).store(i, relaxed);
}

__global__ void early_exit_in_block_said(Data* d, int wanted, int rounds) {
    __shared__ int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    for (int k = 0; k < rounds; ++k) {
        if (Shared(found).load(relaxed))
            break;
        if (d->keys[(global_thread() * 7 + k) % 1024] == wanted)
            Shared(found).store(1, relaxed);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        d->out[blockIdx.x] = found;
}

__global__ void label_propagation_said(Data* d) {
    const int u = global_thread();
    for (int e = 0; e < degree; ++e) {
        const int v = d->edges[u * degree + e];
        const int mine = Global(d->label[u]).load(relaxed);
        if (mine < Global(d->label[v]).load(relaxed)) {
            Global(d->label[v]).store(mine, relaxed);
            d->changed = 1;
        }
    }
}

// ---------------------------------------------------------------- no races but in the compiler's code

/// nvcc loads `owner` in all threads.
__global__ void one_thread_looks(Data* d, int wanted) {
    __shared__ int owner;
    if (threadIdx.x == 0)
        owner = 0;
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        if (threadIdx.x == 0 && owner == wanted)
            d->out[k] = d->keys[k];
        if (threadIdx.x == 0)
            owner = d->keys[k + 4];
    }
}

__global__ void one_thread_selects(Data* d, int otherwise) {
    __shared__ int owner;
    if (threadIdx.x == 0)
        owner = d->keys[3];
    d->out[threadIdx.x] = threadIdx.x == 0 ? owner : otherwise;
}

// ---------------------------------------------------------------- look alike, and are wrong

__global__ void many_threads_look(Data* d, int wanted) {
    __shared__ int owner;
    if (threadIdx.x == 0)
        owner = 0;
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        if (threadIdx.x < 40 && owner == wanted)
            d->out[k * 64 + threadIdx.x] = d->keys[k];
        if (threadIdx.x == 0)
            owner = d->keys[k + 4];
    }
}

__global__ void every_block_stores_its_sum(Data* d) {
    int sum = d->keys[global_thread()];
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_down_sync(~0u, sum, k);
    if (threadIdx.x == 0)
        d->where = sum;
}

/// Only blocks that found something store, all to the same place.
__global__ void some_blocks_store_their_sum(Data* d) {
    int sum = d->keys[global_thread()];
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_down_sync(~0u, sum, k);
    if (threadIdx.x == 0 && sum > 0)
        d->where = sum;
}

__global__ void maximum(Data* d) {
    const int key = d->keys[global_thread()];
    if (key > d->best)
        d->best = key;
}

__global__ void last_index(Data* d, int wanted) {
    const int i = global_thread();
    if (d->keys[i] == wanted && i > d->where)
        d->where = i;
}

/// Row and column of a match may come from two different threads.
__global__ void find_pair(Data* d, int wanted) {
    const int i = global_thread();
    if (d->keys[i] == wanted) {
        d->row = i / 32;
        d->column = i % 32;
    }
}

__global__ void compact(Data* d, int wanted) {
    const int i = global_thread();
    if (d->keys[i] == wanted) {
        d->out[d->count] = i;
        d->count = d->count + 1;
    }
}

/// The barrier between the set and the test of the flag is missing.
__global__ void flag_without_barrier(Data* d, int wanted) {
    __shared__ int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    if (d->keys[global_thread()] == wanted)
        found = 1;
    if (found)
        d->out[global_thread()] = 1;
}

/// A fast thread clears the flag before a slow one has tested it: the barrier behind the loop's test is
/// missing.
__global__ void rounds_without_barrier(Data* d) {
    __shared__ int label[vertices];
    __shared__ int changed;
    const int u = static_cast<int>(threadIdx.x);
    label[u] = u;
    do {
        if (u == 0)
            changed = 0;
        __syncthreads();
        const int other = label[d->edges[u * degree] % vertices];
        __syncthreads();
        if (other < label[u]) {
            label[u] = other;
            changed = 1;
        }
        __syncthreads();
    } while (changed);
    d->label[u] = label[u];
}

/// Threads that leave the loop no longer come to its barrier; some see the flag a round later.
__global__ void early_exit_past_barrier(Data* d, int wanted, int rounds) {
    __shared__ int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < rounds; ++k) {
        if (found)
            break;
        if (d->keys[(global_thread() * 7 + k) % 1024] == wanted)
            found = 1;
        __syncthreads();
        sum += k;
    }
    d->out[global_thread()] = sum;
}

/// The first block clears the flag that the others have yet to test.
__global__ void clears_too_early(Data* d) {
    if (d->found == 0)
        return;
    d->out[global_thread()] = d->keys[global_thread()];
    if (threadIdx.x == 0)
        d->found = 0;
}

/// Neighbours are exchanged without a barrier between the two halves of a round: an element gets lost.
__global__ void odd_even(Data* d, int rounds) {
    __shared__ int key[256];
    __shared__ int changed;
    const int i = static_cast<int>(threadIdx.x);
    key[i] = d->keys[i];
    if (i == 0)
        changed = 0;
    __syncthreads();
    for (int k = 0; k < rounds; ++k)
        for (int half = 0; half < 2; ++half)
            if (i % 2 == half && i < 255 && key[i] > key[i + 1]) {
                const int mine = key[i];
                key[i] = key[i + 1];
                key[i + 1] = mine;
                changed = 1;
            }
    __syncthreads();
    d->out[i] = key[i] + changed;
}

/// A minimum by halves, without its barriers.
__global__ void minimum_by_halves(Data* d) {
    __shared__ int key[256];
    const int i = static_cast<int>(threadIdx.x);
    key[i] = d->keys[i];
    __syncthreads();
    for (int k = 128; k > 0; k /= 2)
        if (i < k && key[i + k] < key[i])
            key[i] = key[i + k];
    if (i == 0)
        d->out[0] = key[0];
}

/// A slot is free for several threads at once, and all but one lose what they put there.
__global__ void hash_insert(Data* d) {
    const int key = d->keys[global_thread()];
    const int slot = key * 37 & 15;
    if (d->visited[slot] == 0) {
        d->visited[slot] = 1;
        d->label[slot] = key;
    }
}

/// Data behind a plain flag: nothing says that they are there when the flag is.
__global__ void data_behind_flag(Data* d, int wanted) {
    const int i = global_thread();
    if (d->found) {
        d->out[i] = d->best;
        return;
    }
    if (d->keys[i] == wanted) {
        d->best = 1000 + d->keys[i];
        d->found = 1;
    }
}

/// Each block finds the same condition true: none has found anything of its own.
__global__ void told_by_one_value(Data* d) {
    if (d->best == 0 && threadIdx.x == 0)
        d->where = static_cast<int>(blockIdx.x);
}

/// A bound that was loaded is no search.
__global__ void within_loaded_bounds(Data* d) {
    const int i = static_cast<int>(threadIdx.x % 32);
    if (i < d->keys[blockIdx.x * 7])
        d->where = i;
}

/// One place for two different findings.
__global__ void two_flags(Data* d, int wanted) {
    const int key = d->keys[global_thread()];
    if (key == wanted)
        d->found = 1;
    else if (key == wanted + 1)
        d->found = 2;
}

__global__ void scatter(Data* d, int limit) {
    const int i = global_thread();
    if (d->keys[i] < limit)
        d->out[d->label[i & 511] & 15] = i;
}

struct Case {
    const char* name;
    const char* verdict; ///< meant, silent or wrong.
    void (*launch)(Data*);
};

constexpr Case cases[] = {
    {"find_any", "meant", [](Data* d) { find_any<<<8, 128>>>(d, 5); }},
    {"find_any_once", "meant", [](Data* d) { find_any_once<<<8, 128>>>(d, 5); }},
    {"early_exit", "meant", [](Data* d) { early_exit<<<8, 128>>>(d, 5, 8); }},
    {"early_exit_in_block", "meant", [](Data* d) { early_exit_in_block<<<2, 128>>>(d, 5, 8); }},
    {"bfs_distance", "meant", [](Data* d) { bfs_distance<<<4, 128>>>(d, 0); }},
    {"bfs_parent", "meant", [](Data* d) { bfs_parent<<<4, 128>>>(d); }},
    {"label_propagation", "meant", [](Data* d) { label_propagation<<<4, 128>>>(d); }},
    {"components_in_block", "meant", [](Data* d) { components_in_block<<<1, vertices>>>(d); }},
    {"seen_keys", "meant", [](Data* d) { seen_keys<<<8, 128>>>(d); }},
    {"convergence", "meant", [](Data* d) { convergence<<<8, 128>>>(d, 1.5f); }},
    {"find_any_said", "silent", [](Data* d) { find_any_said<<<8, 128>>>(d, 5); }},
    {"early_exit_in_block_said", "silent", [](Data* d) { early_exit_in_block_said<<<2, 128>>>(d, 5, 8); }},
    {"label_propagation_said", "silent", [](Data* d) { label_propagation_said<<<4, 128>>>(d); }},
    {"one_thread_looks", "silent", [](Data* d) { one_thread_looks<<<1, 64>>>(d, 55); }},
    {"one_thread_selects", "silent", [](Data* d) { one_thread_selects<<<1, 64>>>(d, 55); }},
    {"many_threads_look", "wrong", [](Data* d) { many_threads_look<<<1, 64>>>(d, 55); }},
    {"every_block_stores_its_sum", "wrong", [](Data* d) { every_block_stores_its_sum<<<8, 32>>>(d); }},
    {"some_blocks_store_their_sum", "wrong", [](Data* d) { some_blocks_store_their_sum<<<8, 32>>>(d); }},
    {"maximum", "wrong", [](Data* d) { maximum<<<8, 128>>>(d); }},
    {"last_index", "wrong", [](Data* d) { last_index<<<8, 128>>>(d, 5); }},
    {"find_pair", "wrong", [](Data* d) { find_pair<<<8, 128>>>(d, 5); }},
    {"compact", "wrong", [](Data* d) { compact<<<8, 128>>>(d, 5); }},
    {"flag_without_barrier", "wrong", [](Data* d) { flag_without_barrier<<<2, 128>>>(d, 5); }},
    {"rounds_without_barrier", "wrong", [](Data* d) { rounds_without_barrier<<<1, vertices>>>(d); }},
    {"early_exit_past_barrier", "wrong", [](Data* d) { early_exit_past_barrier<<<2, 128>>>(d, 5, 8); }},
    {"clears_too_early", "wrong", [](Data* d) { d->found = 1, clears_too_early<<<8, 128>>>(d); }},
    {"odd_even", "wrong", [](Data* d) { odd_even<<<1, 256>>>(d, 16); }},
    {"minimum_by_halves", "wrong", [](Data* d) { minimum_by_halves<<<1, 256>>>(d); }},
    {"hash_insert", "wrong", [](Data* d) { hash_insert<<<8, 128>>>(d); }},
    {"data_behind_flag", "wrong", [](Data* d) { data_behind_flag<<<8, 128>>>(d, 5); }},
    {"told_by_one_value", "wrong", [](Data* d) { told_by_one_value<<<8, 128>>>(d); }},
    {"within_loaded_bounds", "wrong", [](Data* d) { within_loaded_bounds<<<8, 128>>>(d); }},
    {"two_flags", "wrong", [](Data* d) { two_flags<<<8, 128>>>(d, 5); }},
    {"scatter", "wrong", [](Data* d) { scatter<<<8, 128>>>(d, 40); }},
};

Data* make_data() {
    Data* d = nullptr;
    if (cudaMallocManaged(&d, sizeof(Data)) != cudaSuccess)
        return nullptr;
    std::memset(d, 0, sizeof(Data));
    for (int i = 0; i < 1024; ++i) {
        d->keys[i] = i * 29 % 61;
        d->values[i] = static_cast<float>(i % 5);
    }
    for (int u = 0; u < vertices; ++u) {
        d->label[u] = u % 4 ? (u * 7) % vertices - vertices : 0;
        d->visited[u] = u % 3 == 0;
        for (int e = 0; e < degree; ++e)
            d->edges[u * degree + e] = (u * 31 + e * 17 + 5) % 97;
    }
    d->where = -1;
    return d;
}

} // namespace

int main(int argc, char** argv) {
    for (const Case& each : cases) {
        if (argc > 1 && std::strcmp(argv[1], "--list") == 0) {
            std::printf("%s %s\n", each.verdict, each.name);
            continue;
        }
        if (argc < 2 || std::strcmp(argv[1], each.name) != 0)
            continue;
        Data* d = make_data();
        if (!d)
            return 2;
        each.launch(d);
        std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    }
    return 0;
}
