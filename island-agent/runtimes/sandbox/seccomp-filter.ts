/**
 * Constants of classic BPF. The filter is assembled without a compiler. It denies system calls that native code for
 * models never needs and that kernel exploits start with. Sources: seccomp(2), linux/filter.h, linux/seccomp.h, the
 * kernel's system call tables.
 */
const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const RETURN_ERRNO = 0x00050000;
const EPERM = 1;
const ENOTTY = 25;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Offsets in struct seccomp_data. Both architectures are little-endian, so the low half of an argument comes first. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;

const AF_UNIX = 1;
/** Requests that insert characters into the input of a terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. NEWTIME shares its bit with the exit signal. */
const NEW_NAMESPACES = 0x7e020000;
const CLONE_THREAD = 0x10000;
/** First number of the x32 ABI, whose numbers reach the same system calls. */
const FIRST_X32_NUMBER = 0x40000000;

interface Architecture {
  readonly audit: number;
  readonly clone: number;
  /** fork and vfork, where they are separate system calls. */
  readonly fork: readonly number[];
  readonly socket: number;
  readonly ioctl: number;
  readonly denied: readonly number[];
}

/**
 * Newer calls with the same number on all architectures: open_tree, move_mount, fsopen, fsconfig, fsmount, fspick,
 * pidfd_getfd, process_madvise, mount_setattr, quotactl_fd, open_tree_attr.
 */
const DENIED_EVERYWHERE = [428, 429, 430, 431, 432, 433, 438, 440, 442, 443, 467];
/** io_uring_setup, io_uring_enter, io_uring_register and clone3. ENOSYS makes libraries use the older calls. */
const DENIED_WITH_ENOSYS = [425, 426, 427, 435];

// prettier-ignore
const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e, clone: 56, fork: [57, 58], socket: 41, ioctl: 16,
    denied: [
      // ptrace, process_vm_readv, process_vm_writev, mount, umount2, pivot_root, chroot, keyctl, add_key, request_key
      101, 310, 311, 165, 166, 155, 161, 250, 248, 249,
      // bpf, userfaultfd, unshare, setns, perf_event_open, kexec_load, kexec_file_load, init_module, finit_module,
      // delete_module
      321, 323, 272, 308, 298, 246, 320, 175, 313, 176,
      // open_by_handle_at, name_to_handle_at, swapon, swapoff, reboot, syslog, acct, quotactl, settimeofday,
      // clock_settime
      304, 303, 167, 168, 169, 103, 163, 179, 164, 227,
      // adjtimex, clock_adjtime, personality, kcmp, vhangup, fanotify_init, iopl, ioperm, modify_ldt, uselib, ustat,
      // sysfs
      159, 305, 135, 312, 153, 300, 172, 173, 154, 134, 136, 139,
      // _sysctl, nfsservctl, lookup_dcookie, move_pages, migrate_pages
      156, 180, 212, 279, 256,
    ],
  },
  arm64: {
    audit: 0xc00000b7, clone: 220, fork: [], socket: 198, ioctl: 29,
    denied: [
      117, 270, 271, 40, 39, 41, 51, 219, 217, 218,
      280, 282, 97, 268, 241, 104, 294, 105, 273, 106,
      265, 264, 224, 225, 142, 116, 89, 60, 170, 112,
      171, 266, 92, 272, 58, 262, 42, 18, 239, 238,
    ],
  },
};

/**
 * Returns the filter for bubblewrap's `--seccomp`, which loads it after its own forks; null for an unknown
 * architecture.
 * @param mayFork whether the host may start processes in addition to threads.
 * @param network whether the host may open all sockets in addition to AF_UNIX. Default: false.
 */
export function seccompFilter(architecture: string, mayFork: boolean, network = false): Buffer | null {
  const known = ARCHITECTURES[architecture];
  if (known === undefined) return null;
  const code: { what: number; ifTrue: number; ifFalse: number; value: number }[] = [];
  const add = (what: number, value: number, ifTrue = 0, ifFalse = 0): void => {
    code.push({ what, ifTrue, ifFalse, value });
  };
  const fail = (errno: number): void => add(RETURN, RETURN_ERRNO | errno);
  /**
   * Adds a check for each number. A jump counts the instructions that it skips. Without a match, the next check
   * follows.
   */
  const failOn = (numbers: readonly number[], errno: number): void => {
    for (const number of numbers) {
      add(JUMP_IF_EQUAL, number, 0, 1);
      fail(errno);
    }
  };
  add(LOAD_WORD, ARCHITECTURE);
  add(JUMP_IF_EQUAL, known.audit, 1, 0);
  add(RETURN, KILL_PROCESS);
  add(LOAD_WORD, NUMBER);
  if (architecture === "x64") {
    add(JUMP_IF_AT_LEAST, FIRST_X32_NUMBER, 0, 1);
    fail(ENOSYS);
  }
  failOn([...known.denied, ...DENIED_EVERYWHERE], EPERM);
  failOn(DENIED_WITH_ENOSYS, ENOSYS);
  if (!mayFork) {
    failOn(known.fork, EPERM);
    add(JUMP_IF_EQUAL, known.clone, 0, 4);
    add(LOAD_WORD, FIRST_ARGUMENT);
    add(JUMP_IF_ANY_BIT, CLONE_THREAD, 1, 0);
    fail(EPERM);
    add(LOAD_WORD, NUMBER);
  }
  add(JUMP_IF_EQUAL, known.clone, 0, 4);
  add(LOAD_WORD, FIRST_ARGUMENT);
  add(JUMP_IF_ANY_BIT, NEW_NAMESPACES, 0, 1);
  fail(EPERM);
  add(RETURN, ALLOW);
  if (!network) {
    add(JUMP_IF_EQUAL, known.socket, 0, 4);
    add(LOAD_WORD, FIRST_ARGUMENT);
    add(JUMP_IF_EQUAL, AF_UNIX, 1, 0);
    fail(EAFNOSUPPORT);
    add(RETURN, ALLOW);
  }
  add(JUMP_IF_EQUAL, known.ioctl, 0, 5);
  add(LOAD_WORD, SECOND_ARGUMENT);
  add(JUMP_IF_EQUAL, TIOCSTI, 1, 0);
  add(JUMP_IF_EQUAL, TIOCLINUX, 0, 1);
  fail(ENOTTY);
  add(RETURN, ALLOW);
  add(RETURN, ALLOW);
  const bytes = Buffer.alloc(code.length * 8);
  for (const [index, { what, ifTrue, ifFalse, value }] of code.entries()) {
    bytes.writeUInt16LE(what, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
