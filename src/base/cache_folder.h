/* A folder on disk holds entries, each under a key of 128 bits.
 *
 * Only a whole entry of the same key is ever read: what is damaged, cut short or of another key
 * counts as absent. Several processes and threads may use one folder at once. Nothing here is an
 * error: what cannot be read is absent, what cannot be written is left out. */
#ifndef ABUT_BASE_CACHE_FOLDER_H
#define ABUT_BASE_CACHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries of one kind lie in a folder, and are bounded in number and bytes. Beyond that the entry
 * goes that was not used for longest. */
typedef struct cache_kind {
  const char *folder; /* in the user's folder; NULL: the user's folder itself */
  const char *suffix; /* of entries' names */
  size_t entries;
  uint64_t bytes;
} cache_kind;

typedef struct cache_key {
  uint64_t half[2];
  uint64_t bytes; /* of what it was made from */
} cache_key;

cache_key cache_key_begin(void);

/* Adds a text to a key. Texts that are split otherwise make another key: "ab", "c" is not
 * "a", "bc". */
void cache_key_add(cache_key *key, const char *text);

/* Adds bytes, and how many there are. */
void cache_key_add_bytes(cache_key *key, const void *bytes, size_t count);

/* Does the same for much: it takes eight bytes at a time, and makes another key. */
void cache_key_add_words(cache_key *key, const void *bytes, size_t count);

/* Returns the kind's folder, which the caller frees; NULL where there is to be none. The user's
 * folder is ABUT_CACHE_DIR, of which "" and "off" mean none, else abut in XDG_CACHE_HOME, else
 * ~/.cache/abut. It need not be there. */
char *cache_folder_path(const cache_kind *kind);

/* Returns an entry's file, which the caller frees; NULL without memory. */
char *cache_folder_file(const char *folder, const cache_kind *kind, const cache_key *key);

/* Reads the content of an entry, which the caller frees. False where there is none. */
bool cache_folder_read(const char *folder, const cache_kind *kind, const cache_key *key,
                       unsigned char **content, size_t *bytes);

/* Adds or replaces an entry, in one step for those who read. Makes the folder, the user's one and
 * the one that this lies in. */
void cache_folder_write(const char *folder, const cache_kind *kind, const cache_key *key,
                        const unsigned char *content, size_t bytes);

#endif
