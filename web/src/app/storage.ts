/** A setting of this browser that survives a reload. Never a secret: scripts can read it. A browser may refuse storage. */
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
    // Then it holds until the page is closed.
  }
}
