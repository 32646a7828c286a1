"""Starts a program in namespaces of its own: no network, no other processes, and only the files it was given.

A script of its own, for confine.py: `python3 -I -S namespaces.py SPECIFICATION PROGRAM…`, with its whole path. The specification is JSON:
`binds` has [source, target, writable], `links` [target, text], `cwd` a directory. It ends as COMMAND does, with 128 and
the number if a signal ended it; with 125 and one line if the namespaces could not be made.

The kernel's own interface is used, and not unshare(1): mounts are made by a process that keeps its rights while the
program that it starts has none.
"""

import ctypes
import json
import os
import resource
import signal
import sys

FAILED = 125

_CLONE_NEWNS, _CLONE_NEWCGROUP, _CLONE_NEWUTS = 0x00020000, 0x02000000, 0x04000000
_CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x08000000, 0x10000000, 0x20000000, 0x40000000
_EVERYTHING = (
    *(_CLONE_NEWUSER, _CLONE_NEWNS, _CLONE_NEWPID, _CLONE_NEWNET, _CLONE_NEWIPC, _CLONE_NEWUTS, _CLONE_NEWCGROUP),
)
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 8, 32, 4096, 16384, 1 << 18
_MS_RDONLY = 1
_MNT_DETACH = 2
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID = 1, 2
# The same numbers on every architecture since 5.1; pivot_root is older, and has one for each.
_SYS_MOUNT_SETATTR = 442
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_USER = 1000
"""Who the program is inside: anybody but root, whose programs keep their rights when they start."""
_PROCESSES = 1024
"""At most. The kernel counts them of everybody but root."""
_SCRATCH = "size=1g,mode=1777"

_libc = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    """struct mount_attr."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd")]


def _checked(what: str, result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    words = [text.encode() or None for text in (source, target, kind)]
    _checked(f"mount {target}", _libc.mount(*words, ctypes.c_ulong(flags), data.encode() or None))


def _pivot_root(new: str, old: str) -> None:
    number = _SYS_PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise OSError(f"no namespaces on {os.uname().machine}")
    _checked("pivot_root", _libc.syscall(ctypes.c_long(number), new.encode(), old.encode()))


def _protect(target: str) -> None:
    """Read-only with everything that is mounted below."""
    attributes = _Attributes(attr_set=_MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID)
    done = _libc.syscall(
        *(ctypes.c_long(_SYS_MOUNT_SETATTR), ctypes.c_int(_AT_FDCWD), target.encode()),
        *(ctypes.c_uint(_AT_RECURSIVE), ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes))),
    )
    _checked(f"mount_setattr {target}", done)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _leave() -> None:
    """Into namespaces of our own, as a user without rights elsewhere; the next child is the first process in there."""
    user, group = os.geteuid(), os.getegid()
    _checked("unshare", _libc.unshare(sum(_EVERYTHING)))
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{_USER} {user} 1")
    _write("/proc/self/gid_map", f"{_USER} {group} 1")


def _place(source: str, target: str) -> None:
    """Makes what a mount needs below it: a directory for a directory, a file for a file."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if not os.path.exists(target):
        _write(target, "")


def _furnish(specification: dict[str, list[list[str]]]) -> None:
    """Makes the tree that the program sees, in /new; what was the root is in /old."""
    _mount("", "/", "", _MS_REC | _MS_PRIVATE)
    _mount("tmpfs", "/tmp", "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755")
    os.mkdir("/tmp/old")
    os.mkdir("/tmp/new")
    _pivot_root("/tmp", "/tmp/old")
    os.chdir("/")
    _mount("tmpfs", "/new", "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755")
    os.mkdir("/new/tmp")
    _mount("tmpfs", "/new/tmp", "tmpfs", _MS_NOSUID | _MS_NODEV, _SCRATCH)
    for source, target, writable in sorted(specification["binds"], key=lambda bind: bind[1].count("/")):
        _place(f"/old{source}", f"/new{target}")
        _mount(f"/old{source}", f"/new{target}", "", _MS_BIND | _MS_REC)
        if not writable:
            _protect(f"/new{target}")
    for target, text in specification["links"]:
        os.symlink(text, f"/new{target}")
    os.makedirs("/new/proc", exist_ok=True)
    try:
        _mount("proc", "/new/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    except OSError:
        pass  # inside some containers; programs do without it
    os.makedirs("/new/dev/shm", exist_ok=True)
    _mount("tmpfs", "/new/dev/shm", "tmpfs", _MS_NOSUID | _MS_NODEV, _SCRATCH)
    for name, text in (("fd", "/proc/self/fd"), ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2")):
        os.symlink(text, f"/new/dev/{name}")
    os.makedirs(f"/new{specification['cwd']}", exist_ok=True)
    _mount("", "/new", "", _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)
    _pivot_root("/new", "/new/tmp")
    _checked("umount", _libc.umount2(b"/tmp", _MNT_DETACH))
    os.chdir(str(specification["cwd"]))


def _first(specification: dict[str, list[list[str]]], command: list[str]) -> int:
    """The first process inside: starts the program, and takes everything that it left behind with it when it ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _furnish(specification)
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    program = os.fork()
    if program == 0:
        try:
            resource.setrlimit(resource.RLIMIT_NPROC, (_PROCESSES, _PROCESSES))
            os.execv(command[0], command)
        except (OSError, ValueError) as error:
            return _failed(f"{command[0]}: {error}")
    while True:
        child, status = os.wait()
        if child == program:
            return _status(status)


def _status(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _failed(text: str) -> int:
    sys.stderr.write(f"workbook: cannot confine: {text}\n")
    sys.stderr.flush()
    return FAILED


def main(arguments: list[str]) -> int:
    specification, command = json.loads(arguments[0]), arguments[1:]
    try:
        _leave()
    except OSError as error:
        return _failed(str(error.strerror))
    first = os.fork()
    if first == 0:
        try:
            os._exit(_first(specification, command))
        except Exception as error:  # nothing may go on below: this is a copy of the process
            os._exit(_failed(getattr(error, "strerror", None) or repr(error)))
    return _status(os.waitpid(first, 0)[1])


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
