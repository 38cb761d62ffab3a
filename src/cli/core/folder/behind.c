#include "core/folder/behind.h"

#include "core/folder/folder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Syncs the data first, then writes the journal line that confirms it. */
static void bring(struct folder *f, range block)
{
  behind *b = &f->behind;
  b->error = 0;
  for (b->failed = 0; b->failed < f->count; ++b->failed) {
    const int file = f->arrays[b->failed].file;
    if (file >= 0 && fdatasync(file) != 0) {
      b->error = errno;
      return;
    }
  }
  b->error = journal_write(&f->journal, block) ? 0 : errno;
}

static void *work(void *of)
{
  struct folder *f = of;
  behind *b = &f->behind;
  pthread_mutex_lock(&b->turn);
  for (;;) {
    while (!b->busy && !b->ends) {
      pthread_cond_wait(&b->changed, &b->turn);
    }
    if (!b->busy) {
      break;
    }
    pthread_mutex_unlock(&b->turn);
    bring(f, b->block);
    pthread_mutex_lock(&b->turn);
    b->busy = false;
    b->lost = b->lost || b->error;
    pthread_cond_signal(&b->changed);
  }
  pthread_mutex_unlock(&b->turn);
  return NULL;
}

/* Signals are handled by the command's own thread. If no thread can be created, the caller waits
 * for each block. */
static void begin(struct folder *f)
{
  sigset_t every, before;
  behind *b = &f->behind;
  *b = (behind){.folder = f};
  pthread_mutex_init(&b->turn, NULL);
  pthread_cond_init(&b->changed, NULL);
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  if (pthread_create(&b->thread, NULL, work, f) != 0) {
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->turn);
    b->folder = NULL;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static exit_code fail(struct folder *f)
{
  behind *b = &f->behind;
  const bool of_journal = b->failed == f->count;
  char *path = of_journal ? NULL : folder_file(f, f->arrays[b->failed].about.name, ".npy");
  errno = b->error;
  const exit_code code = of_journal || path ? folder_fail(of_journal ? f->journal.path : path)
                                            : report(EXIT_RUN, "no memory");
  b->error = 0; /* it has been reported */
  free(path);
  return code;
}

exit_code behind_put(struct folder *f, range block)
{
  behind *b = &f->behind;
  if (!b->folder) {
    begin(f);
  }
  if (!b->folder) {
    bring(f, block);
    return b->error ? fail(f) : EXIT_GOOD;
  }
  pthread_mutex_lock(&b->turn);
  while (b->busy) {
    pthread_cond_wait(&b->changed, &b->turn);
  }
  const bool good = b->error == 0;
  b->busy = good;
  b->block = block;
  pthread_cond_signal(&b->changed);
  pthread_mutex_unlock(&b->turn);
  return good ? EXIT_GOOD : fail(f);
}

exit_code behind_end(struct folder *f)
{
  behind *b = &f->behind;
  if (!b->folder) {
    return EXIT_GOOD;
  }
  pthread_mutex_lock(&b->turn);
  b->ends = true;
  pthread_cond_signal(&b->changed);
  pthread_mutex_unlock(&b->turn);
  pthread_join(b->thread, NULL);
  pthread_cond_destroy(&b->changed);
  pthread_mutex_destroy(&b->turn);
  b->folder = NULL;
  return b->error ? fail(f) : EXIT_GOOD;
}
