// A program that tries to get out of a sandbox. The tests compile it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what) {
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return 1;
}

// show writes all that can be read from a descriptor.
static int show(int fd) {
	char buf[4096];
	ssize_t n;
	while ((n = read(fd, buf, sizeof buf)) > 0)
		if (write(1, buf, n) < 0)
			return 1;
	return n < 0 ? fail("read") : 0;
}

static int get(const char *path) {
	int fd = open(path, O_RDONLY);
	return fd < 0 ? fail("open") : show(fd);
}

// talk connects to a Unix socket and shows what its server says.
static int talk(const char *name, int abstract) {
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	size_t n = strlen(name);
	if (n + 1 >= sizeof a.sun_path)
		return 1;
	memcpy(a.sun_path + abstract, name, n);
	if (connect(fd, (struct sockaddr *)&a, sizeof a.sun_family + n + abstract) < 0)
		return fail("connect");
	return show(fd);
}

// memory reads the environment of a process out of its memory.
static int memory(const char *pid) {
	char path[64], line[256];
	unsigned long sp = 0;
	snprintf(path, sizeof path, "/proc/%s/mem", pid);
	int fd = open(path, O_RDONLY);
	if (fd < 0)
		return fail("mem");
	snprintf(path, sizeof path, "/proc/%s/maps", pid);
	FILE *maps = fopen(path, "r");
	while (maps && fgets(line, sizeof line, maps))
		if (strstr(line, "[stack]"))
			sscanf(line, "%*x-%lx", &sp);
	char buf[4096];
	ssize_t n = pread(fd, buf, sizeof buf, sp - sizeof buf);
	return n > 0 ? (write(1, buf, n) < 0) : fail("pread");
}

static int trace(int pid) {
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0)
		return fail("ptrace");
	puts("BROKE OUT");
	return 0;
}

// steal takes the standard input of a process.
static int steal(int pid) {
	int p = syscall(SYS_pidfd_open, pid, 0);
	if (p < 0)
		return fail("pidfd_open");
	int fd = syscall(SYS_pidfd_getfd, p, 0, 0);
	return fd < 0 ? fail("pidfd_getfd") : (lseek(fd, 0, SEEK_SET), show(fd));
}

// by_handle opens a file by its handle, given as a type and hexadecimal bytes.
static int by_handle(const char *at, int type, const char *hex) {
	struct {
		struct file_handle h;
		unsigned char bytes[128];
	} f = {0};
	f.h.handle_type = type;
	for (; hex[0] && hex[1] && f.h.handle_bytes < 128; hex += 2) {
		unsigned b;
		sscanf(hex, "%2x", &b);
		f.h.f_handle[f.h.handle_bytes++] = b;
	}
	int mount = open(at, O_RDONLY | O_DIRECTORY);
	int fd = open_by_handle_at(mount, &f.h, O_RDONLY);
	return fd < 0 ? fail("open_by_handle_at") : show(fd);
}

// unmask leaves the mounts that hide a file, moves the file to where none does,
// and reads it there.
static int unmask(const char *folder, const char *name, const char *sub) {
	char path[512], map[64];
	int uid = getuid();
	int d = open(folder, O_RDONLY | O_DIRECTORY);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return fail("unshare");
	int fd = open("/proc/self/uid_map", O_WRONLY);
	snprintf(map, sizeof map, "0 %d 1", uid);
	if (fd < 0 || write(fd, map, strlen(map)) < 0)
		fail("uid_map");
	mount("none", "/", 0, MS_REC | MS_PRIVATE, 0);
	snprintf(path, sizeof path, "%s/%s", folder, sub);
	if (mount(path, path, 0, MS_BIND, 0) < 0)
		return fail("bind");
	if (chdir(path) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return fail("pivot_root");
	if (umount2(".", MNT_DETACH) < 0)
		return fail("umount");
	snprintf(path, sizeof path, "%s/found", sub);
	if (renameat(d, name, d, path) < 0)
		return fail("rename");
	return get("/found");
}

// from_memory runs cat from memory.
static int from_memory(const char *cat, char *path) {
	int in = open(cat, O_RDONLY), out = syscall(SYS_memfd_create, "cat", 0);
	char buf[65536];
	ssize_t n;
	while ((n = read(in, buf, sizeof buf)) > 0)
		if (write(out, buf, n) != n)
			return fail("write");
	char *argv[] = {"cat", path, 0}, *env[] = {0};
	fexecve(out, argv, env);
	return fail("fexecve");
}

// tree copies a mount without what is mounted in it.
static int tree(const char *folder, const char *path) {
	int t = syscall(SYS_open_tree, AT_FDCWD, folder, 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC);
	if (t < 0)
		return fail("open_tree");
	int fd = openat(t, path, O_RDONLY);
	return fd < 0 ? fail("openat") : show(fd);
}

int main(int argc, char **argv) {
	const char *what = argc > 2 ? argv[1] : "";
	if (!strcmp(what, "read"))
		return get(argv[2]);
	if (!strcmp(what, "unix"))
		return talk(argv[2], 0);
	if (!strcmp(what, "abstract"))
		return talk(argv[2], 1);
	if (!strcmp(what, "memory"))
		return memory(argv[2]);
	if (!strcmp(what, "trace"))
		return trace(atoi(argv[2]));
	if (!strcmp(what, "steal"))
		return steal(atoi(argv[2]));
	if (!strcmp(what, "handle") && argc > 4)
		return by_handle(argv[2], atoi(argv[3]), argv[4]);
	if (!strcmp(what, "unmask") && argc > 4)
		return unmask(argv[2], argv[3], argv[4]);
	if (!strcmp(what, "from-memory") && argc > 3)
		return from_memory(argv[2], argv[3]);
	if (!strcmp(what, "tree") && argc > 3)
		return tree(argv[2], argv[3]);
	return 2;
}
