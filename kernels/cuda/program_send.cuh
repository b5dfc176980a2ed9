// A message at its destination, when others may be on their way to the same.

// Combines a message into what vertex v has got. ATOMIC: by an atomic whatever is there, and with
// no other means, to measure what is saved without.
__device__ __forceinline__ void send_to(MESSAGE *messages, uint8 *received, uint64 v, MESSAGE m) {
    MESSAGE *place = messages + v;
    if constexpr (COMBINE_SUM) {
        atomic_add(place, m);
    } else if constexpr (COMBINE_ANY) {
        if constexpr (ATOMIC)
            atomic_combine<false>(place, m, Later());
        else
            *place = m;
    } else if constexpr (COMBINE_MAX) {
        atomic_max<!ATOMIC>(place, m);
    } else {
        atomic_min<!ATOMIC>(place, m);
    }
    if (NEEDS_RECEIVED && !received[v])
        received[v] = 1;
}
