import type { ReadText } from "./amd-sysfs.ts";

const HWMON = "/sys/class/hwmon";
/** Drivers of sensors in processors and graphics cards. Others measure disks, batteries, rooms. */
const DRIVERS: ReadonlySet<string> = new Set(["coretemp", "k10temp", "zenpower", "cpu_thermal", "amdgpu"]);
/** Maximum number of sensors read per driver. */
const MAX_SENSORS = 32;

/** Finds the temperature files of processors and graphics cards in Linux's hwmon. */
export function findTemperatureFiles(listDirectory: (path: string) => readonly string[], readText: ReadText): string[] {
  return listDirectory(HWMON).flatMap((device) => {
    const folder = `${HWMON}/${device}`;
    if (!DRIVERS.has(readText(`${folder}/name`)?.trim() ?? "")) return [];
    const inputs = listDirectory(folder).filter((name) => /^temp\d+_input$/.test(name));
    return inputs.slice(0, MAX_SENSORS).map((name) => `${folder}/${name}`);
  });
}

/** Returns the highest temperature of the files in °C; null if none has a value. */
export function readHottest(files: readonly string[], readText: ReadText): number | null {
  return highestOf(files.map((file) => parseMillidegrees(readText(file))));
}

/** Returns the highest known value. */
export function highestOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((each) => each !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/** Parses thousandths of a degree, as the kernel writes them. A broken sensor reports 0, or far too much. */
function parseMillidegrees(text: string | null): number | null {
  const value = /^\d{1,6}$/.test(text?.trim() ?? "") ? Math.round(Number(text) / 1_000) : 0;
  return value > 0 && value < 150 ? value : null;
}
