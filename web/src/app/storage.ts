/**
 * Reads a setting from the browser's local storage; null if it is missing or storage is blocked. Never store secrets:
 * scripts can read them.
 */
export function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(`atoll.${name}`);
  } catch {
    return null;
  }
}

export function writeSetting(name: string, value: string): void {
  try {
    localStorage.setItem(`atoll.${name}`, value);
  } catch {
    // Storage is blocked: the setting lasts until the page is closed.
  }
}
