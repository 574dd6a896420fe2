/**
 * Functions of WASI preview 1. AssemblyScript takes the import module's name from this file's name. The modules of this catalog import
 * only these three. All but `proc_exit` return an errno, 0 on success.
 */

/** Reads into the buffers of the list at `iovecs`; the number of bytes read, 0 at the end, is stored at `count`. */
export declare function fd_read(fd: i32, iovecs: usize, iovecCount: i32, count: usize): i32;
/** Writes the buffers of the list at `iovecs`; the number of bytes written is stored at `count`. */
export declare function fd_write(fd: i32, iovecs: usize, iovecCount: i32, count: usize): i32;
/** Ends the program; does not return. */
export declare function proc_exit(code: i32): void;
