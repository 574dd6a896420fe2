import { describe, expect, it } from "vitest";
import { isGpuDevice } from "../../../../island-agent/config/gpu-device-name.ts";
import { containerOptions } from "../../../../island-agent/runtimes/container/container-options.ts";
import { GpuDevices } from "../../../../island-agent/runtimes/container/gpu-devices.ts";

/** GPU requests to the engine. */
function requestsOf(gpu: boolean, gpuDevice: string | null): unknown {
  const options = containerOptions({
    name: "a",
    imageId: "sha256:a",
    volumes: [],
    spec: { image: "docker.io/library/busybox:1", digest: null, command: null, gpu, network: false },
    limits: { memoryBytes: 1, cpus: 1, pids: 1 },
    labels: {},
    networkName: "a",
    nameServers: [],
    gpuDevice,
    engineRuntime: null,
  });
  return options.HostConfig.DeviceRequests;
}

describe("gpuRequest()", () => {
  it.each([
    ["all GPUs where the owner lists none", null, { Driver: "", Count: -1, Capabilities: [["gpu"]] }],
    ["one GPU by its index", "1", { Driver: "", DeviceIDs: ["1"], Capabilities: [["gpu"]] }],
    ["a part of a GPU", "MIG-4f2", { Driver: "", DeviceIDs: ["MIG-4f2"], Capabilities: [["gpu"]] }],
    ["a device of CDI", "nvidia.com/gpu=0:1", { Driver: "cdi", DeviceIDs: ["nvidia.com/gpu=0:1"] }],
  ])("requests %s", (_title, device, request) => {
    expect(requestsOf(true, device)).toEqual([request]);
  });

  it("is not called for a Cargo without a granted device", () => {
    expect(requestsOf(false, "0")).toBeUndefined();
  });
});

describe("GpuDevices", () => {
  it("returns the device with the fewest containers, and accepts it back", () => {
    const devices = new GpuDevices(["0", "1", "2"]);
    expect(devices.count).toBe(3);
    expect([devices.take(), devices.take(), devices.take(), devices.take()]).toEqual(["0", "1", "2", "0"]);
    devices.give("2");
    devices.give("1");
    expect([devices.take(), devices.take(), devices.take()]).toEqual(["1", "2", "1"]);
  });

  it("returns all devices, to one job at a time, if none are listed", () => {
    for (const none of [null, []]) {
      const devices = new GpuDevices(none);
      expect([devices.count, devices.take(), devices.take()]).toEqual([1, null, null]);
      devices.give(null);
    }
  });
});

it.each([
  ["0", true],
  ["0:1", true],
  ["GPU-8f6d3f5c-1a2b", true],
  ["MIG-GPU-8f6d/1/0", true],
  ["nvidia.com/gpu=all", true],
  ["amd.com/gpu=0", true],
  ["all", false],
  ["", false],
  ["../dev/sda", false],
  ["/dev/nvidia0", false],
  ["nvidia.com/gpu=", false],
  [`GPU-${"a".repeat(300)}`, false],
])("isGpuDevice() accepts %j: %s", (name, isAllowed) => {
  expect(isGpuDevice(name)).toBe(isAllowed);
});
