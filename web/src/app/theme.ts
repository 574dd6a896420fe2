import { signal } from "@preact/signals";
import { readSetting, writeSetting } from "./storage.ts";

export type Theme = "system" | "light" | "dark";
const isTheme = (value: string | null): value is Theme => value === "system" || value === "light" || value === "dark";

const stored = readSetting("theme");
export const theme = signal<Theme>(isTheme(stored) ? stored : "system");

/** Applies and stores the theme. The style sheet reads `data-theme`; without it the system's setting applies. */
export function applyTheme(next: Theme): void {
  theme.value = next;
  if (next === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = next;
  writeSetting("theme", next);
}
