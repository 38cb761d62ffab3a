/* A folder on disk holds entries, each under a key of 128 bits.
 *
 * Only a complete entry with the same key is ever read: a damaged, truncated or different entry
 * counts as missing. Several processes and threads may use one folder at once. Nothing here is an
 * error: an unreadable entry counts as missing, and a failed write is skipped. */
#ifndef ABUT_BASE_CACHE_FOLDER_H
#define ABUT_BASE_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries of one kind are in one folder, with a limit on their number and bytes. Beyond the limit,
 * the least recently used entry is removed. */
typedef struct cache_kind {
  const char *folder; /* inside the user's folder; NULL: the user's folder itself */
  const char *suffix; /* of entries' names */
  size_t entries;
  uint64_t bytes;
} cache_kind;

typedef struct cache_key {
  uint64_t half[2];
  uint64_t bytes; /* number of bytes that the key was made from */
} cache_key;

cache_key cache_key_begin(void);

/* Adds a text to a key. Texts that are split differently give another key: "ab", "c" differs from
 * "a", "bc". */
void cache_key_add(cache_key *key, const char *text);

/* Adds bytes and their number to a key. */
void cache_key_add_bytes(cache_key *key, const void *bytes, size_t count);

/* Does the same for large data, eight bytes at a time; the resulting key differs. */
void cache_key_add_words(cache_key *key, const void *bytes, size_t count);

/* Returns the kind's folder, which the caller frees, or NULL if caching is off. The user's folder
 * is ABUT_CACHE_DIR ("" and "off" disable caching), else abut in XDG_CACHE_HOME, else
 * ~/.cache/abut. It need not exist. */
char *cache_folder_path(const cache_kind *kind);

/* Returns the path of an entry's file, which the caller frees; NULL without memory. */
char *cache_folder_file(const char *folder, const cache_kind *kind, const cache_key *key);

/* Reads the content of an entry, which the caller frees. Returns false if there is none. */
bool cache_folder_read(const char *folder, const cache_kind *kind, const cache_key *key,
                       unsigned char **content, size_t *bytes);

/* Adds or replaces an entry atomically for readers. Creates the folder, the user's folder and the
 * latter's parent if necessary. */
void cache_folder_write(const char *folder, const cache_kind *kind, const cache_key *key,
                        const unsigned char *content, size_t bytes);

#endif
