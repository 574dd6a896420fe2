import type Docker from "dockerode";
import { isCdiDevice } from "../../config/gpu-device-name.ts";

/** What the engine is asked for: one device, or all where the owner lists none. */
export function gpuRequest(device: string | null): Docker.DeviceRequest {
  if (device === null) return { Driver: "", Count: -1, Capabilities: [["gpu"]] };
  if (isCdiDevice(device)) return { Driver: "cdi", DeviceIDs: [device] };
  return { Driver: "", DeviceIDs: [device], Capabilities: [["gpu"]] };
}

/** The devices that an owner shares. Each container gets the one that the fewest use; all Cargos share them. */
export class GpuDevices {
  /** Null: all GPUs, to one job of a Cargo at a time. */
  readonly #users: Map<string, number> | null;

  constructor(names: readonly string[] | null) {
    this.#users = names === null ? null : new Map(names.map((name) => [name, 0]));
  }

  /** Jobs of a Cargo that have a device of their own at once, at least 1. */
  get count(): number {
    return Math.max(1, this.#users?.size ?? 1);
  }

  /** A device for a container; null: all of them. Given back with `give`. */
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
