#define REAL_DOUBLE 1
#define TANGENTS 1
#define HOST_LAUNCH host_launch_f64_dual
#include "device/host_path.inl"
