/** Variables that Node's own loader and the operating system need. Everything else, secrets too, stays out. */
const PLAIN = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP"];
/** With those that native packages and GPU drivers need. */
const NATIVE = [
  ...PLAIN,
  "PATH",
  "HOME",
  "CUDA_PATH",
  "CUDA_VISIBLE_DEVICES",
  "GGML_VK_VISIBLE_DEVICES",
  "VK_ICD_FILENAMES",
  "XDG_RUNTIME_DIR",
];
const PASSED_ON = { plain: new Set(PLAIN), native: new Set(NATIVE) };

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The whole environment of a host process: a few variables of `own`, and `added`. Names are compared as Windows does.
 * @param code what runs there; `plain` imports no native package.
 */
export function hostEnvironment(
  own: Environment,
  added: Readonly<Record<string, string>>,
  code: keyof typeof PASSED_ON = "native",
): Record<string, string> {
  const passed = Object.entries(own).filter(([name]) => PASSED_ON[code].has(name.toUpperCase()));
  return { ...Object.fromEntries(passed.map(([name, value]) => [name, value ?? ""])), ...added };
}
