/** Variables that the loader, the GPU drivers and the operating system need; everything else, secrets too, stays out. */
const PASSED_ON = new Set([
  "PATH",
  "HOME",
  "LD_LIBRARY_PATH",
  "DYLD_LIBRARY_PATH",
  "CUDA_PATH",
  "CUDA_VISIBLE_DEVICES",
  "GGML_VK_VISIBLE_DEVICES",
  "VK_ICD_FILENAMES",
  "XDG_RUNTIME_DIR",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
]);

export type Environment = Readonly<Record<string, string | undefined>>;

/** libuv threads kept for file reads and model loading, beside one for each sequence that is sampled. */
const SPARE_POOL_THREADS = 4;

/** The whole environment of a host process: a few variables of `own`, and ours. Names are compared as Windows does. */
export function hostEnvironment(own: Environment, sequences: number): Record<string, string> {
  const passed = Object.entries(own).filter(([name]) => PASSED_ON.has(name.toUpperCase()));
  return {
    ...Object.fromEntries(passed.map(([name, value]) => [name, value ?? ""])),
    UV_THREADPOOL_SIZE: String(sequences + SPARE_POOL_THREADS),
    // llama.cpp would start a debugger to print a backtrace when it aborts.
    GGML_NO_BACKTRACE: "1",
  };
}
