#define REAL_DOUBLE 0
#define TANGENTS 0
#define HOST_LAUNCH host_launch_f32
#include "engine/device/host_path.inl"
