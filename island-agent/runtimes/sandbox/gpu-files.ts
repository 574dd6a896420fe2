import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Devices of GPU drivers. Source: nvidia-modprobe, the kernel's drm and kfd, WSL's dxgkrnl. */
const DEVICES = /^(dri|kfd|dxg|nvidia\d+|nvidiactl|nvidia-uvm|nvidia-uvm-tools|nvidia-modeset)$/;
/** What drivers read to find and describe the devices. */
const FILES = [
  "/sys/dev/char",
  "/sys/devices",
  "/sys/class/drm",
  "/sys/class/kfd",
  "/sys/bus/pci",
  "/sys/module/nvidia",
  "/etc/vulkan",
  "/etc/OpenCL",
  "/etc/nvidia",
  "/usr/share/vulkan",
  "/usr/share/glvnd",
  "/usr/share/nvidia",
  "/opt/rocm",
];

/** The GPU devices of this machine. */
export function gpuDevices(): string[] {
  return namesIn("/dev")
    .filter((name) => DEVICES.test(name))
    .map((name) => join("/dev", name));
}

/** Files and libraries that their drivers need. */
export function gpuFiles(): string[] {
  const cuda = namesIn("/usr/local").filter((name) => name.startsWith("cuda"));
  return [...FILES, ...cuda.map((name) => join("/usr/local", name))].filter((path) => existsSync(path));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
