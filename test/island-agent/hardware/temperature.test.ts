import { describe, expect, it } from "vitest";
import { parseNvidiaUsage } from "../../../island-agent/hardware/nvidia-smi.ts";
import { findTemperatureFiles, readHottest } from "../../../island-agent/hardware/temperature.ts";
import { listerOf, readerOf } from "./fake-probe.ts";

const H = "/sys/class/hwmon";

function hottest(files: Record<string, string>): number | null {
  const map = new Map(Object.entries(files));
  return readHottest(findTemperatureFiles(listerOf(map), readerOf(map)), readerOf(map));
}

describe("the temperature of a machine", () => {
  it("is that of the hottest processor or graphics card, not of a disk", () => {
    const files = {
      [`${H}/hwmon0/name`]: "nvme\n",
      [`${H}/hwmon0/temp1_input`]: "71850\n",
      [`${H}/hwmon1/name`]: "k10temp\n",
      [`${H}/hwmon1/temp1_input`]: "48250\n",
      [`${H}/hwmon1/temp1_max`]: "95000\n",
      [`${H}/hwmon2/name`]: "amdgpu\n",
      [`${H}/hwmon2/temp1_input`]: "53000\n",
      [`${H}/hwmon2/fan1_input`]: "90000\n",
    };
    expect(hottest(files)).toBe(53);
  });

  it.each(["0\n", "-273150\n", "999999\n", "", "warm\n"])("is unknown for the sensor value %j", (text) => {
    expect(hottest({ [`${H}/hwmon0/name`]: "coretemp\n", [`${H}/hwmon0/temp1_input`]: text })).toBeNull();
  });

  it("is unknown without sensors", () => expect(hottest({})).toBeNull());

  it("is read from nvidia-smi, with load and free memory", () => {
    expect(
      parseNvidiaUsage(
        "61, 100, NVIDIA A100, 81920, 1000, 1\n[N/A], [N/A], B, 1, C, [N/A], 5, 1\n5, 101, D, 1, 1, 1\nNo devices\n",
      ),
    ).toMatchObject([
      { name: "NVIDIA A100", freeVramBytes: 1_000 * 2 ** 20, temperatureC: 61, load: 1 },
      { name: "B, 1, C", temperatureC: null, load: null },
      { temperatureC: 5, load: null },
    ]);
  });
});
