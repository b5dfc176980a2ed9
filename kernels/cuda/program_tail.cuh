// The tail of a program in which all vertices send in every superstep: when what most of them send
// has come to rest, the others push by how much it changed, and the sums stay as they were.
//
// `sent` is what the neighbours of each vertex have of it. A change of no more than `least` of the
// value waits until it is larger, so nothing is lost, and sums are right to that part.

// Pushing a change is an atomic at a random place, which takes about as long as a pull of so many
// edges.
constexpr int64 TAIL_EDGES = 16;

// Who has a change to send: `active`, and how many edges these have.
extern "C" __global__ void __launch_bounds__(256)
    find_changes(Run run, const MESSAGE *emitted, const MESSAGE *sent, uint8 *active,
                 double least) {
    RunControl *control = run.control;
    if (control->done || control->completed == 0)
        return;
    int64 edges = 0;
    for (uint64 u = thread_rank(); u < (uint64)run.num_vertices; u += num_threads()) {
        double value = emitted[u];
        bool changed = run.degree[u] > 0 && fabs(value - sent[u]) > least * fabs(value);
        active[u] = changed;
        edges += changed ? (int64)run.degree[u] : 0;
    }
    edges = block_sum(edges);
    if (threadIdx.x == 0 && edges)
        atomic_add(&control->next_edges, edges);
}

// Whether this superstep pushes changes; nothing was sent before the first. One block.
extern "C" __global__ void choose_tail(Run run, int64 num_edges) {
    RunControl *control = run.control;
    if (control->done || threadIdx.x != 0)
        return;
    bool few = control->completed > 0 && control->next_edges * TAIL_EDGES < num_edges;
    control->direction = few ? BY_PUSH : BY_PULL;
    control->active_edges = few ? control->next_edges : num_edges;
    control->next_edges = 0;
}

struct SendChange {
    const MESSAGE *emitted, *sent;
    MESSAGE *messages;

    __device__ __forceinline__ bool operator()(ID u, ID v, OFFSET) const {
        atomic_add(messages + v, (MESSAGE)(emitted[u] - sent[u]));
        return true;
    }
};

extern "C" __global__ void __launch_bounds__(256)
    push_changes(Run run, Push push, const MESSAGE *emitted, const MESSAGE *sent,
                 MESSAGE *messages) {
    const RunControl *control = run.control;
    if (!control->done && control->direction == BY_PUSH)
        for_edges(control, push, SendChange{emitted, sent, messages});
}

// What the neighbours have now, before apply makes new values.
extern "C" __global__ void settle(Run run, const MESSAGE *emitted, const uint8 *active,
                                  MESSAGE *sent) {
    const RunControl *control = run.control;
    if (control->done)
        return;
    bool all = control->direction == BY_PULL;
    for (uint64 u = thread_rank(); u < (uint64)run.num_vertices; u += num_threads())
        if (all || active[u])
            sent[u] = emitted[u];
}
