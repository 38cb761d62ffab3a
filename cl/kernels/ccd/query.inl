// All that queries of a kind need, on one kind of numbers; where CCD_OF_MESHES is set, pairs of two
// meshes' features too.
#include "geometry/certificate.inl"
#include "kernels/ccd/front.inl"
#include "kernels/ccd/rows.inl"
#ifdef CCD_OF_MESHES
#include "kernels/ccd/windows.inl"
#endif
#include "geometry/certificate_off.h"
