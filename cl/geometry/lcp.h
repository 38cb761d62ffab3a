// Boxed linear complementarity problems (docs/dev/lcp-formulas.md, section 2): names that the host
// and the kernels share.
#ifndef GEOMETRY_LCP_H
#define GEOMETRY_LCP_H

#define LCP_NO_PARENT -1 // in a row's parent: f >= 0, for a normal
#define LCP_BOXED -2     // in a row's parent: |f| <= box, for a friction loss

// The allowed residual as a share of the largest b.
#define LCP_USUAL_DOUBLE 1e-10
#define LCP_USUAL_FLOAT 1e-4

// Classes of rows: docs/dev/lcp-formulas.md, section 4.
#define LCP_SEPARATING 0 // f = 0
#define LCP_CLAMPING 1   // w = 0
#define LCP_UPPER 2      // f at its upper bound
#define LCP_LOWER 3      // f at its lower bound
#define LCP_TIED 4       // f at a bound, and w = 0

// The method that solved a problem (docs/dev/lcp-formulas.md, section 3).
#define LCP_WARM 0    // by the guessed classes
#define LCP_PIVOTED 1 // by principal pivoting
#define LCP_BY_LEMKE 2
#define LCP_SQUEEZED 3 // it has no solution; that of A + LCP_SOFT diag(A) was found
#define LCP_FAILED 4   // not solved; the best f found is returned
#define LCP_BAD 5      // its numbers do not form a problem
#define LCP_LEFT 6     // not solved yet: lcp_solve has left it to lcp_rest

// The memory of a problem of m rows in addition to its results: numbers, and places.
#define LCP_NUMBERS(m) ((m) * ((m) + 4))
#define LCP_PLACES(m) (4 * (m))

// Lemke's method has one tableau for every LCP_SHARED problems: its numbers and places, for m rows
// that may all be friction rows, each of which needs three rows of the tableau.
#define LCP_SHARED 8
#define LCP_TABLE(m) (3 * (m) * (6 * (m) + 2))
#define LCP_TABLE_PLACES(m) (7 * (m))

#endif
