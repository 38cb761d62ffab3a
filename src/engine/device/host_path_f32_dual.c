#define REAL_DOUBLE 0
#define TANGENTS 1
#define HOST_LAUNCH host_launch_f32_dual
#include "engine/device/host_path.inl"
