import type Docker from "dockerode";
import { isCdiDevice } from "../../config/gpu-device-name.ts";

/** Returns the engine's device request: one device, or all if the owner lists none. */
export function gpuRequest(device: string | null): Docker.DeviceRequest {
  if (device === null) return { Driver: "", Count: -1, Capabilities: [["gpu"]] };
  if (isCdiDevice(device)) return { Driver: "cdi", DeviceIDs: [device] };
  return { Driver: "", DeviceIDs: [device], Capabilities: [["gpu"]] };
}

/** Devices that an owner shares among all Cargos. Each container gets the device with the fewest users. */
export class GpuDevices {
  /** Number of users by device. If null, all GPUs go to one job of a Cargo at a time. */
  readonly #users: Map<string, number> | null;

  constructor(names: readonly string[] | null) {
    this.#users = names === null ? null : new Map(names.map((name) => [name, 0]));
  }

  /** Number of a Cargo's jobs that can have a separate device at the same time, at least 1. */
  get count(): number {
    return Math.max(1, this.#users?.size ?? 1);
  }

  /** Takes a device for a container; null stands for all devices. Return it with `give`. */
  take(): string | null {
    const users = this.#users;
    if (users === null || users.size === 0) return null;
    const [[name, count]] = [...users].sort(([, a], [, b]) => a - b) as [[string, number]];
    users.set(name, count + 1);
    return name;
  }

  give(name: string | null): void {
    if (name !== null) this.#users?.set(name, Math.max(0, (this.#users.get(name) ?? 0) - 1));
  }
}
