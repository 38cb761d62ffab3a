// Vertex-SDF contacts (docs/dev/spec.md, section 5): from retained vertices, and the opposing field
// there, to rows of the manifold.
//
// Returns the radii of a block of vertices of one pose: all vertices in sorted order, or the
// vertices that a selection has ranked. radii has two planes of e->padded, in sorted order and in
// the mesh's order, followed by the planes of cones (layout.h).
static num vertex_radius(GLOBAL const real *radii, GLOBAL const int *index,
                         GLOBAL const pair_elements *e, int kept, int first, int pose)
{
  if (!e->radii) {
    return n_lit(R(0.0));
  }
  const int stride = mesh_stride(e, RADII_PLANES);
  GLOBAL const real *row = NUMS(radii, pose, stride);
  return kept ? gather_at(row + e->padded, stride, ROW(index, pose, e->kept + 1), first, e->kept)
              : load(row + first, stride);
}

// Returns the cones of a block of vertices, in the target frame of `frame`. `from` has CONE_PLANES
// planes of `padded`. If `at` exists, it has the vertex of each lane.
static FN(cone) load_cone(GLOBAL const real *from, int padded, GLOBAL const int *at, int first,
                          int count, GLOBAL const real *frame)
{
  lane part[CONE_PLANES];
  for (int i = 0; i < CONE_PLANES; ++i) {
    GLOBAL const real *plane = from + i * padded;
    part[i] = at ? gather_part_at(plane, at, first, count) : lane_load(plane + first);
  }
  FN(cone) k;
  k.axis = turn(frame, FN(make)(n_of(part[0]), n_of(part[1]), n_of(part[2])));
  k.angle = part[CONE_ANGLE];
  k.cosine = part[CONE_COSINE];
  k.sine = part[CONE_SINE];
  k.inset = part[CONE_INSET];
  return k;
}

// Does the same for the vertices of vertex_radius.
static FN(cone) vertex_cone(GLOBAL const real *radii, GLOBAL const int *index,
                            GLOBAL const pair_elements *e, int kept, int first, int pose,
                            GLOBAL const real *frame)
{
  GLOBAL const int *at = kept ? ROW(index, pose, e->kept + 1) : NO_ORDER;
  GLOBAL const real *row = NUMS(radii, pose, mesh_stride(e, RADII_PLANES));
  return load_cone(row + RADII_CONES(kept, e->padded), e->padded, at, first, e->kept, frame);
}

// Returns the vertex itself for `own`, the place inside its body at which the field is evaluated.
// Both are in the frame of body `side`.
static vec beyond_inset(GLOBAL const real *frame, int side, vec own, const FN(cone) *k)
{
  return FN(mad3)(turn(frame + FRAME_ACROSS(!side), k->axis), n_of(k->inset), own);
}

// Returns the distance of the centre of a ball at x from the field's surface, or 0 for a point.
static num seam_depth(num phi, num radius)
{
  return n_select(n_value(radius) > lane_lit(R(0.0)), phi, n_lit(R(0.0)));
}

// Returns the share that seams leave to a contact of a feature of body `side`. x is the place at
// which the other body's field is evaluated, and own the same place in the frame of body `side`.
// The field's zones are evaluated at the place below x, by seam_depth along the normal: the centre
// of a ball may be far above the end of a body that the ball touches there. *of_field and *of_own
// are the gradients with respect to either place.
static num seam_share(GLOBAL const pair_head *pair, int side, vec x, vec normal, num depth, vec own,
                      vec *of_field, vec *of_own)
{
  const vec below = FN(mad3)(normal, n_neg(depth), x);
  const num there = FN(zones_share)(zones_of(pair, !side), pair->n.zones[!side], below, of_field);
  const num here = FN(zones_share)(zones_of(pair, side), pair->n.zones[side], own, of_own);
  *of_field = FN(scale3)(*of_field, here);
  *of_own = FN(scale3)(*of_own, there);
  return n_mul(there, here);
}

// Returns whether the contacts of vertices need their cones for `asked`, WANT_* bits of values or
// of cotangents.
static int needs_cones(GLOBAL const coefficients *c, GLOBAL const pair_elements *e, int asked)
{
  const int inset = c->cone_inset > R(0.0) ? WANT_P | WANT_D : 0;
  const int direct = asked & (WANT_NORMALS | WANT_ACTIVITY | WANT_WEIGHT | inset);
  return c->cones > R(0.0) && (direct || (e->radii && asked & WANT_P));
}

// One work-item computes the contacts of a block of LANES retained vertices of body `side` in one
// pose. The global size is (blocks, poses). points has the vertices' planes in their own frame. If
// all are retained, order has the slot of each. field has field_stride numbers per pose: the planes
// phi and, if normals are wanted, normal. weights are the gate weights. p and n are (poses,
// contacts, 3); d, activity and weight are (poses, contacts).
KERNEL void vertex_contacts(GLOBAL const real *points, GLOBAL const int *order,
                            GLOBAL const real *field, int field_stride, GLOBAL const real *weights,
                            GLOBAL const real *radii, GLOBAL const int *index,
                            GLOBAL const real *frames, GLOBAL const pair_head *pair, int side,
                            int want, OUTPUT_ARRAYS_TO_WRITE)
{
  const int block = (int)get_global_id(0);
  const int pose = (int)get_global_id(1);
  const int first = block * LANES;
  GLOBAL const coefficients *c = &pair->c;
  GLOBAL const pair_elements *e = &pair->n.elements[VERTICES_OF(side)];
  const int count = e->kept, padded = e->plane, ordered = !e->selected;
  const int slot = e->contact, contacts = pair->n.contacts;
  if (first >= count) {
    return;
  }
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *at = NUMS(field, pose, field_stride) + first;
  const num radius = vertex_radius(radii, index, e, e->selected, first, pose);
  num phi = n_sub(load(at, field_stride), radius);
  FN(cone) cone = no_cone();
  vec normal = no_bar(); // of the opposing body, in its frame
  num counts = n_lit(R(1.0));
  if (want & WANT_NORMALS || (e->radii && want & WANT_P)) {
    normal = load3(at + padded, field_stride, padded);
  }
  if (needs_cones(c, e, want)) {
    const vec raw = load3(at + padded, field_stride, padded);
    cone = vertex_cone(radii, index, e, e->selected, first, pose, frame + FRAME_ACROSS(side));
    counts = FN(cone_slot)(raw, &cone, c, &normal);
    if (has_seams(pair)) {
      const int stride = kept_stride(e, POINT_PLANES);
      const vec v = load3(NUMS(points, pose, stride) + first, stride, padded);
      const vec x = place(frame + FRAME_ACROSS(side), v);
      const num depth = seam_depth(load(at, field_stride), radius);
      vec of_field, of_own;
      counts = n_mul(counts, seam_share(pair, side, x, raw, depth, v, &of_field, &of_own));
    }
    phi = n_mad(FN(dot3)(raw, cone.axis), n_of(cone.inset), phi);
  }
  if (want & WANT_P) {
    const int stride = kept_stride(e, POINT_PLANES);
    vec v = load3(NUMS(points, pose, stride) + first, stride, padded);
    if (c->cone_inset > R(0.0)) {
      v = beyond_inset(frame, side, v, &cone);
    }
    if (e->radii) { // the deepest point of the vertex's ball
      const vec out = turn(frame + FRAME_ACROSS(!side), normal);
      v = FN(mad3)(out, n_neg(radius), v);
    }
    store_row3(NUMS(p, pose, 3 * contacts) + 3 * slot, 3 * contacts, order, ordered, first, count,
               poisoned3(frame, place(frame + FRAME_WORLD(side), v)));
  }
  if (want & WANT_D) {
    store_row(NUMS(d, pose, contacts) + slot, contacts, order, ordered, first, count,
              poisoned(frame, phi));
  }
  if (want & WANT_N) {
    const vec w = turn(frame + FRAME_WORLD(!side), normal);
    store_row3(NUMS(n, pose, 3 * contacts) + 3 * slot, 3 * contacts, order, ordered, first, count,
               poisoned3(frame, w));
  }
  if (want & WANT_ACTIVITY) {
    num a = FN(sigmoid)(FN(beneath)(phi, c));
    if (e->weighted) {
      a = n_mul(a, load(NUMS(weights, pose, padded) + first, padded));
    }
    if (c->cones > R(0.0)) {
      a = n_mul(a, counts);
    }
    if (c->floor > R(0.0)) {
      a = FN(above_floor)(a, c->floor, c->floor_inv);
    }
    store_row(NUMS(activity, pose, contacts) + slot, contacts, order, ordered, first, count,
              poisoned(frame, a));
  }
  // Without gates the deepest vertices are retained, so the weight is 1 except for cones.
  if (want & WANT_WEIGHT) {
    store_row(NUMS(weight, pose, contacts) + slot, contacts, order, ordered, first, count,
              poisoned(frame, counts));
  }
}

// Adds the effect on a pose of `pull`, the cotangent of the normal n. All kernels that lead from
// vertices back to a pose share this function. All arguments are in body 1's frame except n, which
// is in the frame of the opposing body, whose field gives it.
static void twist_normal(GLOBAL const real *frame, int side, vec n, vec pull, wrench *relative,
                         wrench *carried)
{
  const vec normal = side ? n : turn_back(frame + FRAME_1_TO_2, n);
  twist_direction(carried, normal, pull);
  if (!side) {
    twist_direction(relative, normal, pull);
  }
}

// Adds the effect of a vertex's cotangents, and returns the cotangent of the vertex, in body 1's
// frame. own is the vertex in its own frame. bar is the cotangent from the opposing field, in that
// body's frame. push, used if `pushed` is set, is the cotangent of its place in the world.
static vec push_vertex(GLOBAL const real *frame, int side, vec own, vec bar, int pushed, vec push,
                       wrench *relative, wrench *carried)
{
  const vec x = side ? place(frame + FRAME_2_TO_1, own) : own;
  bar = side ? bar : turn_back(frame + FRAME_1_TO_2, bar);
  if (!side) {
    push_at(relative, x, FN(neg3)(bar));
  }
  if (pushed) {
    push_at(carried, x, push);
    bar = FN(add3)(bar, push);
  }
  if (side) {
    push_at(relative, x, bar);
  }
  return bar;
}

// Adds the cotangent of a vertex's place in the world.
static void push_point(GLOBAL const real *frame, int side, vec own, vec push, wrench *relative,
                       wrench *carried)
{
  const vec x = side ? place(frame + FRAME_2_TO_1, own) : own;
  push_at(carried, x, push);
  if (side) {
    push_at(relative, x, push);
  }
}

// A block of vertices, and the location of their contacts' cotangents in rows of the manifold.
typedef struct vertex_rows {
  GLOBAL const int *order;
  int ordered, pose, first, count, slot, contacts;
} vertex_rows;

// Reads a number's cotangents; with `shared` there is one row for all poses.
static num vertex_bar(const vertex_rows *v, GLOBAL const real *bars, int shared)
{
  const int stride = shared ? 0 : v->contacts;
  return cotangent(NUMS(bars, v->pose, stride) + v->slot, stride, v->order, v->ordered, v->first,
                   v->count);
}

// Reads the cotangents of vectors in the world, and rotates them into body 1's frame.
static vec vertex_bar3(const vertex_rows *v, GLOBAL const real *bars, GLOBAL const real *frame)
{
  const int stride = 3 * v->contacts;
  const vec world = cotangent3(NUMS(bars, v->pose, stride) + 3 * v->slot, stride, v->order,
                               v->ordered, v->first, v->count);
  return turn_back(frame + FRAME_WORLD_1, world);
}

// Adds the cotangent of a cone's axis, which is fixed on body `side`. axis and bar are in the frame
// of the opposing body.
static void twist_axis(GLOBAL const real *frame, int side, vec axis, vec bar, wrench *relative)
{
  if (side) {
    twist_direction(relative, axis, bar);
  } else {
    twist_direction(relative, turn_back(frame + FRAME_1_TO_2, axis),
                    FN(neg3)(turn_back(frame + FRAME_1_TO_2, bar)));
  }
}

// Returns phi_bar plus the contribution of the cotangent `bar` of an activity. If `weighted` is
// set, the sigmoid is multiplied by weight, whose cotangent is written to *weight_bar. Otherwise
// weight is 1.
static num add_activity_bar(num phi_bar, num phi, num bar, int weighted, num weight,
                            num *weight_bar, GLOBAL const coefficients *c)
{
  num slope; // of the activity, which decreases as phi grows
  const num a = FN(sigmoid_and_slope)(FN(beneath)(phi, c), &slope);
  if (c->floor > R(0.0)) {
    num floor_slope;
    FN(above_floor_and_slope)(n_mul(a, weight), c->floor, c->floor_inv, &floor_slope);
    bar = n_mul(bar, floor_slope);
  }
  if (weighted) {
    *weight_bar = n_mul(bar, a);
    bar = n_mul(bar, weight);
  }
  return n_mad(bar, n_scale(slope, -c->penetration_inv), phi_bar);
}

// Converts the cotangents of a coned slot's weight (counts_bar, only the factor of its cone) and of
// its distance. Returns the cotangent of the normal, and adds the rotation of the cone's axis.
// of_field and `seam` are results of seam_share.
static vec coned_normal_bar(GLOBAL const real *frame, int side, vec normal, const FN(cone) *cone,
                            num counts_bar, num d_bar, vec of_field, num seam, vec normal_bar,
                            GLOBAL const coefficients *c, wrench *relative)
{
  vec axis_bar;
  normal_bar = FN(cone_adjoint)(normal, cone, c, counts_bar, normal_bar, &axis_bar);
  const num inset_bar = n_times(d_bar, cone->inset);
  normal_bar = FN(mad3)(cone->axis, inset_bar, normal_bar);
  normal_bar = FN(mad3)(of_field, n_neg(seam), normal_bar);
  axis_bar = FN(mad3)(normal, inset_bar, axis_bar);
  twist_axis(frame, side, cone->axis, axis_bar, relative);
  return normal_bar;
}

// Returns phi_bar plus the contribution of the activity's cotangent `bar`. If `weighted` is set,
// the gate's weight is at `weights`, and weights_bar gets its cotangent. For coned slots counts_bar
// gets that of `counts`.
static num gated_activity_bar(num phi_bar, num depth, num bar, int weighted,
                              GLOBAL const real *weights, GLOBAL real *weights_bar, int padded,
                              int coned, num counts, num *counts_bar, GLOBAL const coefficients *c)
{
  num gate = n_lit(R(1.0)), gate_bar = gate;
  if (weighted) {
    gate = load(weights, padded);
  }
  phi_bar = add_activity_bar(phi_bar, depth, bar, weighted || coned,
                             coned ? n_mul(gate, counts) : gate, &gate_bar, c);
  if (coned) {
    *counts_bar = n_mul(gate_bar, gate);
    gate_bar = n_mul(gate_bar, counts);
  }
  if (weighted) {
    store(weights_bar, padded, gate_bar);
  }
  return phi_bar;
}

#if TANGENTS == 0
// Stores the cotangents of the radii of a block of vertices: the share of their distances and, if
// points `move`, the share of p = v - radius out.
static void store_radius_bar(GLOBAL real *row, GLOBAL const int *names, int first, int count,
                             num d_bar, int move, vec push, vec out)
{
  num bar = n_neg(d_bar);
  if (move) {
    bar = n_sub(bar, FN(dot3)(push, out));
  }
  store_part(row, names, 1, first, count, 1, bounded(bar, COTANGENT_LIMIT));
}
#endif

// The adjoint of vertex_contacts and of the field that it uses, written by hand. One work-item has
// a block of LANES vertices of body `side` (0 for body 1, 1 for body 2) in one pose. `field` has
// the field's derivatives: those of field_jet if n has cotangents, otherwise those of
// field_gradient. The gradient is at plane `gradient_plane`.
//
// With `kept` the vertices are those that a selection retains, otherwise all of the body. `have`
// has WANT_* bits of the cotangents that exist, p_bar to weight_bar, rows of the manifold. Those of
// d and of the activity may be one row for all poses (d_shared, a_shared). If `scored` is set,
// scores_bar has a plane of cotangents of phi at the points, from a selection.
//
// The kernel writes each block's wrenches. If `leaves` is set, it writes points_bar (poses, 3,
// padded) in the points' own frame. With gates it writes weights_bar (poses, padded). If there are
// sites of the opposing field, it writes them. If `features` has a row per pose (row_stride), it
// writes the cotangents of the radii there, starting at row_first.
ADJOINT_KERNEL void vertex_adjoint(
  GLOBAL const real *points, GLOBAL const int *order, GLOBAL const real *field, int field_stride,
  int gradient_plane, GLOBAL const real *weights, GLOBAL const real *radii, GLOBAL const int *index,
  GLOBAL const real *scores_bar, int scored, GLOBAL const real *frames,
  GLOBAL const pair_head *pair, int side, int kept, int leaves, int have, OUTPUT_BARS_TO_READ,
  int d_shared, int a_shared, GLOBAL real *points_bar, GLOBAL real *weights_bar,
  GLOBAL real *features, int row_stride, int row_first, GLOBAL real *sites, int site_count,
  int site_first, GLOBAL real *wrenches, int wrench_stride, int wrench_block)
{
  const int block = (int)get_global_id(0), pose = (int)get_global_id(1), first = block * LANES;
  GLOBAL const pair_elements *e = &pair->n.elements[VERTICES_OF(side)];
  const int padded = kept ? e->slots : e->padded, weighted = kept && e->weighted;
  const int point_stride = kept ? POINT_PLANES * padded : 0;
  if (first >= padded) {
    return;
  }
  // All vertices of the body are retained, except ends of edges that have no contacts of their own.
  const vertex_rows rows = {order, !kept, pose, first, e->kept, e->contact, pair->n.contacts};
  GLOBAL const real *frame = NUMS(frames, pose, FRAME_STRIDE);
  GLOBAL const real *at = NUMS(field, pose, field_stride) + first;
  const num radius = vertex_radius(radii, index, e, kept && e->selected, first, pose);
  const int coned = needs_cones(&pair->c, e, have);
  num phi_bar = n_lit(R(0.0)), counts_bar = phi_bar, counts = n_lit(R(1.0));
  const vec none = no_bar();
  vec normal = none, held = none; // the field's normal, and the normal that the contact reports
  if (have & WANT_NORMALS || (e->radii && have & WANT_P) || coned) {
    normal = held = load3(at + JET_PLANE_NORMAL * padded, field_stride, padded);
  }
  FN(cone) cone = no_cone();
  if (coned) {
    cone =
      vertex_cone(radii, index, e, kept && e->selected, first, pose, frame + FRAME_ACROSS(side));
    counts = FN(cone_slot)(normal, &cone, &pair->c, &held);
  }
  // With seams `counts` is the product of both shares, and `beside` is only the share of the seams.
  const vec own = load3(NUMS(points, pose, point_stride) + first, point_stride, padded);
  num beside = n_lit(R(1.0)), seam = n_lit(R(0.0));
  vec of_field = none, of_own = none;
  const num coned_counts = counts;
  if (coned && has_seams(pair)) {
    seam = seam_depth(load(at, field_stride), radius);
    const vec x = place(frame + FRAME_ACROSS(side), own);
    beside = seam_share(pair, side, x, normal, seam, own, &of_field, &of_own);
    counts = n_mul(counts, beside);
  }
  if (have & WANT_D) {
    phi_bar = n_add(phi_bar, vertex_bar(&rows, d_bar, d_shared));
  }
  if (have & WANT_ACTIVITY) {
    num depth = n_sub(load(at, field_stride), radius);
    depth = n_mad(FN(dot3)(normal, cone.axis), n_of(cone.inset), depth);
    phi_bar = gated_activity_bar(phi_bar, depth, vertex_bar(&rows, activity_bar, a_shared),
                                 weighted, weighted ? NUMS(weights, pose, padded) + first : weights,
                                 weighted ? NUMS(weights_bar, pose, padded) + first : weights_bar,
                                 padded, coned, counts, &counts_bar, &pair->c);
  }
  if (coned && have & WANT_WEIGHT) {
    counts_bar = n_add(counts_bar, vertex_bar(&rows, weight_bar, 0));
  }
  const num d_total = phi_bar; // of the distance, from the field and the normal
  of_field = FN(scale3)(of_field, n_mul(counts_bar, coned_counts));
  phi_bar = n_sub(phi_bar, seam_depth(FN(dot3)(of_field, normal), radius));
  if (scored) {
    phi_bar = n_add(phi_bar, load(NUMS(scores_bar, pose, padded) + first, padded));
  }
  // `bar` is the point's cotangent in the field's frame. After push_vertex it is in body 1's frame.
  vec bar = FN(scale3)(load3(at + gradient_plane * padded, field_stride, padded), phi_bar);
  bar = FN(add3)(of_field, bar);
  wrench relative = no_wrench(), carried = relative;
  vec normal_bar = none;
  const vec push_out = have & WANT_P ? vertex_bar3(&rows, p_bar, frame) : none;
  if (have & WANT_NORMALS || (e->radii && have & WANT_P)) {
    vec pull = have & WANT_N ? vertex_bar3(&rows, n_bar, frame) : none;
    pull = FN(mad3)(push_out, n_neg(radius), pull); // from p = v - radius n
    normal_bar = side ? pull : turn(frame + FRAME_1_TO_2, pull);
    twist_normal(frame, side, held, pull, &relative, &carried);
  }
  if (coned) {
    normal_bar = coned_normal_bar(frame, side, normal, &cone, n_mul(counts_bar, beside), d_total,
                                  of_field, seam, normal_bar, &pair->c, &relative);
  }
  if (have & WANT_NORMALS || (e->radii && have & WANT_P) || coned) {
    bar = FN(add3)(bar, adjoint_normal(at, padded, normal_bar));
  }
  store_sites(sites, site_count, site_first + first, pose, place(frame + FRAME_ACROSS(side), own),
              phi_bar, normal_bar);
  bar = push_vertex(frame, side, own, bar, 0, bar, &relative, &carried);
  if (have & WANT_P) {
    const vec out = coned ? beyond_inset(frame, side, own, &cone) : own;
    push_point(frame, side, out, push_out, &relative, &carried);
    bar = FN(add3)(bar, push_out);
  }
#if TANGENTS == 0
  if (row_stride) {
    const vec out = side ? held : turn_back(frame + FRAME_1_TO_2, held);
    store_radius_bar(ROW(features, pose, row_stride) + row_first,
                     kept && e->selected ? ROW(index, pose, e->kept + 1) : order, first, e->kept,
                     d_total, have & WANT_P, push_out, out);
  }
#else
  (void)features;
  (void)row_stride;
  (void)row_first;
#endif
  if (leaves) {
    store3(NUMS(points_bar, pose, POINT_PLANES * padded) + first, POINT_PLANES * padded, padded,
           side ? turn(frame + FRAME_1_TO_2, bar) : bar);
  }
  store_wrenches(wrenches, wrench_stride, pose, wrench_block + block, relative, carried);
}
