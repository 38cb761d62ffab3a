// What impacts and their derivatives both go by.
#ifndef KERNELS_WORLD_SWEEP
#define KERNELS_WORLD_SWEEP

// of the speed that bodies have against each other at most, by which they are stopped earlier
#define SWEEP_SLOWEST R(0.1)
// of the normal's own mobility: less than this of it is left where friction jams
#define SWEEP_JAMS R(0.1)
#if REAL_DOUBLE
#define SWEEP_LEAST R(1e-12) // of the tangents' mobility, is added to it
#else
#define SWEEP_LEAST R(1e-5)
#endif

#endif
