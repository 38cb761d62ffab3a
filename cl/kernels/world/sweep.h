// Constants shared by impacts and their derivatives.
#ifndef KERNELS_WORLD_SWEEP
#define KERNELS_WORLD_SWEEP

// lower bound of the stopping speed, as a share of the bodies' largest relative speed
#define SWEEP_SLOWEST R(0.1)
// friction jams if less than this share of the normal's own mobility is left
#define SWEEP_JAMS R(0.1)
#if REAL_DOUBLE
#define SWEEP_LEAST R(1e-12) // share of the tangents' mobility, which is added to it
#else
#define SWEEP_LEAST R(1e-5)
#endif

#endif
