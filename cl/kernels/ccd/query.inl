// All that queries of a kind need, on one kind of numbers.
#include "geometry/certificate.inl"
#include "kernels/ccd/front.inl"
#include "kernels/ccd/rows.inl"
#include "geometry/certificate_off.h"
