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

/** The whole environment of a host process: a few variables of `own`, and `added`. Names are compared as Windows does. */
export function hostEnvironment(own: Environment, added: Readonly<Record<string, string>>): Record<string, string> {
  const passed = Object.entries(own).filter(([name]) => PASSED_ON.has(name.toUpperCase()));
  return { ...Object.fromEntries(passed.map(([name, value]) => [name, value ?? ""])), ...added };
}
