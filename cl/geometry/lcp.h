// Boxed linear complementarity problems (docs/dev/lcp-formulas.md, section 2): what host and
// kernels both name.
#ifndef GEOMETRY_LCP_H
#define GEOMETRY_LCP_H

#define LCP_NO_PARENT -1 // in a row's parent: f >= 0, as of a normal
#define LCP_BOXED -2     // in a row's parent: |f| <= box, as of a friction loss

// What a residual may be, as a share of the largest b.
#define LCP_USUAL_DOUBLE 1e-10
#define LCP_USUAL_FLOAT 1e-4

// Classes of rows: docs/dev/lcp-formulas.md, section 4.
#define LCP_SEPARATING 0 // f = 0
#define LCP_CLAMPING 1   // w = 0
#define LCP_UPPER 2      // f at its upper bound
#define LCP_LOWER 3      // f at its lower bound
#define LCP_TIED 4       // f at a bound, and w = 0

// How a problem was solved: docs/dev/lcp-formulas.md, section 3.
#define LCP_WARM 0    // by the classes that were guessed
#define LCP_PIVOTED 1 // by principal pivoting
#define LCP_BY_LEMKE 2
#define LCP_SQUEEZED 3 // it has no solution; that of A + LCP_SOFT diag(A) was found
#define LCP_FAILED 4   // not at all; the best f that was seen is given
#define LCP_BAD 5      // its numbers are not those of a problem
#define LCP_LEFT 6     // not yet: lcp_solve has left it to lcp_rest

// The memory of a problem of m rows beside its answers: numbers, and places.
#define LCP_NUMBERS(m) ((m) * ((m) + 4))
#define LCP_PLACES(m) (4 * (m))

// Lemke's method has one tableau for every LCP_SHARED problems: its numbers and places, for m rows
// that may all be of friction, which takes three rows of the tableau each.
#define LCP_SHARED 8
#define LCP_TABLE(m) (3 * (m) * (6 * (m) + 2))
#define LCP_TABLE_PLACES(m) (7 * (m))

#endif
