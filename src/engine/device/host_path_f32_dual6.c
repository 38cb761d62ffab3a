#define REAL_DOUBLE 0
#define TANGENTS 6
#define WITH_ADJOINT 0
#define HOST_LAUNCH host_launch_f32_dual6
#include "engine/device/host_path.inl"
