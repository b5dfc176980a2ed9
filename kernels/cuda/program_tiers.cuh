// Worklists of a part of the edges, those that are at hand.

// None is listed. One block.
extern "C" __global__ void begin_part(Run run) {
    RunControl *control = run.control;
    if (threadIdx.x == 0)
        control->small = control->medium = control->chunks = 0;
}

// The active vertices that have edges between push.from and push.to.
extern "C" __global__ void __launch_bounds__(256)
    list_part(Run run, Push push, const uint8 *active) {
    RunControl *control = run.control;
    if (control->done)
        return;
    uint64 n = run.num_vertices, first = upper_bound(push.offsets, n + 1, (OFFSET)push.from) - 1;
    for (uint64 base = first + warp_rank() * WARP; base < n; base += num_threads()) {
        if (push.offsets[base] >= (OFFSET)push.to)
            return; // the whole warp, and rows only go on from there
        uint64 v = base + lane();
        int64 length = 0;
        if (v < n && active[v] && row_begin(push, v) < row_end(push, v))
            length = row_end(push, v) - row_begin(push, v);
        sort_in(control, push, (ID)v, length);
    }
}
