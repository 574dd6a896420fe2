/** Variables that Node's loader and the operating system need. Nothing else is passed on, so no secrets are. */
const PLAIN = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP"];
/** Plus those that native packages and GPU drivers need, and where Node.js keeps compiled code, which a sandbox lets it read at most. */
const NATIVE = [
  ...PLAIN,
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
 * ONNX Runtime writes a device id and a queue of events into HOME and sends it to its vendor unless this is set. Source:
 * microsoft/onnxruntime#27379. The other native packages have no telemetry.
 */
const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: "1" };
const PASSED_ON = { plain: new Set(PLAIN), native: new Set(NATIVE) };

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The whole environment of a host process: the allowed variables of `own`, plus `added`. Names are compared without case, as on Windows.
 * @param code `plain` for a host that imports no native package.
 */
export function hostEnvironment(
  own: Environment,
  added: Readonly<Record<string, string>>,
  code: keyof typeof PASSED_ON = "native",
): Record<string, string> {
  const passed = Object.entries(own).filter(([name]) => PASSED_ON[code].has(name.toUpperCase()));
  const kept = Object.fromEntries(passed.map(([name, value]) => [name, value ?? ""]));
  return { ...kept, ...(code === "native" ? NO_TELEMETRY : {}), ...added };
}
