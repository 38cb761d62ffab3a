// Boxed linear complementarity problems: what host and kernels both name.
#ifndef GEOMETRY_LCP_H
#define GEOMETRY_LCP_H

#define LCP_NO_PARENT -1 // of a row: f >= 0
#define LCP_BOXED -2     // |f| <= box

// What a residual may be, of the largest b.
#define LCP_USUAL_DOUBLE 1e-10
#define LCP_USUAL_FLOAT 1e-4

// Classes of rows.
#define LCP_SEPARATING 0 // f = 0
#define LCP_CLAMPING 1   // w = 0
#define LCP_UPPER 2      // f at its upper bound
#define LCP_LOWER 3
#define LCP_TIED 4       // at a bound, and w = 0

// How a problem was solved.
#define LCP_WARM 0
#define LCP_PIVOTED 1
#define LCP_BY_LEMKE 2
#define LCP_SQUEEZED 3 // without a solution: that of A + LCP_SOFT diag A
#define LCP_FAILED 4
#define LCP_BAD 5      // not finite
#define LCP_LEFT 6     // for Lemke's method, between the kernels

// Room of a problem of m rows, beside its answers: numbers and places.
#define LCP_NUMBERS(m) ((m) * ((m) + 4))
#define LCP_PLACES(m) (4 * (m))

// A tableau for every so many problems, for rows of which none is without friction's three.
#define LCP_SHARED 8
#define LCP_TABLE(m) (3 * (m) * (6 * (m) + 2))
#define LCP_TABLE_PLACES(m) (7 * (m))

#endif
