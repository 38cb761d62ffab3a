#define REAL_DOUBLE 1
#define TANGENTS 1
#define HOST_LAUNCH host_launch_f64_dual
#include "engine/device/host_path.inl"
