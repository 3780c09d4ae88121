// A disk for tests, preloaded into a process (LD_PRELOAD, Linux): it fails on demand, and it loses unsynced writes when its
// power is cut. It is between the C library and all code that writes below one folder: the database engine, the files of
// the node and those of Node.js.
//
// Calls that change files below DISK_ROOT are counted: writes, truncations, preallocations, syncs, new names (open with
// O_CREAT, rename, link) and removed ones. The file DISK_CONTROL, eight numbers of 64 bits, is shared with the test:
//   0 calls      number of counted calls
//   1 failFrom   the first failing call; 0: no call fails
//   2 failUntil  the last failing call
//   3 error      errno of failing calls. With ENOSPC syncs and removals succeed, and a write that grows a file is cut short first
//   4 cutAt      the power is cut before this call; 0: never
//   5 seed       decides which writes survive the cut
//
// The model of a cut. Writes to a file after its last sync (fsync, fdatasync) may have reached the disk or not: all of
// them, no write, the first writes, the first writes and part of the next, or any of the pages of 4 KiB, with zeros in place of
// missing pages. Of the names that were created, moved or removed in a folder after its last sync, a random number of the first
// changes survives. sync_file_range has no effect. Each file and each folder has its own random choice.
//
// Not modelled: a new folder whose name is lost, a rename between folders that is undone on one side only, damage to
// synced data, a failed sync that succeeds when repeated although the pages are lost, writes through mmap or stdio.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CALLS, FAIL_FROM, FAIL_UNTIL, ERROR, CUT_AT, SEED, NUMBERS = 8 };
enum { OPEN_FILES = 1 << 16, PAGE = 4096, SECTOR = 512 };

// Calls that can fail with ENOSPC.
enum kind { TAKES_ROOM, NEEDS_NONE };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t *control;
static char root[PATH_MAX], graves[PATH_MAX];
static size_t rootLength;

// A file that is open by a name below the root.
static struct open_file { char *path; dev_t device; ino_t inode; } files[OPEN_FILES];

// The bytes that a write replaced.
struct write_undo { off_t offset, length; size_t count; char *bytes; };
// A file with unsynced writes.
struct dirty { dev_t device; ino_t inode; int descriptor; struct write_undo *undos; size_t count; struct dirty *next; };
static struct dirty *dirtyFiles;

// An unsynced change of a name. `grave` is the previous file of the name.
enum change { MADE, MOVED, REMOVED };
struct name_undo { enum change change; char *folder, *path, *from, *grave; int isKept; struct name_undo *previous; };
static struct name_undo *lastName;
static uint64_t graveCount;

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int realOpen(const char *path, int flags, mode_t mode) { REAL(open); return real(path, flags, mode); }
static ssize_t realWrite(int fd, const void *bytes, size_t count) { REAL(write); return real(fd, bytes, count); }
static ssize_t realPwrite(int fd, const void *bytes, size_t count, off_t at) { REAL(pwrite); return real(fd, bytes, count, at); }
static int realClose(int fd) { REAL(close); return real(fd); }
static int realTruncate(int fd, off_t length) { REAL(ftruncate); return real(fd, length); }
static int realRename(const char *from, const char *to) { REAL(rename); return real(from, to); }
static int realLink(const char *from, const char *to) { REAL(link); return real(from, to); }
static int realUnlink(const char *path) { REAL(unlink); return real(path); }

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("DISK_ROOT"), *shared = getenv("DISK_CONTROL");
  if (!folder || !shared) return;
  snprintf(root, sizeof root, "%s/", folder);
  rootLength = strlen(root);
  snprintf(graves, sizeof graves, "%s.graves", folder);
  mkdir(graves, 0700);
  int fd = realOpen(shared, O_RDWR | O_CLOEXEC, 0);
  void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, NUMBERS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) { perror("DISK_CONTROL"); _exit(99); }
  realClose(fd);
  control = mapped;
}

// Returns the name without doubled slashes if it is below the root, else NULL.
static char *below(const char *path) {
  if (!control || !path || path[0] != '/') return NULL;
  char clean[PATH_MAX];
  size_t length = 0;
  for (; *path && length < sizeof clean - 1; path++)
    if (*path != '/' || length == 0 || clean[length - 1] != '/') clean[length++] = *path;
  while (length > 1 && clean[length - 1] == '/') length--;
  clean[length] = 0;
  int isRoot = length == rootLength - 1 && !strncmp(clean, root, length);
  return isRoot || !strncmp(clean, root, rootLength) ? strdup(clean) : NULL;
}

static char *folderOf(const char *path) {
  return strndup(path, strrchr(path, '/') - path);
}

// Returns the name of an open file; NULL if it is not below the root. The program may have closed descriptors by other calls.
static const char *nameOf(int fd, struct stat *status) {
  if (!control || fd < 0 || fd >= OPEN_FILES || !files[fd].path) return NULL;
  if (fstat(fd, status) == 0 && status->st_dev == files[fd].device && status->st_ino == files[fd].inode)
    return files[fd].path;
  free(files[fd].path);
  files[fd].path = NULL;
  return NULL;
}

// --- the cut

static uint64_t state;
static uint64_t draw(uint64_t bound) { // splitmix64
  uint64_t mixed = (state += 0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return (mixed ^ (mixed >> 31)) % bound;
}

static void writeAll(int fd, const char *bytes, size_t count, off_t at) {
  while (count > 0) {
    ssize_t written = realPwrite(fd, bytes, count, at);
    if (written <= 0) _exit(98);
    bytes += written; count -= written; at += written;
  }
}

static void readAll(int fd, char *bytes, size_t count, off_t at) {
  while (count > 0) {
    ssize_t got = pread(fd, bytes, count, at);
    if (got <= 0) _exit(98);
    bytes += got; count -= got; at += got;
  }
}

// Undoes all writes from the given write on. Returns the file length before it.
static void takeBack(struct dirty *file, size_t from) {
  for (size_t index = file->count; index-- > from;) {
    struct write_undo *undo = &file->undos[index];
    writeAll(file->descriptor, undo->bytes, undo->count, undo->offset);
    if (realTruncate(file->descriptor, undo->length)) _exit(98);
  }
}

static void loseWrites(struct dirty *file) {
  struct stat status;
  if (fstat(file->descriptor, &status)) _exit(98);
  off_t length = status.st_size;
  char *bytes = malloc(length + 1);
  readAll(file->descriptor, bytes, length, 0);
  size_t kept = draw(file->count + 1);
  switch (draw(5)) {
    case 0: break;
    case 1: takeBack(file, 0); break;
    case 2: takeBack(file, kept); break;
    case 3: // A part of the next write, if it extended the file.
      takeBack(file, kept);
      if (fstat(file->descriptor, &status)) _exit(98);
      if (kept < file->count && length > status.st_size) {
        off_t until = status.st_size + (off_t)draw(length - status.st_size);
        if (draw(2)) until -= until % SECTOR;
        if (until > status.st_size)
          writeAll(file->descriptor, bytes + status.st_size, until - status.st_size, status.st_size);
      }
      break;
    case 4:
      takeBack(file, 0);
      for (off_t at = 0; at < length; at += PAGE)
        if (draw(2)) writeAll(file->descriptor, bytes + at, length - at < PAGE ? length - at : PAGE, at);
  }
  free(bytes);
}

static void cutPower(void) {
  state = control[SEED];
  for (struct dirty *file = dirtyFiles; file; file = file->next) loseWrites(file);
  // For each folder: the number of its last changes that are lost.
  for (struct name_undo *last = lastName; last; last = last->previous) {
    if (last->isKept) continue;
    size_t count = 0;
    for (struct name_undo *one = last; one; one = one->previous) count += !strcmp(one->folder, last->folder);
    size_t lost = draw(count + 1);
    for (struct name_undo *one = last; one; one = one->previous)
      if (!strcmp(one->folder, last->folder)) one->isKept = lost > 0 ? (lost--, 2) : 1;
  }
  for (struct name_undo *one = lastName; one; one = one->previous) {
    if (one->isKept != 2) continue;
    if (one->change == MOVED) realRename(one->path, one->from);
    if (one->change == MADE) realUnlink(one->path);
    if (one->grave) realLink(one->grave, one->path);
  }
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// --- faults

// Counts a call; the mutex is held. Returns whether the call fails, and sets errno then.
static int fails(enum kind kind) {
  uint64_t call = ++control[CALLS];
  if (control[CUT_AT] && call >= control[CUT_AT]) cutPower();
  if (!control[FAIL_FROM] || call < control[FAIL_FROM] || call > control[FAIL_UNTIL]) return 0;
  if (control[ERROR] == ENOSPC && kind == NEEDS_NONE) return 0;
  errno = control[ERROR];
  return 1;
}

// Length of a write that succeeds although the disk is full: half of it, at the first failing call.
static size_t lastRoom(size_t count) {
  return control[ERROR] == ENOSPC && control[CALLS] == control[FAIL_FROM] && control[FAIL_UNTIL] > control[FAIL_FROM] ? count / 2 : 0;
}

// --- unsynced changes

static struct dirty *dirtyOf(int fd, const struct stat *status) {
  struct dirty *file = dirtyFiles;
  while (file && (file->device != status->st_dev || file->inode != status->st_ino)) file = file->next;
  if (file) return file;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int own = realOpen(path, O_RDWR | O_CLOEXEC, 0);
  if (own < 0) return NULL;
  file = calloc(1, sizeof *file);
  *file = (struct dirty){ .device = status->st_dev, .inode = status->st_ino, .descriptor = own, .next = dirtyFiles };
  return dirtyFiles = file;
}

// Stores the bytes from `offset` to `end` before a change.
static void remember(int fd, const struct stat *status, off_t offset, off_t end) {
  struct dirty *file = dirtyOf(fd, status);
  if (!file) return;
  struct write_undo undo = { .offset = offset, .length = status->st_size };
  if (end > status->st_size) end = status->st_size;
  if (end > offset) {
    undo.count = end - offset;
    undo.bytes = malloc(undo.count);
    readAll(file->descriptor, undo.bytes, undo.count, offset);
  }
  if ((file->count & (file->count - 1)) == 0)
    file->undos = realloc(file->undos, (file->count ? 2 * file->count : 1) * sizeof undo);
  file->undos[file->count++] = undo;
}

static void forgetWrites(const struct stat *status) {
  for (struct dirty **place = &dirtyFiles; *place; place = &(*place)->next) {
    struct dirty *file = *place;
    if (file->device != status->st_dev || file->inode != status->st_ino) continue;
    for (size_t index = 0; index < file->count; index++) free(file->undos[index].bytes);
    free(file->undos);
    realClose(file->descriptor);
    *place = file->next;
    free(file);
    return;
  }
}

static void forgetNames(const char *folder) {
  for (struct name_undo **place = &lastName; *place;) {
    struct name_undo *one = *place;
    if (strcmp(one->folder, folder)) { place = &one->previous; continue; }
    if (one->grave) realUnlink(one->grave);
    *place = one->previous;
    free(one->folder); free(one->path); free(one->from); free(one->grave); free(one);
  }
}

static void rememberName(enum change change, const char *path, const char *from, char *grave) {
  struct name_undo *one = calloc(1, sizeof *one);
  *one = (struct name_undo){ change, folderOf(path), strdup(path), from ? strdup(from) : NULL, grave, 0, lastName };
  lastName = one;
}

// Creates a second name for a file; returns NULL if the name does not exist.
static char *bury(const char *path) {
  char grave[PATH_MAX + 32];
  snprintf(grave, sizeof grave, "%s/%llu-%d", graves, (unsigned long long)graveCount++, getpid());
  return realLink(path, grave) == 0 ? strdup(grave) : NULL;
}

// --- the calls

static int openFile(const char *path, int flags, mode_t mode) {
  char *name = below(path);
  if (!name) return realOpen(path, flags, mode);
  pthread_mutex_lock(&mutex);
  struct stat status;
  int isNew = (flags & O_CREAT) && lstat(name, &status) != 0, isEmptied = !isNew && (flags & O_TRUNC), fd = -1;
  if ((isNew && fails(TAKES_ROOM)) || (isEmptied && fails(NEEDS_NONE))) goto end;
  if (isEmptied) {
    int whole = realOpen(name, O_RDWR | O_CLOEXEC, 0);
    if (whole >= 0 && fstat(whole, &status) == 0 && status.st_size > 0) remember(whole, &status, 0, status.st_size);
    if (whole >= 0) realClose(whole);
  }
  fd = realOpen(path, flags, mode);
  if (fd >= 0 && isNew) rememberName(MADE, name, NULL, NULL);
  if (fd >= 0 && fd < OPEN_FILES && fstat(fd, &status) == 0) {
    free(files[fd].path);
    files[fd] = (struct open_file){ name, status.st_dev, status.st_ino };
    name = NULL;
  }
end:;
  int error = errno;
  pthread_mutex_unlock(&mutex);
  free(name);
  errno = error;
  return fd;
}

#define MODE va_list list; va_start(list, flags); mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; va_end(list)
int open(const char *path, int flags, ...) { MODE; return openFile(path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE; return openFile(path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) {
  MODE;
  if (path[0] == '/') return openFile(path, flags, mode);
  REAL(openat);
  return real(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) { MODE; return openat(folder, path, flags, mode); }

int close(int fd) {
  if (control && fd >= 0 && fd < OPEN_FILES && files[fd].path) {
    pthread_mutex_lock(&mutex);
    free(files[fd].path);
    files[fd].path = NULL;
    pthread_mutex_unlock(&mutex);
  }
  return realClose(fd);
}

// Writes at a position, or at the position of the file if it is negative.
static ssize_t writeFile(int fd, const void *bytes, size_t count, off_t at) {
  struct stat status;
  int isOurs = control && fd >= 0 && fd < OPEN_FILES && files[fd].path;
  if (isOurs) {
    pthread_mutex_lock(&mutex);
    if (nameOf(fd, &status) && S_ISREG(status.st_mode)) {
      off_t offset = at >= 0 ? at : fcntl(fd, F_GETFL) & O_APPEND ? status.st_size : lseek(fd, 0, SEEK_CUR);
      ssize_t written = -1;
      if (fails(TAKES_ROOM)) {
        int error = errno;
        count = lastRoom(count);
        if (count == 0) { pthread_mutex_unlock(&mutex); errno = error; return -1; }
      }
      remember(fd, &status, offset, offset + (off_t)count);
      written = at >= 0 ? realPwrite(fd, bytes, count, at) : realWrite(fd, bytes, count);
      int error = errno;
      pthread_mutex_unlock(&mutex);
      errno = error;
      return written;
    }
    pthread_mutex_unlock(&mutex);
  }
  return at >= 0 ? realPwrite(fd, bytes, count, at) : realWrite(fd, bytes, count);
}

ssize_t write(int fd, const void *bytes, size_t count) { return writeFile(fd, bytes, count, -1); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return writeFile(fd, bytes, count, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at) { return writeFile(fd, bytes, count, at); }

// Each piece counts as a write. The first short write ends the call.
static ssize_t writePieces(int fd, const struct iovec *pieces, int count, off_t at) {
  ssize_t sum = 0;
  for (int index = 0; index < count; index++) {
    if (pieces[index].iov_len == 0) continue;
    ssize_t written = writeFile(fd, pieces[index].iov_base, pieces[index].iov_len, at < 0 ? -1 : at + sum);
    if (written < 0) return sum > 0 ? sum : -1;
    sum += written;
    if ((size_t)written < pieces[index].iov_len) break;
  }
  return sum;
}
static int isOurs(int fd) { return control && fd >= 0 && fd < OPEN_FILES && files[fd].path; }
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  if (isOurs(fd)) return writePieces(fd, pieces, count, -1);
  REAL(writev);
  return real(fd, pieces, count);
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t at) {
  if (isOurs(fd)) return writePieces(fd, pieces, count, at);
  REAL(pwritev);
  return real(fd, pieces, count, at);
}
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off_t at) { return pwritev(fd, pieces, count, at); }

// Not supported; callers fall back to reads and writes.
ssize_t copy_file_range(int from, off_t *fromAt, int to, off_t *toAt, size_t count, unsigned int flags) {
  if (isOurs(to)) { errno = EXDEV; return -1; }
  REAL(copy_file_range);
  return real(from, fromAt, to, toAt, count, flags);
}

int ftruncate(int fd, off_t length) {
  struct stat status;
  if (!isOurs(fd)) return realTruncate(fd, length);
  pthread_mutex_lock(&mutex);
  int result = -1;
  if (!nameOf(fd, &status)) result = realTruncate(fd, length);
  else if (!fails(length > status.st_size ? TAKES_ROOM : NEEDS_NONE)) {
    remember(fd, &status, length, status.st_size);
    result = realTruncate(fd, length);
  }
  int error = errno;
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}
int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }

int fallocate(int fd, int mode, off_t offset, off_t length) {
  REAL(fallocate);
  struct stat status;
  if (!isOurs(fd)) return real(fd, mode, offset, length);
  pthread_mutex_lock(&mutex);
  int result = -1;
  if (!nameOf(fd, &status)) result = real(fd, mode, offset, length);
  else if (!fails(TAKES_ROOM)) {
    if (!(mode & FALLOC_FL_KEEP_SIZE)) remember(fd, &status, offset, offset);
    result = real(fd, mode, offset, length);
  }
  int error = errno;
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}
int fallocate64(int fd, int mode, off_t offset, off_t length) { return fallocate(fd, mode, offset, length); }

// Does not sync the real disk, which would be slow: a cut is only simulated.
static int sync_(int fd, int *isTaken) {
  struct stat status;
  *isTaken = 0;
  if (!isOurs(fd)) return 0;
  pthread_mutex_lock(&mutex);
  const char *name = nameOf(fd, &status);
  int result = 0, error = 0;
  if (name) {
    *isTaken = 1;
    if (fails(NEEDS_NONE)) { result = -1; error = errno; }
    else if (S_ISDIR(status.st_mode)) forgetNames(name);
    else forgetWrites(&status);
  }
  pthread_mutex_unlock(&mutex);
  if (error) errno = error;
  return result;
}
int fsync(int fd) { int isTaken, result = sync_(fd, &isTaken); REAL(fsync); return isTaken ? result : real(fd); }
int fdatasync(int fd) { int isTaken, result = sync_(fd, &isTaken); REAL(fdatasync); return isTaken ? result : real(fd); }
int sync_file_range(int fd, off64_t offset, off64_t count, unsigned int flags) {
  REAL(sync_file_range);
  if (!isOurs(fd)) return real(fd, offset, count, flags);
  pthread_mutex_lock(&mutex);
  int result = fails(NEEDS_NONE) ? -1 : 0, error = errno;
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

int rename(const char *from, const char *to) {
  char *old = below(from), *new = below(to);
  if (!old || !new) { free(old); free(new); return realRename(from, to); }
  pthread_mutex_lock(&mutex);
  int result = -1;
  if (!fails(TAKES_ROOM)) {
    char *grave = bury(new);
    result = realRename(from, to);
    if (result == 0) rememberName(MOVED, new, old, grave);
  }
  int error = errno;
  pthread_mutex_unlock(&mutex);
  free(old); free(new);
  errno = error;
  return result;
}

static int linkFile(const char *from, const char *to) {
  char *new = below(to);
  if (!new) return realLink(from, to);
  pthread_mutex_lock(&mutex);
  int result = fails(TAKES_ROOM) ? -1 : realLink(from, to), error = errno;
  if (result == 0) rememberName(MADE, new, NULL, NULL);
  pthread_mutex_unlock(&mutex);
  free(new);
  errno = error;
  return result;
}
int link(const char *from, const char *to) { return linkFile(from, to); }
int linkat(int fromFolder, const char *from, int toFolder, const char *to, int flags) {
  if (control && from[0] == '/' && to[0] == '/' && flags == 0) return linkFile(from, to);
  REAL(linkat);
  return real(fromFolder, from, toFolder, to, flags);
}

int unlink(const char *path) {
  char *name = below(path);
  if (!name) return realUnlink(path);
  pthread_mutex_lock(&mutex);
  int result = -1;
  if (!fails(NEEDS_NONE)) {
    char *grave = bury(name);
    result = realUnlink(path);
    if (result == 0) rememberName(REMOVED, name, NULL, grave);
  }
  int error = errno;
  pthread_mutex_unlock(&mutex);
  free(name);
  errno = error;
  return result;
}
