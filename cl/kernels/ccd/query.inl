// Functions for queries with features of the kind CCD_KIND, in plain or doubled numbers. If
// CCD_OF_MESHES is defined, they include queries of two meshes.
#include "geometry/certificate.inl"
#include "kernels/ccd/front.inl"
#include "kernels/ccd/rows.inl"
#ifdef CCD_OF_MESHES
#include "kernels/ccd/windows.inl"
#endif
#include "geometry/certificate_off.h"
