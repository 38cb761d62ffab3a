// The functions for queries of a kind, on one kind of numbers. If CCD_OF_MESHES is set, they
// include pairs of two meshes' features.
#include "geometry/certificate.inl"
#include "kernels/ccd/front.inl"
#include "kernels/ccd/rows.inl"
#ifdef CCD_OF_MESHES
#include "kernels/ccd/windows.inl"
#endif
#include "geometry/certificate_off.h"
