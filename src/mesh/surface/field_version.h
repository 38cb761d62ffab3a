/* The version of the builder that made a field. */
#ifndef ABUT_SURFACE_FIELD_VERSION_H
#define ABUT_SURFACE_FIELD_VERSION_H

/* Identifies fields in the disk cache. Increase it with every change that alters a field or report
 * of any mesh. */
#define FIELD_VERSION 5

#endif
