"""What the emulator counts, in words: '4 bytes copied by cp.async per asynchronous copy'."""

_WORDS = {
    "global_load_requests": ("load of a warp from global memory", "loads of warps from global memory"),
    "global_load_sectors": ("sector of 32 bytes loaded", "sectors of 32 bytes loaded"),
    "global_store_requests": ("store of a warp to global memory", "stores of warps to global memory"),
    "global_store_sectors": ("sector of 32 bytes stored", "sectors of 32 bytes stored"),
    "global_atomic_requests": (
        "atomic operation of a warp on global memory",
        "atomic operations of warps on global memory",
    ),
    "shared_load_requests": ("load of a warp from shared memory", "loads of warps from shared memory"),
    "shared_load_conflicts": ("bank conflict of a load", "bank conflicts of loads"),
    "shared_store_requests": ("store of a warp to shared memory", "stores of warps to shared memory"),
    "shared_store_conflicts": ("bank conflict of a store", "bank conflicts of stores"),
    "shared_atomic_requests": (
        "atomic operation of a warp on shared memory",
        "atomic operations of warps on shared memory",
    ),
    "tensor_load_sectors": (
        "sector of 32 bytes loaded by tensor copies",
        "sectors of 32 bytes loaded by tensor copies",
    ),
    "bytes_global_to_registers": (
        "byte that passed from global memory through registers",
        "bytes that passed from global memory through registers",
    ),
    "bytes_registers_to_global": (
        "byte that threads stored to global memory",
        "bytes that threads stored to global memory",
    ),
    "bytes_cluster_shared": (
        "byte from or to another block's shared memory",
        "bytes from or to another block's shared memory",
    ),
    "bytes_cp_async": ("byte copied by cp.async", "bytes copied by cp.async"),
    "bytes_cp_async_zeros": ("byte of zeros written by cp.async", "bytes of zeros written by cp.async"),
    "bytes_bulk_load": ("byte loaded by bulk copies", "bytes loaded by bulk copies"),
    "bytes_bulk_store": ("byte stored by bulk copies", "bytes stored by bulk copies"),
    "bytes_bulk_shared": (
        "byte copied to another block's shared memory",
        "bytes copied to another block's shared memory",
    ),
    "bytes_bulk_reduce": ("byte added by bulk reductions", "bytes added by bulk reductions"),
    "bytes_multicast": (
        "byte that multicast gave to a further block",
        "bytes that multicast gave to further blocks",
    ),
    "async_operations": ("asynchronous copy", "asynchronous copies"),
    "block_barriers": ("barrier of a block (__syncthreads)", "barriers of blocks (__syncthreads)"),
    "cluster_barriers": ("barrier of a cluster", "barriers of clusters"),
    "global_load_extra_sectors": (
        "sector more than the bytes loaded need",
        "sectors more than the bytes loaded need",
    ),
    "global_store_extra_sectors": (
        "sector more than the bytes stored need",
        "sectors more than the bytes stored need",
    ),
    "bytes_registers_to_shared": (
        "byte that threads stored to shared memory",
        "bytes that threads stored to shared memory",
    ),
    "bytes_shared_to_registers": (
        "byte that threads loaded from shared memory",
        "bytes that threads loaded from shared memory",
    ),
    "bytes_shared_to_wgmma": (
        "byte of a tile that wgmma read from shared memory",
        "bytes of tiles that wgmma read from shared memory",
    ),
    "multiply_adds_bf16": ("product of two bf16 that was added", "products of two bf16 that were added"),
    "blocks": ("block", "blocks in all"),
    "warps": ("warp", "warps in all"),
    "threads": ("thread", "threads in all"),
    "launches": ("launch", "launches of the kernel"),
    "bytes_tensor_load": ("byte loaded by tensor copies", "bytes loaded by tensor copies"),
    "bytes_tensor_store": ("byte stored by tensor copies", "bytes stored by tensor copies"),
    "local_requests": ("access of a warp to local memory", "accesses of warps to local memory"),
    "wgmma_wavefronts": (
        "pass over shared memory for a wgmma",
        "passes over shared memory for wgmma",
    ),
    "wgmma_instructions": ("wgmma of a warp", "wgmma of warps"),
    "mbarrier_arrivals": ("arrival at an mbarrier", "arrivals at mbarriers"),
    "async_waits": (
        "wait of a thread for copies of its own",
        "waits of threads for copies of their own",
    ),
    "bytes_in_flight_at_waits": (
        "byte still under way when a thread had waited for older copies",
        "bytes still under way when a thread had waited for older copies",
    ),
    "async_uses": ("use of what a copy brought", "uses of what copies brought"),
    "bytes_in_flight_at_uses": (
        "byte under way while a thread used what copies had brought",
        "bytes under way while a thread used what copies had brought",
    ),
    "bytes_loading_at_uses": (
        "byte on its way to shared memory while a thread used what copies had brought",
        "bytes on their way to shared memory while a thread used what copies had brought",
    ),
    "bytes_loading_at_stores": (
        "byte on its way to shared memory while a thread stored to global memory",
        "bytes on their way to shared memory while a thread stored to global memory",
    ),
    "shared_stores_ahead": (
        "store to shared memory ahead of an answer to the last arrival",
        "stores to shared memory ahead of an answer to the last arrival",
    ),
    "bytes_in_flight_at_issues": (
        "byte under way when a further copy was started",
        "bytes under way when further copies were started",
    ),
    "instructions_arrival_to_wait": (
        "instruction between an arrival and the wait",
        "instructions between arrivals and their waits",
    ),
    "instructions_issue_to_wait": (
        "instruction between a copy and the wait for it",
        "instructions between copies and the waits for them",
    ),
    "bytes_loaded_arrival_to_wait": (
        "byte loaded between an arrival and the wait",
        "bytes loaded between arrivals and their waits",
    ),
    "bytes_announced": ("byte announced at an mbarrier", "bytes announced at mbarriers"),
    "mbarrier_phases": ("completed phase of an mbarrier", "completed phases of mbarriers"),
    "mbarriers": ("mbarrier that completed a phase", "mbarriers that completed a phase"),
}
_BOUNDS = {"at_most": "at most", "at_least": "at least", "equals": "exactly"}


def one(field: str) -> str:
    """One of what `field` counts."""
    return _WORDS[field][0] if field in _WORDS else field.replace("_", " ").removesuffix("s")


def many(field: str) -> str:
    """Several of what `field` counts."""
    return _WORDS[field][1] if field in _WORDS else field.replace("_", " ")


def amount(value: float, field: str) -> str:
    """'1 asynchronous copy' or '2.5 asynchronous copies'."""
    return f"{value:.10g} {one(field) if value == 1 else many(field)}"


def bound(word: str, limit: float) -> str:
    """What is wished: 'at most 4'."""
    return f"{_BOUNDS[word]} {limit:g}"


def warps(numbers: tuple[int, int]) -> str:
    """'warp 0 of each block' or 'warps 1 to 3 of each block'."""
    first, last = numbers
    return f"warp {first} of each block" if first == last else f"warps {first} to {last} of each block"
