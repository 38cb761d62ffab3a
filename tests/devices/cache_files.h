/* Folders and files of the tests of what is kept on disk. */
#ifndef ABUT_TESTS_CACHE_FILES_H
#define ABUT_TESTS_CACHE_FILES_H

#include "support/check.h"

#include <stddef.h>

/* A new folder for what a test writes; remove_folder removes it and the files in it. */
bool make_scratch(char folder[64]);
void remove_folder(const char *folder);

typedef struct file_content {
  unsigned char *bytes;
  size_t count;
} file_content;

bool file_take(const char *path, file_content *out);
bool file_put(const char *path, const unsigned char *bytes, size_t count);

/* How many files the folder has, hidden ones too, and the path of one of them. */
size_t count_files(const char *folder, char one[512]);

/* A number that changes when a file is replaced, even by an equal one. */
unsigned long long file_identity(const char *path);

/* Runs a function in a process of its own and returns what it returns. */
bool in_process(bool (*run)(void *data, int process), void *data, int process);

/* Runs a function in `processes` processes at once; all of them must return true. */
void in_processes(int processes, bool (*run)(void *data, int process), void *data,
                  const char *what);

/* Gives up root's rights, which pass over modes, until they are taken back. */
void lower_rights(void);
void raise_rights(void);

#endif
