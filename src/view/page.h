/* The content of a page: a JSON object that describes it, followed by packed arrays. */
#ifndef ABUT_VIEW_PAGE_H
#define ABUT_VIEW_PAGE_H

#include "view/page/wire.h"

#include <abut/page.h>
#include <jansson.h>
#include <stdbool.h>

#define PAGE_TYPE(type, ...) type,
typedef enum page_type { WIRE_TYPES(PAGE_TYPE) } page_type;
#undef PAGE_TYPE

typedef struct page {
  json_t *root, *arrays; /* `arrays` is in `root` */
  uint8_t *bytes;        /* all arrays, each as planes of the bytes of its rows */
  size_t used, room;
  uint8_t *picture; /* PNG file, or NULL */
  bool live;        /* the page may send requests to the host that served it */
  size_t picture_bytes;
} page;

abut_status page_begin(page *p);
void page_free(page *p);

/* Adds (rows, columns) elements of host memory under a name. */
abut_status page_add(page *p, const char *name, page_type type, size_t rows, size_t columns,
                     const void *data);
/* Adds indices below `end`, or UINT32_MAX for none, as 16 bits if they fit. */
abut_status page_add_indices(page *p, const char *name, size_t rows, size_t columns, size_t end,
                             const uint32_t *data);

/* Sets a member of an object and takes the reference of `value`. NULL means a lack of memory. */
abut_status page_set(json_t *object, const char *name, json_t *value);
/* Converts a text of any bytes to JSON; invalid UTF-8 becomes '?'. */
json_t *page_text(const char *text);
json_t *page_numbers(const double *numbers, size_t count);
json_t *page_count(size_t count);

/* Makes the page. The caller frees *html. */
abut_status page_format(page *p, char **html, size_t *bytes);

#endif
