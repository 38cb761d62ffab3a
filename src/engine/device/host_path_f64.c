#define REAL_DOUBLE 1
#define TANGENTS 0
#define HOST_LAUNCH host_launch_f64
#include "engine/device/host_path.inl"
