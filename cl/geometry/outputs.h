// The outputs of a contact. The kernels, the library, the command, Python and XLA share this table.
// docs/dev/extending.md describes the requirements of a new line.
//
// OUTPUT(member, ID, reals): the member of the public structs (abut_batch, abut_compact,
// abut_cotangents, abut_tangents), which is also the output's name in files and Python; the suffix
// of WANT_*, VALUE_* and SCRATCH_*; and the number of reals of a contact. AND() separates lines.
#ifndef GEOMETRY_OUTPUTS_H
#define GEOMETRY_OUTPUTS_H

// Outputs that lists of active contacts compute without the whole manifold. They are the rows of
// Jacobian blocks, and the default outputs in Python.
// clang-format off
#define LISTED_OUTPUTS(OUTPUT, AND) \
  OUTPUT(p, P, 3) AND()             \
  OUTPUT(d, D, 1) AND()             \
  OUTPUT(n, N, 3) AND()             \
  OUTPUT(activity, ACTIVITY, 1)

// Outputs that need the whole manifold.
#define WHOLE_OUTPUTS(OUTPUT, AND) \
  OUTPUT(weight, WEIGHT, 1)
// clang-format on

#define CONTACT_OUTPUTS(OUTPUT, AND) LISTED_OUTPUTS(OUTPUT, AND) AND() WHOLE_OUTPUTS(OUTPUT, AND)

#define AND_NOTHING()
#define AND_COMMA() ,

// The outputs' numbers, and the bits of `want`, the outputs that a call wants.
#define OUTPUT_NUMBER(member, id, reals) OUTPUT_##id
#define OUTPUT_WANT(member, id, reals) WANT_##id = 1 << OUTPUT_##id
enum { CONTACT_OUTPUTS(OUTPUT_NUMBER, AND_COMMA), OUTPUTS };
enum { CONTACT_OUTPUTS(OUTPUT_WANT, AND_COMMA) };
#define OUTPUT_ONE(member, id, reals) +1
#define OUTPUTS_LISTED (0 LISTED_OUTPUTS(OUTPUT_ONE, AND_NOTHING))
#define OUTPUT_BIT(member, id, reals) | WANT_##id
#define WANT_LISTED (0 LISTED_OUTPUTS(OUTPUT_BIT, AND_NOTHING))
#define WANT_NORMALS WANT_N // outputs that depend on normals
#define WANT_WHOLE (0 WHOLE_OUTPUTS(OUTPUT_BIT, AND_NOTHING))

// The places of an entry's numbers in a row, and of its values' planes: first those of listed
// outputs, VALUE_PLANES, then the others.
#define OUTPUT_PLACE(member, id, reals) VALUE_##id, VALUE_LAST_##id = VALUE_##id + (reals)-1
enum {
  LISTED_OUTPUTS(OUTPUT_PLACE, AND_COMMA),
  VALUE_PLANES,
  VALUE_LAST_LISTED = VALUE_PLANES - 1,
  WHOLE_OUTPUTS(OUTPUT_PLACE, AND_COMMA),
  COMPACT_REALS
};

// The arguments of kernels that have all outputs, or the cotangents of all outputs.
#define OUTPUT_ARRAY(member, id, reals) GLOBAL real *member
#define OUTPUT_VALUES(member, id, reals) GLOBAL const real *member
#define OUTPUT_BARS(member, id, reals) GLOBAL const real *member##_bar
#define OUTPUT_MEMBER(member, id, reals) member
#define OUTPUT_MAY_STAY(member, id, reals) (void)member;
#define OUTPUT_BARS_MAY_STAY(member, id, reals) (void)member##_bar;
#define OUTPUT_MEMBERS CONTACT_OUTPUTS(OUTPUT_MEMBER, AND_COMMA)
#define OUTPUT_ARRAYS_TO_WRITE CONTACT_OUTPUTS(OUTPUT_ARRAY, AND_COMMA)
#define OUTPUT_ARRAYS_TO_READ CONTACT_OUTPUTS(OUTPUT_VALUES, AND_COMMA)
#define OUTPUT_BARS_TO_READ CONTACT_OUTPUTS(OUTPUT_BARS, AND_COMMA)

#endif
