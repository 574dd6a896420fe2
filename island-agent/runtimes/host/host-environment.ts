/**
 * Variables that Node's loader and the operating system need. Other variables may contain secrets and are not passed
 * on.
 */
const PLAIN_VARIABLES = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP"];
/**
 * The same variables, those of native packages and GPU drivers, and Node's compile cache, which a sandbox makes
 * read-only.
 */
const NATIVE_VARIABLES = [
  ...PLAIN_VARIABLES,
  "NODE_COMPILE_CACHE",
  "PATH",
  "HOME",
  "CUDA_PATH",
  "CUDA_VISIBLE_DEVICES",
  "GGML_VK_VISIBLE_DEVICES",
  "VK_ICD_FILENAMES",
  "XDG_RUNTIME_DIR",
];
/**
 * Disables the telemetry of ONNX Runtime. Without it, ONNX Runtime writes a device id and an event queue into HOME and
 * sends them to its vendor. Source: microsoft/onnxruntime#27379. The other native packages have no telemetry.
 */
const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: "1" };
const ALLOWED_VARIABLES = { plain: new Set(PLAIN_VARIABLES), native: new Set(NATIVE_VARIABLES) };

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the environment of a host process: the allowed variables of `own`, plus `added`. Names are compared
 * case-insensitively, as on Windows.
 * @param code `plain` for a host that imports no native package.
 */
export function hostEnvironment(
  own: Environment,
  added: Readonly<Record<string, string>>,
  code: keyof typeof ALLOWED_VARIABLES = "native",
): Record<string, string> {
  const passed = Object.entries(own).filter(([name]) => ALLOWED_VARIABLES[code].has(name.toUpperCase()));
  const kept = Object.fromEntries(passed.map(([name, value]) => [name, value ?? ""]));
  return { ...kept, ...(code === "native" ? NO_TELEMETRY : {}), ...added };
}
