/**
 * The host's functions, of WASI preview 1. This file has the name of the module that it declares, as AssemblyScript imports from
 * there. A module of this catalog asks for these three and no other. Each but `proc_exit` returns an errno, 0 when all is well.
 */

/** Reads into the buffers of the list at `iovecs`; the number of bytes read, 0 at the end, is stored at `count`. */
export declare function fd_read(fd: i32, iovecs: usize, iovecCount: i32, count: usize): i32;
/** Writes the buffers of the list at `iovecs`; the number of bytes written is stored at `count`. */
export declare function fd_write(fd: i32, iovecs: usize, iovecCount: i32, count: usize): i32;
/** Ends the program; does not return. */
export declare function proc_exit(code: i32): void;
